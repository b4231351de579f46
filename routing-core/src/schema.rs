//! The schemas that models are shown: narrowed, in each provider's dialect, within its limits.

mod answer_schema;
mod check;
mod closed;
mod compose;
mod constraint;
mod definition;
mod dialect;
mod integer;
mod limits;
mod prune;
mod render;
mod sample;
mod source;
mod table;
mod tool;
mod walk;

pub use answer_schema::AnswerSchema;
pub(crate) use check::check;
pub use check::{RecordProblem, RecordProblems};
pub(crate) use definition::resolve;
pub use dialect::{Dialect, UnknownDialect};
pub(crate) use limits::is_taken_name;
pub use limits::{LimitViolation, check_limits};
pub use sample::{SamplePlace, Sampler};
pub(crate) use source::route_property;
pub use table::SchemaTable;
pub use tool::{tool_schema, updated};

#[cfg(test)]
pub(crate) mod tests;
