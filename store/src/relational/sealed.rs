//! Rows with a seal: a digest of their text, and a check of all their columns with it. A row that was changed by
//! anything but this program does not fit its seal, unless the seal was changed with it; that is for the audit to find.

use interrupts::Digest;
use interrupts::store::StoreError;

use super::cell::{Cell, ColumnValue, Columns};
use super::column::text;
use super::database::Database;
use crate::tables::damaged;

/// How long the check of the columns is.
const CHECK: usize = 8;
/// How long a digest is.
const DIGEST: usize = 32;

/// A table whose rows have seals.
#[derive(Debug)]
pub(crate) struct Sealed {
    /// Its name in the schema.
    pub(crate) table: &'static str,
    /// What one of its rows is, in words.
    what: &'static str,
    /// How many columns the check covers.
    covered: usize,
    /// Which of them names the row.
    name: usize,
    /// The covered columns and the seal.
    pub(super) checked: &'static str,
    /// How many rows there are, and how many have no seal.
    pub(super) counted: &'static str,
    /// How many rows there are.
    pub(super) rows: &'static str,
}

/// The columns of a table as every statement selects them: those that the check covers, the text, and the seal.
macro_rules! columns {
    (interrupts) => {
        "position, id, key, digest, run, node, state, live, deadline, body, seal"
    };
    (joined) => {
        "key, interrupt, digest, run, '', seal"
    };
    (reroutes) => {
        "event, run, pending, expires_at, body, seal"
    };
    (slots) => {
        "id, run, body, seal"
    };
    (runs) => {
        "position, id, alias, state, body, seal"
    };
    (nodes) => {
        "position, id, run, body, seal"
    };
    (messages) => {
        "position, key, run, body, seal"
    };
    (journal) => {
        "position, effect, run, done, body, seal"
    };
    (tokens) => {
        "position, digest, body, seal"
    };
    (rules) => {
        "position, id, matter, run, live, expires_at, body, seal"
    };
    // The digest of the content is among the columns; whether the content has it is asked where it is needed.
    (checkpoints) => {
        "id, run, number, parent, form, digest, pending, at, journal, '', seal, content"
    };
    // Whether the content has the digest is asked where it is read.
    (catalogues) => {
        "position, digest, name, version, '', seal, content"
    };
    (outbox) => {
        "position, at, heads, body, seal"
    };
}
pub(super) use columns;

macro_rules! table {
    ($name:ident, $table:literal, $what:literal, $covered:literal, named by $named:literal, $checked:literal) => {
        pub(super) const $name: Sealed = Sealed {
            table: $table,
            what: $what,
            covered: $covered,
            name: $named,
            checked: concat!("SELECT ", $checked, ", seal FROM ", $table),
            counted: concat!("SELECT COUNT(*), COUNT(*) - COUNT(seal) FROM ", $table),
            rows: concat!("SELECT COUNT(*) FROM ", $table),
        };
    };
}

table!(INTERRUPTS, "interrupts", "interrupt", 9, named by 1,
    "position, id, key, digest, run, node, state, live, deadline");
table!(JOINED, "joined", "the joined key", 4, named by 0, "key, interrupt, digest, run");
table!(REROUTES, "reroutes", "the reroute of event", 4, named by 0, "event, run, pending, expires_at");
table!(SLOTS, "slots", "the note of", 2, named by 0, "id, run");
table!(RUNS, "runs", "run", 4, named by 1, "position, id, alias, state");
table!(NODES, "nodes", "the agent", 3, named by 1, "position, id, run");
table!(MESSAGES, "messages", "message", 3, named by 0, "position, key, run");
table!(JOURNAL, "journal", "journal entry", 4, named by 0, "position, effect, run, done");
table!(CHECKPOINTS, "checkpoints", "checkpoint", 9, named by 0,
    "id, run, number, parent, form, digest, pending, at, journal");
table!(TOKENS, "tokens", "token", 2, named by 0, "position, digest");
table!(RULES, "rules", "rule", 6, named by 1, "position, id, matter, run, live, expires_at");
table!(CATALOGUES, "catalogues", "catalogue", 4, named by 1, "position, digest, name, version");
table!(OUTBOX, "outbox", "event", 3, named by 0, "position, at, heads");

/// The tables whose rows are counted, in the order of their counts.
pub(crate) const COUNTED: [&Sealed; 12] = [
    &INTERRUPTS,
    &JOINED,
    &REROUTES,
    &SLOTS,
    &RUNS,
    &NODES,
    &MESSAGES,
    &JOURNAL,
    &CHECKPOINTS,
    &TOKENS,
    &RULES,
    &CATALOGUES,
];

