//! The values of columns, on their way into and out of any database.

use interrupts::store::StoreError;

use super::column::position;

/// The value of a column that is about to be written, or by which rows are found.
///
/// A backend binds [`Cell::value`], and never has to tell whether a value is borrowed.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Cell<'row> {
    /// `NULL`.
    Nothing,
    /// A whole number.
    Number(i64),
    /// A text.
    Text(&'row str),
    /// A text that is not borrowed.
    Made(String),
    /// Bytes.
    Bytes(&'row [u8]),
    /// Bytes that are not borrowed.
    MadeBytes(Vec<u8>),
}

/// The value of a column as a database has it. A text may have been changed into something that is none.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ColumnValue<'row> {
    /// `NULL`.
    Nothing,
    /// A whole number.
    Number(i64),
    /// Any other number. It is never written; a row that has one is damaged.
    Fraction(f64),
    /// A text, which may not be UTF-8.
    Text(&'row [u8]),
    /// Bytes.
    Bytes(&'row [u8]),
}

/// A row that a statement found.
pub trait Columns {
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

    /// Whether it is a text that has the character U+0000.
    #[cfg(feature = "postgres")]
    pub(crate) fn has_null_character(&self) -> bool {
        matches!(self.value(), ColumnValue::Text(text) if text.contains(&0))
    }

    /// The same value, borrowed.
    pub fn borrowed(&self) -> Cell<'_> {
        match self {
            Self::Nothing => Cell::Nothing,
            Self::Number(number) => Cell::Number(*number),
            Self::Text(text) => Cell::Text(text),
            Self::Made(text) => Cell::Text(text),
            Self::Bytes(bytes) => Cell::Bytes(bytes),
            Self::MadeBytes(bytes) => Cell::Bytes(bytes),
        }
    }

    /// The same value, to be kept: a backend may write rows with the commit.
    pub fn owned(&self) -> Cell<'static> {
        match self {
            Self::Nothing => Cell::Nothing,
            Self::Number(number) => Cell::Number(*number),
            Self::Text(text) => Cell::Made((*text).to_owned()),
            Self::Made(text) => Cell::Made(text.clone()),
            Self::Bytes(bytes) => Cell::MadeBytes(bytes.to_vec()),
            Self::MadeBytes(bytes) => Cell::MadeBytes(bytes.clone()),
        }
    }

    /// The value to bind.
    pub fn value(&self) -> ColumnValue<'_> {
        match self {
            Self::Nothing => ColumnValue::Nothing,
            Self::Number(number) => ColumnValue::Number(*number),
            Self::Text(text) => ColumnValue::Text(text.as_bytes()),
            Self::Made(text) => ColumnValue::Text(text.as_bytes()),
            Self::Bytes(bytes) => ColumnValue::Bytes(bytes),
            Self::MadeBytes(bytes) => ColumnValue::Bytes(bytes),
        }
    }
}
