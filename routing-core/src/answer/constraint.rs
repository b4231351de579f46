//! What a schema demands beyond types: a port, so that the core needs no validator.

use super::AnswerError;
use crate::schema::AnswerSchema;

/// Checks an answer against the constraints of its schema: lengths, ranges, patterns, formats.
///
/// Called only if [`AnswerSchema::has_constraints`] says so, with an answer that has been read and has the right types.
/// [`AnswerSchema::constraints_schema`] is what to check against, in any dialect that the model was shown.
pub trait ConstraintCheck: Send + Sync {
    /// Checks `answer`, a JSON text.
    ///
    /// # Errors
    ///
    /// [`AnswerError`] with [`AnswerFault::Constraint`](super::AnswerFault::Constraint) and the path
    /// of what is wrong.
    fn check(&self, schema: &AnswerSchema, answer: &[u8]) -> Result<(), AnswerError>;
}

/// Checks nothing more than reading does: types, names of fields, and how many routes are set. Lengths, ranges, patterns
/// and formats are then not enforced.
impl ConstraintCheck for () {
    fn check(&self, _schema: &AnswerSchema, _answer: &[u8]) -> Result<(), AnswerError> {
        Ok(())
    }
}
