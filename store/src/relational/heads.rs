//! Where the lists of the store end: in the last row of the outbox, or in a row of its own, whichever is newer.

use interrupts::store::StoreError;

use super::cell::Columns;
use super::column::{read_json, text_or_nothing};
use super::sealed;
use crate::tables::{Heads, damaged};

/// Finds both; no row where there is neither.
pub(super) const SQL: &str = "SELECT last.position, last.at, last.heads, last.body, last.seal, \
    alone.body FROM (SELECT CAST(?1 AS BIGINT) AS id) AS one \
    LEFT JOIN heads AS alone ON alone.id = one.id LEFT JOIN \
    (SELECT position, at, heads, body, seal FROM outbox ORDER BY position DESC LIMIT 1) AS last ON 1 = 1 \
    WHERE alone.body IS NOT NULL OR last.heads IS NOT NULL";

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
