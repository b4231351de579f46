//! Values on their way into and out of columns.

use std::fmt::Display;
use std::str::FromStr;

use interrupts::store::StoreError;
use jiff::Timestamp;
use routing_core::{NodeId, RunId};
use serde::Serialize;
use serde::de::DeserializeOwned;
use sqlx::Arguments as _;
use sqlx::sqlite::SqliteArguments;

use crate::tables::damaged;

/// A value that is bound to a statement.
#[derive(Debug)]
pub(super) enum Value {
    Text(String),
    Number(i64),
    Nothing,
}

impl Value {
    pub(super) fn bind(self, arguments: &mut SqliteArguments) -> Result<(), StoreError> {
        let bound = match self {
            Self::Text(text) => arguments.add(text),
            Self::Number(number) => arguments.add(number),
            Self::Nothing => arguments.add(None::<i64>),
        };
        bound.map_err(|error| StoreError::Unavailable {
            detail: error.to_string(),
        })
    }

    pub(super) fn text(value: impl Display) -> Self {
        Self::Text(value.to_string())
    }

    pub(super) fn json(value: &impl Serialize) -> Result<Self, StoreError> {
        let json = serde_json::to_string(value).map_err(|error| damaged(&error))?;
        Ok(Self::Text(json))
    }

    pub(super) fn position(position: u64) -> Result<Self, StoreError> {
        let number = i64::try_from(position).map_err(|error| damaged(&error))?;
        Ok(Self::Number(number))
    }

    pub(super) fn time(time: Timestamp) -> Self {
        Self::Number(time.as_microsecond())
    }

    pub(super) fn flag(flag: bool) -> Self {
        Self::Number(i64::from(flag))
    }
}

/// The key of what belongs to one node of a run, as text.
pub(super) fn node_key(run: RunId, node: &NodeId) -> String {
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

pub(super) fn read_position(place: &str, number: i64) -> Result<u64, StoreError> {
    u64::try_from(number).map_err(|error| damaged(&format!("{place}: {error}")))
}

pub(super) fn read_time(place: &str, microseconds: i64) -> Result<Timestamp, StoreError> {
    Timestamp::from_microsecond(microseconds).map_err(|error| damaged(&format!("{place}: {error}")))
}
