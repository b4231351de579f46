//! Whether values fit JSON Schemas that are known only as data: those of tools, of edited requests.

use jsonschema::error::ValidationErrorKind;
use jsonschema::{ValidationError, Validator};
use serde_json::Value;

/// The most characters of a validator's words that are passed on.
const LONGEST_REASON: usize = 300;

/// A place of a value that does not fit.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{path}: {reason}")]
pub struct Misfit {
    /// Where, in the form `$.a.b[2]`.
    pub path: String,
    /// Where, as a JSON pointer.
    pub pointer: String,
    /// What is wrong there. The value itself is not in it.
    pub reason: String,
}

/// Why a schema cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the schema cannot be used: {reason}")]
pub struct SchemaError {
    reason: String,
}

/// A schema, made ready.
#[derive(Debug)]
pub struct ValueSchema {
    validator: Validator,
}

impl ValueSchema {
    /// Makes a schema ready. References are never fetched from anywhere.
    ///
    /// # Errors
    ///
    /// [`SchemaError`] if it is not a schema.
    pub fn compile(schema: &Value) -> Result<Self, SchemaError> {
        let validator = jsonschema::options()
            .should_validate_formats(true)
            .should_ignore_unknown_formats(true)
            .build(schema)
            .map_err(|error| SchemaError {
                reason: error.to_string(),
            })?;
        Ok(Self { validator })
    }

    /// Whether a value fits.
    ///
    /// # Errors
    ///
    /// The first [`Misfit`].
    pub fn check(&self, value: &Value) -> Result<(), Misfit> {
        self.validator
            .validate(value)
            .map_err(|error| misfit(&error, value))
    }

    /// What does not fit, at most so many places.
    pub fn misfits(&self, value: &Value, most: usize) -> Vec<Misfit> {
        let errors = self.validator.iter_errors(value).take(most);
        errors.map(|error| misfit(&error, value)).collect()
    }
}

fn misfit(error: &ValidationError<'_>, value: &Value) -> Misfit {
    let telling = deepest(error);
    let pointer = telling.instance_path().as_str();
    Misfit {
        path: path(pointer, value),
        pointer: pointer.to_owned(),
        reason: short(&telling.masked_with("the value").to_string()),
    }
}

/// Of the errors of a choice, such as between a value and null, the one that lies deepest: it is in the variant that
/// was meant.
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
    let depth = |error: &ValidationError<'_>| error.instance_path().segments().count();
    variants
        .iter()
        .filter_map(|errors| errors.first())
        .map(deepest)
        .max_by_key(|inner| depth(inner))
        .filter(|inner| depth(inner) > depth(error))
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

/// `/a/b/2` in the form `$.a.b[2]`; only the value knows whether `2` is an index or a name.
fn path(pointer: &str, value: &Value) -> String {
    let mut path = "$".to_owned();
    let mut at = Some(value);
    for token in pointer.split('/').skip(1) {
        let name = token.replace("~1", "/").replace("~0", "~");
        match at {
            Some(Value::Array(items)) => {
                path.push_str(&format!("[{name}]"));
                at = name.parse().ok().and_then(|index: usize| items.get(index));
            }
            other => {
                path.push_str(&format!(".{name}"));
                at = other.and_then(|value| value.get(&name));
            }
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::ValueSchema;

    #[test]
    fn a_misfit_is_told_with_its_place_and_without_the_value() {
        let line = json!({"type": "object", "properties": {"line": {"type": "integer"}}});
        let schema = json!({"type": "object", "properties": {
            "edits": {"items": {"anyOf": [line, {"type": "null"}]}}, "at": {"format": "date-time"}}});
        let schema = ValueSchema::compile(&schema).unwrap();
        let value = json!({"edits": [{"line": 1}, {"line": "secret"}], "at": "noon"});
        let found = schema.misfits(&value, 20);
        let places: Vec<_> = found.iter().map(|misfit| &*misfit.pointer).collect();
        assert_eq!(places, ["/edits/1/line", "/at"]);
        let first = schema.check(&value).unwrap_err();
        assert_eq!(first.path, "$.edits[1].line");
        assert!(first.reason.contains("integer"), "{first}");
        assert!(!first.reason.contains("secret"), "{first}");
        assert_eq!(schema.check(&json!({"edits": [null]})), Ok(()));
    }

    #[test]
    fn what_is_no_schema_is_refused() {
        let error = ValueSchema::compile(&json!({"type": "number of lines"})).unwrap_err();
        assert!(error.to_string().contains("the schema cannot be used"));
    }
}
