//! Removing what is forgotten. Of a journal digests stay: rows of the audit vouch for parts of the journal of several runs.

use interrupt_router::RunId;
use interrupts::Digest;
use interrupts::store::{AuditEntry, JournalEntry, JournalPosition, StoreError};

use super::binding::RowChanges;
use super::cell::Cell;
use super::column::{each, read_json, text};
use super::database::Database;
use super::sealed::{self, Sealed};
use crate::tables::Forgotten;

/// Each removes what belongs to one run.
const OF_RUN: [(&Sealed, &str); 10] = [
    (&sealed::INTERRUPTS, "DELETE FROM interrupts WHERE run = ?"),
    (&sealed::JOINED, "DELETE FROM joined WHERE run = ?"),
    (&sealed::REROUTES, "DELETE FROM reroutes WHERE run = ?"),
    (&sealed::SLOTS, "DELETE FROM slots WHERE run = ?"),
    (&sealed::NODES, "DELETE FROM nodes WHERE run = ?"),
    (&sealed::MESSAGES, "DELETE FROM messages WHERE run = ?"),
    (&sealed::JOURNAL, "DELETE FROM journal WHERE run = ?"),
    (
        &sealed::CHECKPOINTS,
        "DELETE FROM checkpoints WHERE run = ?",
    ),
    (&sealed::RULES, "DELETE FROM rules WHERE run = ?"),
    (&sealed::RUNS, "DELETE FROM runs WHERE id = ?"),
];

pub(super) fn forgotten(
    database: &mut dyn Database,
    forgotten: &Forgotten,
    said: &mut RowChanges,
) -> Result<(), StoreError> {
    for run in &forgotten.runs {
        keep_digests(database, *run)?;
        for (table, sql) in OF_RUN {
            let rows = database.execute(sql, &[Cell::made(run)])?;
            said.gone(table, rows);
        }
    }
    if forgotten.audit > 0 {
        forget_digests(database, forgotten.audit)?;
    }
    for (sql, through) in [
        ("DELETE FROM outbox WHERE position <= ?", forgotten.outbox),
        ("DELETE FROM audit WHERE position <= ?", forgotten.audit),
    ] {
        if through > 0 {
            database.execute(sql, &[Cell::position(through)?])?;
        }
    }
    if let Some(now) = forgotten.workers {
        let sql = "DELETE FROM workers WHERE until <= ?";
        database.execute(sql, &[Cell::Number(now.as_microsecond())])?;
    }
    Ok(())
}

/// Whether a digest is of an intent or of a result.
pub(super) const INTENT: i64 = 0;
pub(super) const RESULT: i64 = 1;

fn keep_digests(database: &mut dyn Database, run: RunId) -> Result<(), StoreError> {
    let sql = "SELECT body FROM journal WHERE run = ? ORDER BY position";
    let entries: Vec<JournalEntry> = each(database, sql, &[Cell::made(&run)], |row| {
        read_json("the journal", text(row, 0)?)
    })?;
    for entry in entries {
        keep_digest(database, INTENT, entry.position, entry.intent_digest())?;
        if let Some(result) = &entry.result {
            let digest = result.digest(entry.intent.effect);
            keep_digest(database, RESULT, result.count, digest)?;
        }
    }
    Ok(())
}

fn keep_digest(
    database: &mut dyn Database,
    of: i64,
    place: u64,
    digest: Digest,
) -> Result<(), StoreError> {
    let sql = "INSERT INTO purged (result, place, digest) VALUES (?, ?, ?) ON CONFLICT DO NOTHING";
    let place = Cell::position(place)?;
    database.write(sql, &[Cell::Number(of), place, Cell::Bytes(digest.bytes())])
}

/// Forgets the digests that no row of the audit needs after it is cut off.
fn forget_digests(database: &mut dyn Database, through: u64) -> Result<(), StoreError> {
    let sql = "SELECT entry FROM audit WHERE position <= ? AND entry LIKE '%\"journal\":{%' \
         ORDER BY position DESC LIMIT 1";
    let last = each(database, sql, &[Cell::position(through)?], |row| {
        read_json::<AuditEntry>("the audit", text(row, 0)?)
    })?;
    let Some(mark) = last.into_iter().find_map(|entry| entry.journal) else {
        return Ok(());
    };
    let JournalPosition { intents, results } = mark.through;
    let sql = "DELETE FROM purged WHERE result = ? AND place <= ?";
    for (of, place) in [(INTENT, intents), (RESULT, results)] {
        database.execute(sql, &[Cell::Number(of), Cell::position(place)?])?;
    }
    Ok(())
}
