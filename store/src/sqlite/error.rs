//! What SQLite's errors mean.

use interrupts::store::StoreError;
use rusqlite::ErrorCode;

/// The error of the port for one of the engine.
pub(super) fn store_error(error: rusqlite::Error) -> StoreError {
    let detail = error.to_string();
    if matches!(
        error,
        rusqlite::Error::FromSqlConversionFailure(..)
            | rusqlite::Error::InvalidColumnType(..)
            | rusqlite::Error::IntegralValueOutOfRange(..)
            | rusqlite::Error::Utf8Error(..)
    ) {
        return StoreError::Corrupt { detail };
    }
    match error.sqlite_error_code() {
        Some(ErrorCode::DiskFull) => StoreError::Full,
        Some(ErrorCode::ReadOnly) => StoreError::ReadOnly,
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => StoreError::Locked,
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
            StoreError::Corrupt { detail }
        }
        Some(_) | None => StoreError::Unavailable { detail },
    }
}
