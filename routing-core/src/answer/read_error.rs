//! What stops the reading of a tree: a fault, or the end of what has come.

use std::fmt::{self, Display};

use serde::de::{Expected, Unexpected};

use super::path::Path;
use super::{AnswerError, AnswerFault};

/// The most characters of a path or a reason: it is shown to people, and to the model again.
const LONGEST_TEXT: usize = 400;

/// Why a tree could not be read into a type.
#[derive(Debug)]
pub(crate) struct ReadError(Box<Stop>);

#[derive(Debug)]
struct Stop {
    /// `None` where the text ends: what follows may be right.
    fault: Option<AnswerFault>,
    reason: String,
    /// From the inside to the outside.
    path: Vec<Segment>,
}

#[derive(Debug)]
enum Segment {
    Key(String),
    Index(usize),
}

impl ReadError {
    pub(super) fn new(fault: AnswerFault, reason: impl Display) -> Self {
        Self(Box::new(Stop {
            fault: Some(fault),
            reason: reason.to_string(),
            path: Vec::new(),
        }))
    }

    /// The text ends before what is read does.
    pub(super) fn unfinished() -> Self {
        Self(Box::new(Stop {
            fault: None,
            reason: "the text ends here".to_owned(),
            path: Vec::new(),
        }))
    }

    /// Something else stands where this is expected.
    pub(super) fn misplaced(unexpected: Unexpected<'_>, expected: &dyn Display) -> Self {
        let reason = if unexpected == Unexpected::Unit {
            format!("invalid type: null, expected {expected}")
        } else {
            format!("invalid type: {unexpected}, expected {expected}")
        };
        Self::new(AnswerFault::WrongShape, reason)
    }

    pub(super) fn is_unfinished(&self) -> bool {
        self.0.fault.is_none()
    }

    /// The same, of the value of this key.
    pub(super) fn below_key(mut self, key: &str) -> Self {
        self.0.path.push(Segment::Key(key.to_owned()));
        self
    }

    /// The same, of this element.
    pub(super) fn below_index(mut self, index: usize) -> Self {
        self.0.path.push(Segment::Index(index));
        self
    }
}

impl From<ReadError> for AnswerError {
    fn from(ReadError(stop): ReadError) -> Self {
        let mut path = Path::default();
        for segment in stop.path.iter().rev() {
            match segment {
                Segment::Key(key) => path.push_key(key),
                Segment::Index(index) => path.push_index(*index),
            }
        }
        Self::new(
            stop.fault.unwrap_or(AnswerFault::CutOff),
            shortened(path.into_text()),
            shortened(stop.reason),
        )
    }
}

impl Display for ReadError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0.reason)
    }
}

impl std::error::Error for ReadError {}

impl serde::de::Error for ReadError {
    fn custom<T: Display>(reason: T) -> Self {
        Self::new(AnswerFault::WrongShape, reason)
    }

    fn invalid_type(unexpected: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::misplaced(unexpected, &expected)
    }

    fn unknown_field(field: &str, expected: &'static [&'static str]) -> Self {
        let reason = format!("unknown field `{field}`; {}", Fields(expected));
        Self::new(AnswerFault::UnknownField, reason).below_key(field)
    }

    fn missing_field(field: &'static str) -> Self {
        let reason = format!("missing field `{field}`");
        Self::new(AnswerFault::WrongShape, reason).below_key(field)
    }

    fn duplicate_field(field: &'static str) -> Self {
        doubled(field)
    }
}

/// A key that stands twice.
pub(super) fn doubled(key: &str) -> ReadError {
    let reason = format!("the key `{key}` stands twice");
    ReadError::new(AnswerFault::DuplicateKey, reason).below_key(key)
}

/// The fields that an object may have, in words.
pub(super) struct Fields<'a>(pub(super) &'a [&'a str]);

impl Display for Fields<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return formatter.write_str("there are no fields here");
        }
        write!(formatter, "the fields here are: {}", self.0.join(", "))
    }
}

/// A text that may repeat a part of the answer, which may be long.
fn shortened(text: String) -> String {
    match text.char_indices().nth(LONGEST_TEXT) {
        Some((end, _char)) => format!("{}…", &text[..end]),
        None => text,
    }
}
