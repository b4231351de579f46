//! Removing what is forgotten. Of a journal digests stay: rows of the audit vouch for parts of the journal of several runs.

use interrupts::Digest;
use interrupts::store::{AuditEntry, JournalEntry, JournalPlace, StoreError};
use routing_core::RunId;
use rusqlite::Connection;

use super::binding::RowChanges;
use super::column::{each, position, read_json, text};
use super::error::store_error;
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
    connection: &Connection,
    forgotten: &Forgotten,
    said: &mut RowChanges,
) -> Result<(), StoreError> {
    for run in &forgotten.runs {
        keep_digests(connection, *run)?;
        for (table, sql) in OF_RUN {
            let mut statement = connection.prepare_cached(sql).map_err(store_error)?;
            let rows = statement.execute((run.to_string(),)).map_err(store_error)?;
            said.gone(table, rows);
        }
    }
    if forgotten.audit > 0 {
        forget_digests(connection, forgotten.audit)?;
    }
    for (sql, through) in [
        ("DELETE FROM outbox WHERE position <= ?", forgotten.outbox),
        ("DELETE FROM audit WHERE position <= ?", forgotten.audit),
    ] {
        if through > 0 {
            let mut statement = connection.prepare_cached(sql).map_err(store_error)?;
            statement
                .execute((position(through)?,))
                .map_err(store_error)?;
        }
    }
    Ok(())
}

/// Whether a digest is of an intent or of a result.
pub(super) const INTENT: i64 = 0;
pub(super) const RESULT: i64 = 1;

fn keep_digests(connection: &Connection, run: RunId) -> Result<(), StoreError> {
    let sql = "SELECT body FROM journal WHERE run = ? ORDER BY position";
    let entries: Vec<JournalEntry> = each(connection, sql, (run.to_string(),), |row| {
        read_json("the journal", text(row, 0)?)
    })?;
    for entry in entries {
        keep_digest(connection, INTENT, entry.position, entry.intent_digest())?;
        if let Some(result) = &entry.result {
            let digest = result.digest(entry.intent.effect);
            keep_digest(connection, RESULT, result.count, digest)?;
        }
    }
    Ok(())
}

fn keep_digest(
    connection: &Connection,
    of: i64,
    place: u64,
    digest: Digest,
) -> Result<(), StoreError> {
    let sql = "INSERT INTO purged (result, place, digest) VALUES (?, ?, ?) ON CONFLICT DO NOTHING";
    let mut statement = connection.prepare_cached(sql).map_err(store_error)?;
    statement
        .execute((of, position(place)?, digest.bytes().as_slice()))
        .map_err(store_error)?;
    Ok(())
}

/// Forgets the digests that no row of the audit needs after it is cut off.
fn forget_digests(connection: &Connection, through: u64) -> Result<(), StoreError> {
    let sql = "SELECT entry FROM audit WHERE position <= ? AND entry LIKE '%\"journal\":{%' \
         ORDER BY position DESC LIMIT 1";
    let last = each(connection, sql, (position(through)?,), |row| {
        read_json::<AuditEntry>("the audit", text(row, 0)?)
    })?;
    let Some(mark) = last.into_iter().find_map(|entry| entry.journal) else {
        return Ok(());
    };
    let JournalPlace { intents, results } = mark.through;
    let sql = "DELETE FROM purged WHERE result = ? AND place <= ?";
    for (of, place) in [(INTENT, intents), (RESULT, results)] {
        let mut statement = connection.prepare_cached(sql).map_err(store_error)?;
        statement
            .execute((of, position(place)?))
            .map_err(store_error)?;
    }
    Ok(())
}
