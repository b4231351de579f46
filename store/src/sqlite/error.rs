//! What SQLite's errors mean.

use interrupts::store::StoreError;

/// SQLite's primary result codes; the extended ones carry them in their lowest byte.
mod code {
    pub(super) const BUSY: i64 = 5;
    pub(super) const LOCKED: i64 = 6;
    pub(super) const READ_ONLY: i64 = 8;
    pub(super) const CORRUPT: i64 = 11;
    pub(super) const FULL: i64 = 13;
    pub(super) const NOT_A_DATABASE: i64 = 26;
}

/// The error of the port for one of the driver.
pub(super) fn store_error(error: &sqlx::Error) -> StoreError {
    let detail = error.to_string();
    if matches!(
        error,
        sqlx::Error::ColumnDecode { .. } | sqlx::Error::Decode(_)
    ) {
        return StoreError::Corrupt { detail };
    }
    let number = error
        .as_database_error()
        .and_then(|database| database.code())
        .and_then(|code| code.parse::<i64>().ok())
        .map(|code| code & 0xff);
    match number {
        Some(code::FULL) => StoreError::Full,
        Some(code::READ_ONLY) => StoreError::ReadOnly,
        Some(code::BUSY | code::LOCKED) => StoreError::Locked,
        Some(code::CORRUPT | code::NOT_A_DATABASE) => StoreError::Corrupt { detail },
        Some(_) | None => StoreError::Unavailable { detail },
    }
}