impl Sealed {
    /// Writes a row with its text and its seal, and says what the digest of the text is.
    pub(super) fn write(
        &self,
        database: &mut dyn Database,
        sql: &'static str,
        cells: &[Cell<'_>],
        body: &str,
    ) -> Result<Digest, StoreError> {
        let (digest, seal) = self.seal(cells, body);
        let last = [Cell::Text(body), Cell::Bytes(&seal)];
        let values: Vec<_> = cells.iter().map(Cell::borrowed).chain(last).collect();
        database.write(sql, &values)?;
        Ok(digest)
    }

    /// Writes a row that has no text but that in its columns. The last values are not sealed.
    pub(super) fn write_columns(
        &self,
        database: &mut dyn Database,
        sql: &'static str,
        cells: &[Cell<'_>],
        beside: Option<&str>,
    ) -> Result<Digest, StoreError> {
        let (_digest, seal) = self.seal(cells, "");
        let values = cells.iter().map(Cell::borrowed);
        let values = values.chain([Cell::Bytes(&seal)]);
        let values: Vec<_> = values.chain(beside.map(Cell::Text)).collect();
        database.write(sql, &values)?;
        Ok(Digest::of(&self.covered(cells.iter().map(Cell::value))))
    }

    fn seal(&self, cells: &[Cell<'_>], body: &str) -> (Digest, [u8; DIGEST + CHECK]) {
        let digest = Digest::of(body.as_bytes());
        let check = self.check(cells.iter().map(Cell::value), digest.bytes());
        let mut seal = [0; DIGEST + CHECK];
        seal[..DIGEST].copy_from_slice(digest.bytes());
        seal[DIGEST..].copy_from_slice(&check);
        (digest, seal)
    }

    /// The bytes of the covered columns, none running into the next.
    fn covered<'row>(&self, cells: impl Iterator<Item = ColumnValue<'row>>) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(512);
        bytes.extend_from_slice(self.table.as_bytes());
        for cell in cells {
            match cell {
                ColumnValue::Nothing => bytes.push(0),
                ColumnValue::Number(number) => {
                    bytes.push(1);
                    bytes.extend_from_slice(&number.to_be_bytes());
                }
                ColumnValue::Fraction(number) => {
                    bytes.push(2);
                    bytes.extend_from_slice(&number.to_be_bytes());
                }
                ColumnValue::Text(text) | ColumnValue::Bytes(text) => {
                    bytes.push(3);
                    bytes.extend_from_slice(&(text.len() as u64).to_be_bytes());
                    bytes.extend_from_slice(text);
                }
            }
        }
        bytes
    }

    fn check<'row>(
        &self,
        cells: impl Iterator<Item = ColumnValue<'row>>,
        digest: &[u8],
    ) -> [u8; CHECK] {
        let mut bytes = self.covered(cells);
        bytes.extend_from_slice(digest);
        let mut check = [0; CHECK];
        check.copy_from_slice(&Digest::of(&bytes).bytes()[..CHECK]);
        check
    }

    /// The text of a row as [`columns`] selects it, which fits the seal. Rows of older versions have none.
    ///
    /// # Errors
    ///
    /// [`StoreError::DamagedRow`] where it does not fit.
    pub(super) fn body<'row>(&self, row: &'row dyn Columns) -> Result<&'row str, StoreError> {
        self.columns(row, self.covered + 1)?;
        let body = text(row, self.covered).map_err(|_damaged| self.misfit(row))?;
        match sealed(row, self.covered + 1)? {
            Some(seal) if seal[..DIGEST] != *Digest::of(body.as_bytes()).bytes() => {
                Err(self.misfit(row))
            }
            Some(_) | None => Ok(body),
        }
    }

    /// Checks the columns that come before the seal, without the text. Says whether there is a seal.
    ///
    /// # Errors
    ///
    /// [`StoreError::DamagedRow`] where they do not fit.
    pub(super) fn columns(&self, row: &dyn Columns, seal: usize) -> Result<bool, StoreError> {
        let Some(seal) = sealed(row, seal).map_err(|_damaged| self.misfit(row))? else {
            return Ok(false);
        };
        let mut cells = Vec::with_capacity(self.covered);
        for column in 0..self.covered {
            cells.push(row.value(column)?);
        }
        match self.check(cells.into_iter(), &seal[..DIGEST]) == seal[DIGEST..] {
            true => Ok(true),
            false => Err(self.misfit(row)),
        }
    }

    /// The digest of the columns of a row that has no text of its own.
    pub(super) fn digest_of_columns(&self, row: &dyn Columns) -> Result<Digest, StoreError> {
        let mut cells = Vec::with_capacity(self.covered);
        for column in 0..self.covered {
            cells.push(row.value(column)?);
        }
        Ok(Digest::of(&self.covered(cells.into_iter())))
    }

    /// Which column has the seal where [`Sealed::checked`] selects it.
    pub(super) const fn seal_of_checked(&self) -> usize {
        self.covered
    }

    /// A row in words.
    fn named(&self, name: &dyn std::fmt::Display) -> String {
        format!("{} {name}", self.what)
    }

    fn misfit(&self, row: &dyn Columns) -> StoreError {
        let name = match row.value(self.name) {
            Ok(ColumnValue::Number(number)) => number.to_string(),
            Ok(ColumnValue::Text(text)) => String::from_utf8_lossy(text).into_owned(),
            Ok(ColumnValue::Nothing | ColumnValue::Fraction(_) | ColumnValue::Bytes(_))
            | Err(_) => "?".to_owned(),
        };
        // Ids say themselves what they name.
        let is_said = name.starts_with("run_") || name.starts_with("int_");
        StoreError::DamagedRow {
            row: match is_said && !name.contains(' ') {
                true => name,
                false => self.named(&name),
            },
        }
    }
}

/// The seal in a column.
fn sealed(row: &dyn Columns, column: usize) -> Result<Option<&[u8; DIGEST + CHECK]>, StoreError> {
    match row.value(column)? {
        ColumnValue::Nothing => Ok(None),
        ColumnValue::Bytes(seal) => match seal.try_into() {
            Ok(seal) => Ok(Some(seal)),
            Err(_length) => Err(damaged(&"a row has a seal of another length")),
        },
        ColumnValue::Number(_) | ColumnValue::Fraction(_) | ColumnValue::Text(_) => {
            Err(damaged(&"a row has something else than a seal"))
        }
    }
}
