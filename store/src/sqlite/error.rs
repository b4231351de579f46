//! What SQLite's errors mean.

use interrupts::store::StoreError;
use rusqlite::ErrorCode;
use rusqlite::ffi::SQLITE_IOERR_SHMSIZE;

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
    if error
        .sqlite_error()
        .is_some_and(|cause| cause.extended_code == SQLITE_IOERR_SHMSIZE)
    {
        // The index of its log cannot grow: it is a file beside the store.
        return StoreError::Full;
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

#[cfg(test)]
mod tests {
    use interrupts::store::StoreError;
    use rusqlite::ffi;

    use super::store_error;

    #[test]
    fn a_log_whose_index_cannot_grow_has_no_room() {
        let failed =
            |code| store_error(rusqlite::Error::SqliteFailure(ffi::Error::new(code), None));
        assert_eq!(failed(ffi::SQLITE_IOERR_SHMSIZE), StoreError::Full);
        assert_eq!(failed(ffi::SQLITE_FULL), StoreError::Full);
        let unavailable = failed(ffi::SQLITE_IOERR_READ);
        assert!(matches!(unavailable, StoreError::Unavailable { .. }));
    }
}
