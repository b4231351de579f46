//! Where the lists of the store end: in the last row of the outbox, or in a row of its own, whichever is newer.

use interrupts::store::StoreError;

use super::cell::Columns;
use super::column::{read_json, text_or_nothing};
use super::sealed;
use crate::tables::{Heads, damaged};

/// The statement that finds both, and more.
macro_rules! heads_and {
    ($more:literal) => {
        concat!(
            "SELECT last.position, last.at, last.heads, last.body, last.seal, alone.body",
            $more,
            " FROM (SELECT CAST(?1 AS BIGINT) AS id) AS one \
             LEFT JOIN heads AS alone ON alone.id = one.id LEFT JOIN \
             (SELECT position, at, heads, body, seal FROM outbox ORDER BY position DESC LIMIT 1) \
             AS last ON 1 = 1 WHERE alone.body IS NOT NULL OR last.heads IS NOT NULL"
        )
    };
}

/// Finds both; no row where there is neither.
pub(super) const SQL: &str = heads_and!("");

/// The same, with how many rows there are: of each table that is counted, in its order, and of the outbox and the audit with
/// the ends of both. One statement sees all of it as it is at one time, in one round trip.
pub(super) const WITH_COUNTS: &str = heads_and!(
    ", (SELECT COUNT(*) FROM interrupts), (SELECT COUNT(*) FROM joined), \
     (SELECT COUNT(*) FROM reroutes), (SELECT COUNT(*) FROM slots), (SELECT COUNT(*) FROM runs), \
     (SELECT COUNT(*) FROM nodes), (SELECT COUNT(*) FROM messages), \
     (SELECT COUNT(*) FROM journal), (SELECT COUNT(*) FROM checkpoints), \
     (SELECT COUNT(*) FROM tokens), (SELECT COUNT(*) FROM rules), \
     (SELECT COUNT(*) FROM catalogues), (SELECT COUNT(*) FROM outbox), \
     (SELECT COALESCE(MIN(position), 0) FROM outbox), \
     (SELECT COALESCE(MAX(position), 0) FROM outbox), (SELECT COUNT(*) FROM audit), \
     (SELECT COALESCE(MIN(position), 0) FROM audit), \
     (SELECT COALESCE(MAX(position), 0) FROM audit)"
);

/// Where the counts begin in its row.
pub(super) const FIRST_COUNT: usize = 6;

/// The newer of both, and its JSON.
pub(super) fn newest(row: &dyn Columns) -> Result<(Heads, &str), StoreError> {
    sealed::OUTBOX.columns(row, 4)?;
    match (found(row, 5)?, found(row, 2)?) {
        // Written after the last row of the outbox or with it, it says the same or more.
        (Some(alone), Some(told)) if alone.0.outbox < told.0.outbox => Ok(told),
        (Some(alone), _) => Ok(alone),
        (None, Some(told)) => Ok(told),
        (None, None) => Err(damaged(&"the ends of the lists are not there")),
    }
}

fn found(row: &dyn Columns, column: usize) -> Result<Option<(Heads, &str)>, StoreError> {
    let json = text_or_nothing(row, column)?;
    json.map(|json| Ok((read_json("the heads", json)?, json)))
        .transpose()
}
