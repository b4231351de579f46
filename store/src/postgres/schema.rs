//! The schema, and how one of an older version is brought up to date.

use interrupts::store::StoreError;

use super::session::Session;
use super::writer::LOCK;
use crate::relational::Found;
use crate::relational::{Cell, ColumnValue, Database as _};

/// The steps from an empty schema to the newest, oldest first. One that was released is never changed.
const STEPS: [&str; 5] = [
    include_str!("../../migrations/postgres/0001_store.sql"),
    include_str!("../../migrations/postgres/0002_runs_at_work.sql"),
    include_str!("../../migrations/postgres/0003_workers.sql"),
    include_str!("../../migrations/postgres/0004_null_characters.sql"),
    include_str!("../../migrations/postgres/0005_waiting.sql"),
];

/// The newest schema that this program knows.
pub(super) const NEWEST: i64 = STEPS.len() as i64;

/// The oldest schema whose program works with the newest one. A step leaves it as it is where all that it does is to add
/// tables, indexes, and columns with a default, and where what the rows say means the same.
const COMPATIBLE: i64 = 3;

/// Tells the locks of this program from those of others in the same database: the letters `irqs`.
const LOCKS: &str = "1769107827";

/// Takes the steps that a schema has not taken yet, all in one transaction.
pub(super) fn update(session: &mut Session, schema: &str) -> Found<()> {
    if version(session, schema)? >= NEWEST {
        return Ok(());
    }
    // Another process may be at it: the later one finds it done.
    session.batch(&format!(
        "BEGIN; SELECT pg_advisory_xact_lock({LOCKS}, hashtext('{schema}'))"
    ))?;
    let updated = steps(session, schema);
    match updated {
        Ok(()) => session.batch("COMMIT"),
        Err(error) => {
            let _undone = session.batch("ROLLBACK");
            Err(error)
        }
    }
}

fn steps(session: &mut Session, schema: &str) -> Found<()> {
    let found = version(session, schema)?;
    if found >= NEWEST {
        return Ok(());
    }
    let taken = usize::try_from(found).unwrap_or(0);
    if taken > 0 {
        // No other process is in a transaction then, and each looks for the schema in its next one.
        session.batch(LOCK)?;
    } else {
        session.batch(&format!("CREATE SCHEMA IF NOT EXISTS \"{schema}\""))?;
        session.batch(
            "CREATE TABLE irq_schema (id BIGINT PRIMARY KEY CHECK (id = 1), version BIGINT NOT NULL); \
             INSERT INTO irq_schema (id, version) VALUES (1, 0)",
        )?;
    }
    for step in STEPS.iter().skip(taken) {
        session.batch(step)?;
    }
    session.batch(&format!(
        "UPDATE irq_schema SET version = {NEWEST}, compatible = {COMPATIBLE}"
    ))
}

/// The version of a schema, which is ours, and newer than this program knows only if its steps say that such programs
/// still work with it; 0 if there is none, or an empty one.
pub(super) fn version(session: &mut Session, schema: &str) -> Found<i64> {
    let sql = "SELECT CAST(COUNT(*) AS BIGINT), \
        CAST(COUNT(*) FILTER (WHERE relname = 'irq_schema') AS BIGINT) FROM pg_class \
        WHERE relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = CAST(? AS TEXT))";
    let (mut tables, mut ours) = (0, 0);
    session.each(sql, &[Cell::Text(schema)], &mut |row| {
        (tables, ours) = (number(row.value(0)?), number(row.value(1)?));
        Ok(())
    })?;
    if tables > 0 && ours == 0 {
        return Err(StoreError::Foreign);
    }
    if tables == 0 {
        return Ok(0);
    }
    let (mut found, mut compatible) = (0, 0);
    // Older schemas do not say.
    let sql = "SELECT version, COALESCE(CAST(to_jsonb(it) ->> 'compatible' AS BIGINT), version) FROM irq_schema AS it";
    session.each(sql, &[], &mut |row| {
        (found, compatible) = (number(row.value(0)?), number(row.value(1)?));
        Ok(())
    })?;
    if found > NEWEST && compatible > NEWEST {
        return Err(newer(found));
    }
    Ok(found)
}

/// The refusal of a schema that only a newer program knows.
pub(super) const fn newer(found: i64) -> StoreError {
    StoreError::Newer {
        found,
        known: NEWEST,
    }
}

const fn number(value: ColumnValue<'_>) -> i64 {
    match value {
        ColumnValue::Number(number) => number,
        ColumnValue::Nothing
        | ColumnValue::Fraction(_)
        | ColumnValue::Text(_)
        | ColumnValue::Bytes(_) => 0,
    }
}
