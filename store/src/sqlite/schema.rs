//! The schema, and how a file of an older one is brought up to date.

use interrupts::store::StoreError;
use rusqlite::{Connection, TransactionBehavior};

use super::error::store_error;

/// Says in the head of a file that it is one of ours: the letters `irqs`.
const OURS: i64 = 0x6972_7173;

/// The steps from an empty file to the newest schema, oldest first. One that was released is never changed.
const STEPS: [&str; 13] = [
    include_str!("../../migrations/0001_life.sql"),
    include_str!("../../migrations/0002_nodes.sql"),
    include_str!("../../migrations/0003_rules.sql"),
    include_str!("../../migrations/0004_open_interrupts.sql"),
    include_str!("../../migrations/0005_events_of_runs.sql"),
    include_str!("../../migrations/0006_joined.sql"),
    include_str!("../../migrations/0007_fewer_pages.sql"),
    include_str!("../../migrations/0008_bound.sql"),
    include_str!("../../migrations/0009_catalogues.sql"),
    include_str!("../../migrations/0010_live_runs.sql"),
    include_str!("../../migrations/0011_runs_at_work.sql"),
    include_str!("../../migrations/0012_workers.sql"),
    include_str!("../../migrations/0013_waiting.sql"),
];

/// The steps from an empty database to the schema that the statements of this version are written for, oldest first. Each
/// is a script in the words of SQLite. One that was released is never changed, later versions add more: a backend remembers
/// how many it has taken.
pub const fn schema() -> &'static [&'static str] {
    &STEPS
}

/// The newest schema that this program knows.
pub(super) const NEWEST: i64 = STEPS.len() as i64;

/// Takes the steps that a file has not taken yet, all in one transaction.
pub(super) fn update(connection: &mut Connection) -> Result<(), StoreError> {
    if version(connection)? == NEWEST {
        return Ok(());
    }
    let transaction = connection
        .transaction_with_behavior(TransactionBehavior::Immediate)
        .map_err(store_error)?;
    // Another process may have been faster.
    let found = version(&transaction)?;
    let taken = usize::try_from(found).unwrap_or(0);
    for step in STEPS.iter().skip(taken) {
        transaction.execute_batch(step).map_err(store_error)?;
    }
    for (pragma, value) in [("user_version", NEWEST), ("application_id", OURS)] {
        transaction
            .pragma_update(None, pragma, value)
            .map_err(store_error)?;
    }
    transaction.commit().map_err(store_error)
}

/// The schema of a file, which is ours and not too new; 0 where the file is new.
pub(super) fn version(connection: &Connection) -> Result<i64, StoreError> {
    // First: where another process makes the tables meanwhile, its mark is there with them when it is read.
    let tables: i64 = connection
        .query_row("SELECT COUNT(*) FROM sqlite_schema", (), |row| row.get(0))
        .map_err(store_error)?;
    let found = pragma(connection, "user_version")?;
    let owner = pragma(connection, "application_id")?;
    let is_ours = owner == OURS && found > 0;
    if tables > 0 && !is_ours {
        return Err(StoreError::Foreign);
    }
    known(found)?;
    Ok(found)
}

/// Refuses the file in a transaction where a newer program has changed its schema since it was opened.
pub(super) fn check(connection: &Connection) -> Result<(), StoreError> {
    let statement = connection.prepare_cached("PRAGMA user_version");
    let found = statement.and_then(|mut statement| statement.query_row((), |row| row.get(0)));
    known(found.map_err(store_error)?)
}

const fn known(found: i64) -> Result<(), StoreError> {
    if found > NEWEST {
        return Err(StoreError::Newer {
            found,
            known: NEWEST,
        });
    }
    Ok(())
}

fn pragma(connection: &Connection, name: &str) -> Result<i64, StoreError> {
    connection
        .pragma_query_value(None, name, |row| row.get(0))
        .map_err(store_error)
}
