//! The schemas that models are shown: narrowed, in each provider's dialect, within its limits.

mod dialect;
mod limits;
mod prune;
mod table;

pub use dialect::{Dialect, UnknownDialect};
pub use limits::{LimitViolation, check_limits};
pub use table::{AnswerSchema, SchemaTable};
