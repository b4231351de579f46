//! Reading what a model answered: strictly, and saying where it is wrong.

mod error;
mod read;
mod record;
mod strict;

pub use error::{AnswerError, AnswerFault};
pub use read::{read_narrowed, read_strictly, read_within};

#[doc(hidden)]
pub use record::{RecordSeed, deserialize_record as __deserialize_record};
