//! What stands for PostgreSQL in a build without it: no location is ever read, so nothing can be done with one.

use std::fmt::{self, Display};
use std::str::FromStr;

use crate::location::LocationError;

/// A store in a PostgreSQL database. This build has none: the feature `postgres` brings it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum PostgresLocation {}

impl PostgresLocation {
    /// The schema of the tables.
    pub const fn schema(&self) -> &str {
        match *self {}
    }
}

impl Display for PostgresLocation {
    fn fmt(&self, _formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {}
    }
}

impl FromStr for PostgresLocation {
    type Err = LocationError;

    fn from_str(_text: &str) -> Result<Self, LocationError> {
        Err(LocationError::WithoutPostgres)
    }
}
