//! The limits that providers publish for schemas, and the check of a schema against them.
use super::AnswerSchema;
/// A limit that a schema breaks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LimitViolation {}
/// Checks.
pub fn check_limits(_schema: &AnswerSchema) -> Vec<LimitViolation> {
    Vec::new()
}
