//! Values on their way into and out of columns.

use std::fmt::Display;
use std::str::FromStr;

use interrupt_router::{NodeId, RunId};
use interrupts::store::StoreError;
use jiff::Timestamp;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::cell::{Cell, ColumnValue, Columns};
use super::database::Database;
use crate::tables::damaged;

/// JSON for a column.
pub(super) fn json(value: &impl Serialize) -> Result<String, StoreError> {
    serde_json::to_string(value).map_err(|error| damaged(&error))
}

pub(crate) fn position(position: u64) -> Result<i64, StoreError> {
    i64::try_from(position).map_err(|error| damaged(&error))
}

/// The key of what belongs to one node of a run, as text.
pub(super) fn node_key((run, node): &(RunId, NodeId)) -> String {
    format!("{run} {node}")
}

/// Reads JSON that this program wrote.
pub(crate) fn read_json<T: DeserializeOwned>(place: &str, json: &str) -> Result<T, StoreError> {
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
pub(crate) fn text(row: &dyn Columns, column: usize) -> Result<&str, StoreError> {
    text_or_nothing(row, column)?.ok_or_else(|| damaged(&"a column has no text"))
}

/// The text in a column that may have none.
pub(super) fn text_or_nothing(
    row: &dyn Columns,
    column: usize,
) -> Result<Option<&str>, StoreError> {
    match row.value(column)? {
        ColumnValue::Nothing => Ok(None),
        ColumnValue::Text(text) => match std::str::from_utf8(text) {
            Ok(text) => Ok(Some(text)),
            Err(error) => Err(damaged(&error)),
        },
        ColumnValue::Number(_) | ColumnValue::Fraction(_) | ColumnValue::Bytes(_) => {
            Err(damaged(&"a column has something else than a text"))
        }
    }
}

pub(super) fn number(row: &dyn Columns, column: usize) -> Result<i64, StoreError> {
    match row.value(column)? {
        ColumnValue::Number(number) => Ok(number),
        ColumnValue::Nothing
        | ColumnValue::Fraction(_)
        | ColumnValue::Text(_)
        | ColumnValue::Bytes(_) => Err(damaged(&"a column has something else than a number")),
    }
}

/// The number in a column that counts something.
pub(crate) fn count(row: &dyn Columns, column: usize) -> Result<u64, StoreError> {
    u64::try_from(number(row, column)?).map_err(|error| damaged(&error))
}

/// Every row that a statement finds, as something else.
pub(super) fn each<T>(
    database: &mut dyn Database,
    sql: &'static str,
    values: &[Cell<'_>],
    mut read: impl FnMut(&dyn Columns) -> Result<T, StoreError>,
) -> Result<Vec<T>, StoreError> {
    let mut found = Vec::new();
    database.each(sql, values, &mut |row| {
        found.push(read(row)?);
        Ok(())
    })?;
    Ok(found)
}
