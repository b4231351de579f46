//! Reading what a model answered: strictly, and saying where it is wrong.

mod arriving;
mod body;
mod constraint;
mod error;
mod fits;
mod path;
mod read;
mod read_error;
mod reader;
mod record;
mod tree;

pub(crate) use arriving::ArrivingAnswer;
pub use arriving::fault_so_far;
pub(crate) use arriving::is_in_words;
pub use body::{LONGEST_ANSWER, body};
pub use constraint::ConstraintCheck;
pub use error::{AnswerError, AnswerFault};
pub use read::{read_narrowed, read_strictly, read_within};

#[doc(hidden)]
pub use record::deserialize_record as __deserialize_record;
pub(crate) use record::deserialize_request;

#[cfg(test)]
mod tests;
