//! Reading what a model answered: strictly, and saying where it is wrong.

mod arriving;
mod body;
mod constraint;
mod error;
mod explain;
mod fits;
pub(crate) mod one_route;
mod read;
mod record;
mod set_fields;
mod strict;
mod strict_access;
mod strict_key;
mod strict_visitor;
pub(crate) mod watch;

pub use arriving::{ArrivingAnswer, fault_so_far};
pub use body::{LONGEST_ANSWER, body};
pub use constraint::{ConstraintCheck, TypesOnly};
pub use error::{AnswerError, AnswerFault};
pub use read::{read_narrowed, read_strictly, read_within};

#[doc(hidden)]
pub use record::{RecordSeed, deserialize_record as __deserialize_record};

#[cfg(test)]
mod tests;
