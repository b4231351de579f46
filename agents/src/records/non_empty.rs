//! Texts and lists that are never empty.
//!
//! The rule is kept by reading, and told to models in words: a keyword in the schema would not be
//! taken by every provider, and each answer would have to be validated a second time.

use std::borrow::Cow;
use std::fmt::{self, Display};
use std::ops::Deref;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};

/// A text that has more than white space in it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct NonEmptyText(String);

/// A text without anything but white space, where one must say something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("an empty text; it must say something")]
pub struct EmptyText;

impl NonEmptyText {
    /// Checks a text.
    ///
    /// # Errors
    ///
    /// [`EmptyText`] where it has nothing but white space.
    pub fn new(text: impl Into<String>) -> Result<Self, EmptyText> {
        let text = text.into();
        if text.trim().is_empty() {
            return Err(EmptyText);
        }
        Ok(Self(text))
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for NonEmptyText {
    type Error = EmptyText;

    fn try_from(text: String) -> Result<Self, EmptyText> {
        Self::new(text)
    }
}

impl From<NonEmptyText> for String {
    fn from(text: NonEmptyText) -> Self {
        text.0
    }
}

impl Deref for NonEmptyText {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl Display for NonEmptyText {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(&self.0)
    }
}

impl JsonSchema for NonEmptyText {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "NonEmptyText".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut schema = String::json_schema(generator);
        schema.insert("description".to_owned(), "Not empty.".into());
        schema
    }
}

/// A list that has at least one entry.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(
    try_from = "Vec<T>",
    into = "Vec<T>",
    bound(
        serialize = "T: Clone + Serialize",
        deserialize = "T: Deserialize<'de>"
    )
)]
pub struct NonEmptyList<T>(Vec<T>);

/// A list without an entry, where at least one must be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("an empty list; it must have at least one entry")]
pub struct EmptyList;

impl<T> NonEmptyList<T> {
    /// Checks a list.
    ///
    /// # Errors
    ///
    /// [`EmptyList`] where it has no entry.
    pub fn new(entries: Vec<T>) -> Result<Self, EmptyList> {
        if entries.is_empty() {
            return Err(EmptyList);
        }
        Ok(Self(entries))
    }
}

impl<T> TryFrom<Vec<T>> for NonEmptyList<T> {
    type Error = EmptyList;

    fn try_from(entries: Vec<T>) -> Result<Self, EmptyList> {
        Self::new(entries)
    }
}

impl<T> From<NonEmptyList<T>> for Vec<T> {
    fn from(list: NonEmptyList<T>) -> Self {
        list.0
    }
}

impl<T> Deref for NonEmptyList<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.0
    }
}

impl<T: JsonSchema> JsonSchema for NonEmptyList<T> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        format!("NonEmptyListOf{}", T::schema_name()).into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut schema = Vec::<T>::json_schema(generator);
        schema.insert("description".to_owned(), "At least one entry.".into());
        schema
    }
}
