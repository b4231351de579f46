//! What a file is looked through for when it is opened: rows that do not fit their seals, and rows that are not there or
//! too many. Texts are compared when they are read. The rows of every store are counted before a run is taken up.

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

/// Checks that no row is missing, and none too many.
///
/// # Errors
///
/// [`StoreError::Corrupt`] with what is missing.
pub(crate) fn count_rows(database: &mut dyn Database) -> Result<(), StoreError> {
    let mut found = Vec::new();
    database.each(heads::WITH_COUNTS, &[Cell::Number(1)], &mut |row| {
        let heads = heads::newest(row)?.0;
        let counted = |place| count(row, heads::FIRST_COUNT + place);
        for (place, table) in COUNTED.into_iter().enumerate() {
            compare(table, place, counted(place)?, &heads, &mut found);
        }
        let after = Some(heads.audit_anchor.position);
        let (outbox, audit) = (COUNTED.len(), COUNTED.len() + 3);
        for (table, at, last, after) in [
            ("outbox", outbox, heads.outbox, None),
            ("audit", audit, heads.audit.position, after),
        ] {
            let (rows, ends) = (counted(at)?, (counted(at + 1)?, counted(at + 2)?));
            compare_list(table, (rows, last), ends, after, &mut found);
        }
        Ok(())
    })?;
    match found.is_empty() {
        true => Ok(()),
        false => Err(damage(&found.join("; "))),
    }
}

/// Compares how many rows a table has with how many were written, as far as that is known.
fn compare(table: &Sealed, place: usize, rows: u64, heads: &Heads, found: &mut Vec<String>) {
    let known = heads.kept.as_ref().and_then(|kept| kept.rows.get(place));
    if let Some(expected) = known.filter(|expected| **expected != rows) {
        found.push(format!(
            "{} has {rows} rows where {expected} were written",
            table.table
        ));
    }
}

/// What does not fit, in words.
pub(crate) fn misfits(database: &mut dyn Database) -> Result<Vec<String>, StoreError> {
    // All is read as it was at one time.
    database.begin_snapshot()?;
    let found = misfits_now(database);
    database.end_snapshot()?;
    found
}

fn misfits_now(database: &mut dyn Database) -> Result<Vec<String>, StoreError> {
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
    let mut unsealed = 0;
    for (place, table) in COUNTED.into_iter().enumerate() {
        let (rows, without) = columns(database, table, &mut found)?;
        unsealed += without;
        compare(table, place, rows, &heads, &mut found);
    }
    if let Some(kept) = &heads.kept
        && unsealed > kept.unsealed
    {
        found.push(format!(
            "{unsealed} rows have no seal, and {} had none",
            kept.unsealed
        ));
    }
    let (rows, _older) = columns(database, &OUTBOX, &mut found)?;
    list(
        database,
        ("outbox", ENDS_OF_OUTBOX),
        (rows, heads.outbox),
        None,
        &mut found,
    )?;
    let audit = each(database, "SELECT COUNT(*) FROM audit", &[], |row| {
        count(row, 0)
    })?;
    let rows = audit.first().copied().unwrap_or(0);
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

/// Reads where a list begins and ends, and compares it.
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
    let ends = ends.first().copied().unwrap_or_default();
    compare_list(table, (rows, last), ends, after, found);
    Ok(())
}

/// Checks that a list has no gaps, and ends where it should. It begins after a place, where that is known.
fn compare_list(
    table: &str,
    (rows, last): (u64, u64),
    (first, end): (u64, u64),
    after: Option<u64>,
    found: &mut Vec<String>,
) {
    let begins = after.is_none_or(|after| rows == 0 || first == after + 1);
    let is_whole = match rows {
        // All of it may have been purged.
        0 => after.is_none_or(|after| after == last),
        rows => end == last && end + 1 - first == rows && begins,
    };
    if !is_whole {
        found.push(format!("{table} lacks rows: it has {rows} up to row {end}"));
    }
}
