//! The values of columns, on their way into and out of any database.

use interrupts::store::StoreError;

use super::column::position;

/// The value of a column that is about to be written, or by which rows are found.
#[derive(Debug, Clone)]
pub(crate) enum Cell<'row> {
    Nothing,
    Number(i64),
    Text(&'row str),
    Made(String),
    Bytes(&'row [u8]),
    #[cfg(feature = "postgres")]
    MadeBytes(Vec<u8>),
}

/// The value of a column as a database has it. A text may have been changed into something that is none.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum ColumnValue<'row> {
    Nothing,
    Number(i64),
    Fraction(f64),
    Text(&'row [u8]),
    Bytes(&'row [u8]),
}

/// A row that a statement found.
pub(crate) trait Columns {
    /// The value of a column, counted from 0.
    ///
    /// # Errors
    ///
    /// [`StoreError::Corrupt`] where the row has no such column, or one of a type that is never written.
    fn value(&self, column: usize) -> Result<ColumnValue<'_>, StoreError>;
}

impl Cell<'_> {
    pub(crate) fn position(place: u64) -> Result<Self, StoreError> {
        position(place).map(Self::Number)
    }

    pub(crate) fn made(value: &impl ToString) -> Self {
        Self::Made(value.to_string())
    }

    pub(crate) fn yes(value: bool) -> Self {
        Self::Number(i64::from(value))
    }

    /// A number that is not there where it restricts nothing.
    pub(crate) fn number(value: Option<i64>) -> Self {
        value.map_or(Self::Nothing, Self::Number)
    }

    /// A text that is not there where it restricts nothing.
    pub(crate) fn text(value: Option<String>) -> Self {
        value.map_or(Self::Nothing, Self::Made)
    }

    pub(crate) fn limit(limit: u32) -> Self {
        Self::Number(i64::from(limit))
    }

    /// The same value, borrowed.
    pub(crate) fn borrowed(&self) -> Cell<'_> {
        match self {
            Self::Nothing => Cell::Nothing,
            Self::Number(number) => Cell::Number(*number),
            Self::Text(text) => Cell::Text(text),
            Self::Made(text) => Cell::Text(text),
            Self::Bytes(bytes) => Cell::Bytes(bytes),
            #[cfg(feature = "postgres")]
            Self::MadeBytes(bytes) => Cell::Bytes(bytes),
        }
    }

    /// The same value, to be kept.
    #[cfg(feature = "postgres")]
    pub(crate) fn owned(&self) -> Cell<'static> {
        match self {
            Self::Nothing => Cell::Nothing,
            Self::Number(number) => Cell::Number(*number),
            Self::Text(text) => Cell::Made((*text).to_owned()),
            Self::Made(text) => Cell::Made(text.clone()),
            Self::Bytes(bytes) => Cell::MadeBytes(bytes.to_vec()),
            Self::MadeBytes(bytes) => Cell::MadeBytes(bytes.clone()),
        }
    }

    pub(crate) fn value(&self) -> ColumnValue<'_> {
        match self {
            Self::Nothing => ColumnValue::Nothing,
            Self::Number(number) => ColumnValue::Number(*number),
            Self::Text(text) => ColumnValue::Text(text.as_bytes()),
            Self::Made(text) => ColumnValue::Text(text.as_bytes()),
            Self::Bytes(bytes) => ColumnValue::Bytes(bytes),
            #[cfg(feature = "postgres")]
            Self::MadeBytes(bytes) => ColumnValue::Bytes(bytes),
        }
    }
}
