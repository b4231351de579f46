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
    /// All rows.
    pub(super) all: &'static str,
    /// The row of a key.
    pub(super) by_key: &'static str,
    /// All columns, as [`Sealed::write`] takes them.
    #[cfg(feature = "postgres")]
    pub(super) copied: &'static str,
    /// Writes a row, over the one that it was before.
    pub(super) write: &'static str,
    /// Removes all rows.
    #[cfg(feature = "postgres")]
    pub(super) clear: &'static str,
}

/// What comes after the covered columns of a table, by what its rows end with.
macro_rules! end {
    // A text, which the seal is about. Rows change.
    (selects body) => {
        ", body, seal"
    };
    (columns body) => {
        ", body, seal"
    };
    (values body) => {
        ", ?, ?"
    };
    // A text, and a row that never changes.
    (selects told) => {
        ", body, seal"
    };
    (columns told) => {
        ", body, seal"
    };
    (values told) => {
        ", ?, ?"
    };
    // Nothing: the covered columns say all.
    (selects columns) => {
        ", '', seal"
    };
    (columns columns) => {
        ", seal"
    };
    (values columns) => {
        ", ?"
    };
    // A content whose digest is among the columns; whether it has it is asked where it is read.
    (selects content) => {
        ", '', seal, content"
    };
    (columns content) => {
        ", seal, content"
    };
    (values content) => {
        ", ?, ?"
    };
}

/// What is written over a row that is there.
macro_rules! over {
    (body, $first:literal, $($changing:literal),*) => {
        concat!(
            " ON CONFLICT (", $first, ") DO UPDATE SET ",
            $($changing, " = excluded.", $changing, ", ",)*
            "body = excluded.body, seal = excluded.seal"
        )
    };
    ($other:ident, $first:literal, $($changing:literal),*) => { "" };
}

macro_rules! value {
    ($column:literal) => {
        ", ?"
    };
}

/// Each table once: what a row is in words, which covered column names it, by which one it is found, the covered columns
/// that stay as they are, those that change, and what comes after them.
macro_rules! tables {
    ($($name:ident $table:ident $what:literal, named by $named:literal, found by $key:literal,
        [$first:literal $(, $fixed:literal)*], [$($changing:literal),*], $end:ident;)*) => {
        $(pub(crate) const $name: Sealed = Sealed {
            table: stringify!($table),
            what: $what,
            covered: [$first $(, $fixed)* $(, $changing)*].len(),
            name: $named,
            checked: concat!(
                "SELECT ", $first $(, ", ", $fixed)* $(, ", ", $changing)*, ", seal FROM ", stringify!($table)
            ),
            counted: concat!("SELECT COUNT(*), COUNT(*) - COUNT(seal) FROM ", stringify!($table)),
            all: concat!("SELECT ", columns!($table), " FROM ", stringify!($table)),
            by_key: concat!(
                "SELECT ", columns!($table), " FROM ", stringify!($table), " WHERE ", $key, " = ?"
            ),
            #[cfg(feature = "postgres")]
            copied: concat!(
                "SELECT ", $first $(, ", ", $fixed)* $(, ", ", $changing)*, end!(columns $end),
                " FROM ", stringify!($table)
            ),
            write: concat!(
                "INSERT INTO ", stringify!($table),
                " (", $first $(, ", ", $fixed)* $(, ", ", $changing)*, end!(columns $end),
                ") VALUES (?" $(, value!($fixed))* $(, value!($changing))*, end!(values $end), ")",
                over!($end, $first, $($changing),*)
            ),
            #[cfg(feature = "postgres")]
            clear: concat!("DELETE FROM ", stringify!($table)),
        };)*

        /// The columns of a table as every statement selects them: those that the check covers, the text, and the seal.
        macro_rules! columns {
            $(($table) => {
                concat!($first $(, ", ", $fixed)* $(, ", ", $changing)*, $crate::relational::sealed::end!(selects $end))
            };)*
        }
        pub(crate) use columns;
    };
}

tables! {
    INTERRUPTS interrupts "interrupt", named by 1, found by "id",
        ["position", "id", "key", "digest", "run", "node"], ["state", "live", "deadline"], body;
    JOINED joined "the joined key", named by 0, found by "key",
        ["key", "interrupt", "digest", "run"], [], columns;
    REROUTES reroutes "the reroute of event", named by 0, found by "event",
        ["event", "run"], ["pending", "expires_at"], body;
    SLOTS slots "the note of", named by 0, found by "id", ["id", "run"], [], body;
    RUNS runs "run", named by 1, found by "id", ["position", "id", "alias"], ["state"], body;
    NODES nodes "the agent", named by 1, found by "id", ["position", "id", "run"], [], body;
    MESSAGES messages "message", named by 0, found by "key", ["position", "key", "run"], [], body;
    JOURNAL journal "journal entry", named by 0, found by "effect",
        ["position", "effect", "run"], ["done"], body;
    CHECKPOINTS checkpoints "checkpoint", named by 0, found by "id",
        ["id", "run", "number", "parent", "form", "digest", "pending", "at", "journal"], [], content;
    TOKENS tokens "token", named by 0, found by "digest", ["position", "digest"], [], body;
    RULES rules "rule", named by 1, found by "id",
        ["position", "id", "matter", "run"], ["live", "expires_at"], body;
    CATALOGUES catalogues "catalogue", named by 1, found by "digest",
        ["position", "digest", "name", "version"], [], content;
    OUTBOX outbox "event", named by 0, found by "position", ["position", "at", "heads"], [], told;
}
pub(crate) use end;

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
        cells: &[Cell<'_>],
        body: &str,
    ) -> Result<Digest, StoreError> {
        let (digest, seal) = self.seal(cells, body);
        let last = [Cell::Text(body), Cell::Bytes(&seal)];
        let values: Vec<_> = cells.iter().map(Cell::borrowed).chain(last).collect();
        database.write(self.write, &values)?;
        Ok(digest)
    }

    /// Writes a row that has no text but that in its columns. The last values are not sealed.
    pub(super) fn write_columns(
        &self,
        database: &mut dyn Database,
        cells: &[Cell<'_>],
        beside: Option<&str>,
    ) -> Result<Digest, StoreError> {
        let (_digest, seal) = self.seal(cells, "");
        let values = cells.iter().map(Cell::borrowed);
        let values = values.chain([Cell::Bytes(&seal)]);
        let values: Vec<_> = values.chain(beside.map(Cell::Text)).collect();
        database.write(self.write, &values)?;
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
