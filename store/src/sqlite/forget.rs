//! Removing what is forgotten.

use interrupts::store::StoreError;
use rusqlite::Connection;

use super::column::position;
use super::error::store_error;
use crate::tables::Forgotten;

/// Each removes what belongs to one run.
const OF_RUN: [&str; 10] = [
    "DELETE FROM interrupts WHERE run = ?",
    "DELETE FROM joined WHERE run = ?",
    "DELETE FROM reroutes WHERE run = ?",
    "DELETE FROM slots WHERE run = ?",
    "DELETE FROM nodes WHERE run = ?",
    "DELETE FROM messages WHERE run = ?",
    "DELETE FROM journal WHERE run = ?",
    "DELETE FROM checkpoints WHERE run = ?",
    "DELETE FROM rules WHERE run = ?",
    "DELETE FROM runs WHERE id = ?",
];

pub(super) fn forgotten(connection: &Connection, forgotten: &Forgotten) -> Result<(), StoreError> {
    for run in &forgotten.runs {
        for sql in OF_RUN {
            let mut statement = connection.prepare_cached(sql).map_err(store_error)?;
            statement.execute((run.to_string(),)).map_err(store_error)?;
        }
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
