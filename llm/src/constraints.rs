//! The constraints of a schema, checked by a JSON Schema validator.

use std::collections::HashMap;
use std::fmt::{self, Debug};
use std::sync::{Arc, Mutex, PoisonError};

use interrupt_router::answer::{AnswerError, AnswerFault, ConstraintCheck};
use interrupt_router::schema::AnswerSchema;
use interrupts::ValueSchema;
use serde_json::Value;

/// How many compiled schemas are kept before all are thrown away: fixed schemas are far fewer, and
/// those that are made at run time must not pile up.
const MOST_KEPT: usize = 256;

/// Checks answers against every constraint of their schemas: lengths, ranges, patterns, formats.
///
/// References are never fetched from anywhere.
#[derive(Default)]
pub struct JsonSchemaConstraints {
    compiled: Mutex<HashMap<Value, Arc<ValueSchema>>>,
}

impl Debug for JsonSchemaConstraints {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("JsonSchemaConstraints")
            .finish_non_exhaustive()
    }
}

impl JsonSchemaConstraints {
    /// A check that has compiled nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    fn ready(&self, schema: &Value) -> Result<Arc<ValueSchema>, AnswerError> {
        let mut compiled = self.compiled.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(ready) = compiled.get(schema) {
            return Ok(Arc::clone(ready));
        }
        let ready = ValueSchema::compile(schema);
        let ready = Arc::new(ready.map_err(|error| fault("$", error.to_string()))?);
        if compiled.len() >= MOST_KEPT {
            compiled.clear();
        }
        compiled.insert(schema.clone(), Arc::clone(&ready));
        Ok(ready)
    }
}

impl ConstraintCheck for JsonSchemaConstraints {
    fn check(&self, schema: &AnswerSchema, answer: &[u8]) -> Result<(), AnswerError> {
        let schema = self.ready(schema.constraints_schema())?;
        let answer: Value = serde_json::from_slice(answer)
            .map_err(|error| AnswerError::new(AnswerFault::Syntax, "$", error.to_string()))?;
        let checked = schema.check(&answer);
        checked.map_err(|misfit| fault(&misfit.path, misfit.reason))
    }
}

fn fault(path: &str, reason: impl Into<String>) -> AnswerError {
    AnswerError::new(AnswerFault::Constraint, path, reason)
}
