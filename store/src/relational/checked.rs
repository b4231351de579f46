//! What a file is looked through for when it is opened: rows that do not fit their seals, and rows that are not there or
//! too many. Texts are compared when they are read. Every store of rows is counted before a run is taken up.

use interrupts::store::StoreError;

use super::cell::Cell;
use super::column::{count, each};
use super::database::Database;
use super::heads;
use super::sealed::{COUNTED, OUTBOX, Sealed};
use crate::tables::{Heads, damaged as damage};

const ENDS_OF_OUTBOX: &str =
    "SELECT COALESCE(MIN(position), 0), COALESCE(MAX(position), 0) FROM outbox";
const ENDS_OF_AUDIT: &str =
    "SELECT COALESCE(MIN(position), 0), COALESCE(MAX(position), 0) FROM audit";

/// How many are reported at most.
pub(super) const MOST_TOLD: usize = 10;

/// How closely rows are looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Look {
    /// The columns of each are compared with its seal.
    Seals,
    /// They are counted.
    Counts,
}

/// What does not fit, in words.
pub(crate) fn misfits(database: &mut dyn Database) -> Result<Vec<String>, StoreError> {
    at_one_time(database, Look::Seals)
}

/// Checks that no row is missing, and none too many.
///
/// # Errors
///
/// [`StoreError::Corrupt`] with what is missing.
pub(super) fn count_rows(database: &mut dyn Database) -> Result<(), StoreError> {
    let found = at_one_time(database, Look::Counts)?;
    match found.is_empty() {
        true => Ok(()),
        false => Err(damage(&found.join("; "))),
    }
}

/// All is read as it was at one time.
fn at_one_time(database: &mut dyn Database, look: Look) -> Result<Vec<String>, StoreError> {
    database.begin_snapshot()?;
    let found = misfits_now(database, look);
    database.end_snapshot()?;
    found
}

fn misfits_now(database: &mut dyn Database, look: Look) -> Result<Vec<String>, StoreError> {
    let mut found = Vec::new();
    let heads = each(database, heads::SQL, &[Cell::Number(1)], |row| {
        Ok(heads::newest(row)?.0)
    });
    let heads = match heads {
        Ok(heads) => heads.into_iter().next().unwrap_or_default(),
        Err(StoreError::DamagedRow { row }) => {
            found.push(damaged(&row));
            Heads::default()
        }
        Err(error) => return Err(error),
    };
    let known = heads.kept.as_ref().map(|kept| kept.rows.as_slice());
    let mut unsealed = 0;
    for (place, table) in COUNTED.into_iter().enumerate() {
        let (rows, without) = rows_of(database, table, look, &mut found)?;
        unsealed += without;
        let expected = known.and_then(|rows| rows.get(place)).copied();
        if let Some(expected) = expected.filter(|expected| *expected != rows) {
            found.push(format!(
                "{} has {rows} rows where {expected} were written",
                table.table
            ));
        }
    }
    if let Some(kept) = &heads.kept
        && unsealed > kept.unsealed
    {
        found.push(format!(
            "{unsealed} rows have no seal, and {} had none",
            kept.unsealed
        ));
    }
    let (rows, _older) = rows_of(database, &OUTBOX, look, &mut found)?;
    list(
        database,
        ("outbox", ENDS_OF_OUTBOX),
        (rows, heads.outbox),
        None,
        &mut found,
    )?;
    let rows = counted(database, "SELECT COUNT(*) FROM audit")?;
    let after = Some(heads.audit_anchor.position);
    list(
        database,
        ("audit", ENDS_OF_AUDIT),
        (rows, heads.audit.position),
        after,
        &mut found,
    )?;
    Ok(found)
}

/// That a row does not fit, as a part of a sentence.
pub(super) fn damaged(row: &str) -> String {
    format!("{row} is not what was written")
}

/// How many rows a table has, and how many of them have no seal where seals are looked at.
fn rows_of(
    database: &mut dyn Database,
    table: &Sealed,
    look: Look,
    found: &mut Vec<String>,
) -> Result<(u64, u64), StoreError> {
    match look {
        Look::Seals => columns(database, table, found),
        Look::Counts => Ok((counted(database, table.rows)?, 0)),
    }
}

fn counted(database: &mut dyn Database, sql: &'static str) -> Result<u64, StoreError> {
    let counts = each(database, sql, &[], |row| count(row, 0))?;
    Ok(counts.first().copied().unwrap_or(0))
}

/// Compares the columns of every row with the seal. Says how many rows there are, and how many have no seal.
fn columns(
    database: &mut dyn Database,
    table: &Sealed,
    found: &mut Vec<String>,
) -> Result<(u64, u64), StoreError> {
    let (mut rows, mut unsealed) = (0, 0);
    each(database, table.checked, &[], |row| {
        rows += 1;
        match table.columns(row, table.seal_of_checked()) {
            Ok(has_seal) => {
                unsealed += u64::from(!has_seal);
                Ok(())
            }
            Err(StoreError::DamagedRow { row }) => {
                if found.len() < MOST_TOLD {
                    found.push(damaged(&row));
                }
                Ok(())
            }
            Err(error) => Err(error),
        }
    })?;
    Ok((rows, unsealed))
}

/// Checks that a list has no gaps, and ends where it should. It begins after a place, where that is known.
fn list(
    database: &mut dyn Database,
    (table, sql): (&str, &'static str),
    (rows, last): (u64, u64),
    after: Option<u64>,
    found: &mut Vec<String>,
) -> Result<(), StoreError> {
    let ends = each(database, sql, &[], |row| {
        Ok((count(row, 0)?, count(row, 1)?))
    })?;
    let (first, end) = ends.first().copied().unwrap_or_default();
    let begins = after.is_none_or(|after| rows == 0 || first == after + 1);
    let is_whole = match rows {
        // All of it may have been purged.
        0 => after.is_none_or(|after| after == last),
        rows => end == last && end + 1 - first == rows && begins,
    };
    if !is_whole {
        found.push(format!("{table} lacks rows: it has {rows} up to row {end}"));
    }
    Ok(())
}
