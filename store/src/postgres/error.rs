//! What PostgreSQL's errors mean.

use std::error::Error as _;

use interrupts::store::StoreError;
use tokio_postgres::Error;
use tokio_postgres::error::SqlState;

/// The error of the port for one of the server or of the way to it.
pub(super) fn store_error(error: &Error) -> StoreError {
    let detail = in_words(error);
    match error.code() {
        Some(&SqlState::DISK_FULL) => StoreError::Full,
        Some(&SqlState::READ_ONLY_SQL_TRANSACTION) => StoreError::ReadOnly,
        Some(&SqlState::LOCK_NOT_AVAILABLE) => StoreError::Locked,
        Some(&(SqlState::DATA_CORRUPTED | SqlState::INDEX_CORRUPTED)) => {
            StoreError::Corrupt { detail }
        }
        Some(code) if is_about_value(code) => StoreError::InvalidValue { detail },
        Some(_) | None => StoreError::Unavailable { detail },
    }
}

/// Whether the server refuses a value, and would whenever it is asked: class 22 is about data, 54 about limits.
fn is_about_value(code: &SqlState) -> bool {
    ["22", "54"]
        .iter()
        .any(|class| code.code().starts_with(class))
}

/// Whether the connection is of no use any more: the server ends, was replaced by another one, or cannot be reached. A
/// new connection may be.
pub(super) fn is_lost(error: &Error) -> bool {
    let ends = [
        SqlState::ADMIN_SHUTDOWN,
        SqlState::CRASH_SHUTDOWN,
        SqlState::CANNOT_CONNECT_NOW,
        SqlState::IDLE_IN_TRANSACTION_SESSION_TIMEOUT,
        SqlState::TOO_MANY_CONNECTIONS,
        // It was the primary, and is a standby now.
        SqlState::READ_ONLY_SQL_TRANSACTION,
    ];
    match error.code() {
        // Class 08 is about connections.
        Some(code) => ends.contains(code) || code.code().starts_with("08"),
        // What has no code does not come from the server's own answers.
        None => error.is_closed() || has_cause::<std::io::Error>(error),
    }
}

/// Whether the transaction was undone for the sake of another one, and may be tried again as it is.
pub(super) fn is_undone(error: &Error) -> bool {
    matches!(
        error.code(),
        Some(&(SqlState::T_R_SERIALIZATION_FAILURE | SqlState::T_R_DEADLOCK_DETECTED))
    )
}

fn has_cause<E: std::error::Error + 'static>(error: &Error) -> bool {
    let mut cause = error.source();
    while let Some(error) = cause {
        if error.is::<E>() {
            return true;
        }
        cause = error.source();
    }
    false
}

/// The error with its causes.
pub(super) fn in_words(error: &Error) -> String {
    if let Some(answer) = error.as_db_error() {
        let hint = answer.hint().map(|hint| format!(" ({hint})"));
        return format!("{}{}", answer.message(), hint.unwrap_or_default());
    }
    let mut words = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let told = error.to_string();
        if !words.ends_with(&told) {
            words.push_str(": ");
            words.push_str(&told);
        }
        cause = error.source();
    }
    words
}
