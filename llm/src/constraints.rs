//! The constraints of a schema, checked by a JSON Schema validator.

use std::collections::HashMap;
use std::fmt::{self, Debug};
use std::sync::{Arc, Mutex, PoisonError};

use jsonschema::error::ValidationErrorKind;
use jsonschema::{ValidationError, Validator};
use routing_core::answer::{AnswerError, AnswerFault, ConstraintCheck};
use routing_core::schema::AnswerSchema;
use serde_json::Value;

/// How many compiled schemas are kept before all are thrown away: fixed schemas are far fewer, and
/// those that are made at run time must not pile up.
const MOST_KEPT: usize = 256;

/// The most characters of a validator's words that are passed on to the model.
const LONGEST_REASON: usize = 300;

/// Checks answers against every constraint of their schemas: lengths, ranges, patterns, formats.
///
/// References are never fetched from anywhere.
#[derive(Default)]
pub struct JsonSchemaConstraints {
    compiled: Mutex<HashMap<Value, Arc<Validator>>>,
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

    fn validator(&self, schema: &Value) -> Result<Arc<Validator>, AnswerError> {
        let mut compiled = self.compiled.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(validator) = compiled.get(schema) {
            return Ok(Arc::clone(validator));
        }
        let validator = jsonschema::options()
            .should_validate_formats(true)
            .should_ignore_unknown_formats(true)
            .build(schema)
            .map_err(|error| fault("$", format!("the schema itself cannot be used: {error}")))?;
        let validator = Arc::new(validator);
        if compiled.len() >= MOST_KEPT {
            compiled.clear();
        }
        compiled.insert(schema.clone(), Arc::clone(&validator));
        Ok(validator)
    }
}

impl ConstraintCheck for JsonSchemaConstraints {
    fn check(&self, schema: &AnswerSchema, answer: &[u8]) -> Result<(), AnswerError> {
        let validator = self.validator(schema.constraints_schema())?;
        let answer: Value = serde_json::from_slice(answer)
            .map_err(|error| AnswerError::new(AnswerFault::Syntax, "$", error.to_string()))?;
        match validator.validate(&answer) {
            Ok(()) => Ok(()),
            Err(error) => {
                let telling = deepest(&error);
                let place = path(telling.instance_path().as_str(), &answer);
                Err(fault(
                    &place,
                    short(&telling.masked_with("the value").to_string()),
                ))
            }
        }
    }
}

fn fault(path: &str, reason: String) -> AnswerError {
    AnswerError::new(AnswerFault::Constraint, path, reason)
}

/// Of the errors of a choice, such as between a value and null, the one that lies deepest: it is in
/// the variant that was meant.
fn deepest<'e, 'i>(error: &'e ValidationError<'i>) -> &'e ValidationError<'i> {
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "only choices have errors within them, whatever kinds are added"
    )]
    let variants = match error.kind() {
        ValidationErrorKind::AnyOf { context } | ValidationErrorKind::OneOfNotValid { context } => {
            context
        }
        _ => return error,
    };
    variants
        .iter()
        .filter_map(|errors| errors.first())
        .map(deepest)
        .max_by_key(|inner| inner.instance_path().segments().count())
        .filter(|inner| {
            inner.instance_path().segments().count() > error.instance_path().segments().count()
        })
        .or_else(|| not_about_null(variants))
        .unwrap_or(error)
}

/// The error of the only variant that is not just "is no null".
fn not_about_null<'e, 'i>(
    variants: &'e [Vec<ValidationError<'i>>],
) -> Option<&'e ValidationError<'i>> {
    let mut others = variants
        .iter()
        .filter_map(|errors| errors.first())
        .filter(|error| !matches!(error.kind(), ValidationErrorKind::Type { .. }));
    let only = others.next()?;
    others.next().is_none().then(|| deepest(only))
}

/// `/a/b/2` in the form `$.a.b[2]`; only the answer knows whether `2` is an index or a name.
fn path(pointer: &str, answer: &Value) -> String {
    let mut path = "$".to_owned();
    let mut at = Some(answer);
    for token in pointer.split('/').skip(1) {
        let name = token.replace("~1", "/").replace("~0", "~");
        if at.is_some_and(Value::is_array) {
            path.push_str(&format!("[{name}]"));
            at = at.and_then(|list| list.get(name.parse::<usize>().ok()?));
        } else {
            path.push('.');
            path.push_str(&name);
            at = at.and_then(|object| object.get(&name));
        }
    }
    path
}

fn short(text: &str) -> String {
    let mut short: String = text.chars().take(LONGEST_REASON).collect();
    if short.len() < text.len() {
        short.push('\u{2026}');
    }
    short
}
