//! Values on their way into and out of columns.

use std::fmt::Display;
use std::str::FromStr;

use interrupts::store::StoreError;
use jiff::Timestamp;
use routing_core::{NodeId, RunId};
use rusqlite::{Connection, Params, Row};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::error::store_error;
use crate::tables::damaged;

/// JSON for a column.
pub(super) fn json(value: &impl Serialize) -> Result<String, StoreError> {
    serde_json::to_string(value).map_err(|error| damaged(&error))
}

pub(super) fn position(position: u64) -> Result<i64, StoreError> {
    i64::try_from(position).map_err(|error| damaged(&error))
}

/// The key of what belongs to one node of a run, as text.
pub(super) fn node_key((run, node): &(RunId, NodeId)) -> String {
    format!("{run} {node}")
}

/// Reads JSON that this program wrote.
pub(super) fn read_json<T: DeserializeOwned>(place: &str, json: &str) -> Result<T, StoreError> {
    serde_json::from_str(json).map_err(|error| damaged(&format!("{place}: {error}")))
}

/// Reads a text that this program wrote.
pub(super) fn read_text<T: FromStr<Err: Display>>(
    place: &str,
    text: &str,
) -> Result<T, StoreError> {
    text.parse()
        .map_err(|error| damaged(&format!("{place}: {error}")))
}

pub(super) fn read_time(place: &str, microseconds: i64) -> Result<Timestamp, StoreError> {
    Timestamp::from_microsecond(microseconds).map_err(|error| damaged(&format!("{place}: {error}")))
}

/// The text in a column of a row.
pub(super) fn text<'row>(row: &'row Row<'_>, column: usize) -> Result<&'row str, StoreError> {
    let value = row.get_ref(column).map_err(store_error)?;
    value.as_str().map_err(|error| damaged(&error))
}

pub(super) fn number(row: &Row<'_>, column: usize) -> Result<i64, StoreError> {
    row.get(column).map_err(store_error)
}

/// The number in a column that counts something.
pub(super) fn count(row: &Row<'_>, column: usize) -> Result<u64, StoreError> {
    u64::try_from(number(row, column)?).map_err(|error| damaged(&error))
}

/// Every row that a statement finds, as something else.
pub(super) fn each<T>(
    connection: &Connection,
    sql: &str,
    parameters: impl Params,
    mut read: impl FnMut(&Row<'_>) -> Result<T, StoreError>,
) -> Result<Vec<T>, StoreError> {
    let mut statement = connection.prepare_cached(sql).map_err(store_error)?;
    let mut rows = statement.query(parameters).map_err(store_error)?;
    let mut found = Vec::new();
    while let Some(row) = rows.next().map_err(store_error)? {
        found.push(read(row)?);
    }
    Ok(found)
}
