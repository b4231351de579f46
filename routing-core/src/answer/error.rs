//! What is wrong with an answer, and where.

use std::fmt::{self, Display};

/// What kind of fault an answer has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum AnswerFault {
    /// The text ends before the JSON value does: the answer was cut off.
    CutOff,
    /// The text is longer than any answer may be; it was not looked at.
    TooLong,
    /// The text is no JSON, or not one JSON value alone.
    Syntax,
    /// A field that the schema does not have.
    UnknownField,
    /// A route of the record that is not allowed here.
    RouteNotAllowed,
    /// A key that appears twice in one object.
    DuplicateKey,
    /// An array where the schema has an object.
    ArrayForObject,
    /// No route is set.
    NoRoute,
    /// More than one route is set.
    ManyRoutes,
    /// A value of another type, a missing field, a value outside an enumeration.
    WrongShape,
    /// The shape is right and a constraint of the schema is broken.
    Constraint,
}

/// A fault of an answer: where, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AnswerError {
    fault: AnswerFault,
    path: String,
    reason: String,
}

impl AnswerError {
    /// A fault at a JSON path such as `$.reviewRequest.criteria`.
    pub fn new(fault: AnswerFault, path: impl Into<String>, reason: impl Into<String>) -> Self {
        Self {
            fault,
            path: path.into(),
            reason: reason.into(),
        }
    }

    /// What kind of fault it is.
    pub fn fault(&self) -> AnswerFault {
        self.fault
    }

    /// Where it is: `$` is the whole answer, `$.a.b[2]` an element of a list in a field.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Why it is one, in words for the model and for people.
    pub fn reason(&self) -> &str {
        &self.reason
    }
}

impl Display for AnswerError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", self.path, self.reason)
    }
}

impl std::error::Error for AnswerError {}

impl AnswerError {
    /// The fault of an answer that its provider says was cut off, after this many bytes.
    pub(crate) fn cut_off(received: usize) -> Self {
        let reason =
            format!("the answer was cut off after {received} bytes; answer again, more briefly");
        Self::new(AnswerFault::CutOff, "$", reason)
    }
}
