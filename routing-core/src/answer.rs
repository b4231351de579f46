//! Reading what a model answered: strictly, and saying where it is wrong.

mod error;
mod read;
mod strict;

pub use error::{AnswerError, AnswerFault};
pub use read::{read_narrowed, read_strictly, read_within};
