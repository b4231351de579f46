//! The arguments of calls: read strictly, checked against the tool's schema, and written in one form only.

use interrupt_router::answer::read_strictly;
use interrupts::{Misfit, SchemaError, ValueSchema};
use serde_json::{Map, Value};

/// Why arguments are refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the arguments do not fit at {path}: {reason}")]
pub struct ArgumentsError {
    /// Where, in the form `$.a.b[2]`.
    pub path: String,
    /// What is wrong there.
    pub reason: String,
}

/// A tool's schema, made ready.
#[derive(Debug)]
pub(crate) struct ArgumentsSchema(ValueSchema);

impl ArgumentsSchema {
    pub(crate) fn compile(schema: &Value) -> Result<Self, SchemaError> {
        ValueSchema::compile(schema).map(Self)
    }

    pub(crate) fn check(&self, arguments: &Value) -> Result<(), ArgumentsError> {
        let fits = self.0.check(arguments);
        fits.map_err(|Misfit { path, reason, .. }| ArgumentsError { path, reason })
    }
}

/// Whether arguments fit the schema of a tool.
///
/// # Errors
///
/// In words, which place does not fit and why, or that the schema is none.
pub fn check_arguments(schema: &Value, arguments: &Value) -> Result<(), String> {
    let schema = ArgumentsSchema::compile(schema).map_err(|error| error.to_string())?;
    schema.check(arguments).map_err(|error| error.to_string())
}

/// Reads what a model wrote. Nothing at all is an object without members, as some models mean it; a member that is
/// given twice is refused, because it is unclear which of the two a person has approved.
pub(crate) fn read(text: &str) -> Result<Value, ArgumentsError> {
    if text.trim().is_empty() {
        return Ok(Value::Object(Map::new()));
    }
    read_strictly(text.as_bytes()).map_err(|error| ArgumentsError {
        path: error.path().to_owned(),
        reason: format!("they are no JSON that can be used: {}", error.reason()),
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use interrupts::canonical_json as canonical;

    use super::{ArgumentsSchema, read};

    fn value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            "[a-c\"\\\\ \n]{0,3}".prop_map(Value::from),
        ];
        leaf.prop_recursive(3, 20, 4, |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                proptest::collection::vec(("[a-d]", inner), 0..4)
                    .prop_map(|members| Value::Object(members.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn values_have_one_form_each_and_read_back_from_it(first in value(), second in value()) {
            prop_assert_eq!(read(&canonical(&first)).unwrap(), first.clone());
            prop_assert_eq!(canonical(&first) == canonical(&second), first == second);
        }
    }

    #[test]
    fn the_order_of_members_makes_no_difference() {
        let (one, other) = (
            read(r#"{"a":1,"b":{"c":2,"d":3}}"#),
            read(r#"{"b":{"d":3,"c":2},"a":1}"#),
        );
        assert_eq!(canonical(&one.unwrap()), canonical(&other.unwrap()));
    }

    #[test]
    fn what_is_no_strict_json_is_refused_with_its_reason() {
        for (text, reason) in [
            (
                r#"{"command":"ls","command":"rm"}"#,
                "`command` stands twice",
            ),
            (r#"{"a":[{"b":1,"b":1}]}"#, "`b` stands twice"),
            (r#"{"a":"#, "EOF"),
            (r#"{} {}"#, "trailing"),
        ] {
            let error = read(text).unwrap_err();
            assert!(error.reason.contains(reason), "{text}: {error}");
        }
        assert_eq!(read(" ").unwrap(), json!({}));
    }

    #[test]
    fn a_misfit_is_told_with_its_path() {
        let schema = json!({"type": "object", "properties": {"edits": {"items": {"type": "object",
            "properties": {"line": {"type": "integer"}}}}}});
        let schema = ArgumentsSchema::compile(&schema).unwrap();
        let error = schema
            .check(&json!({"edits": [{"line": 1}, {"line": "two"}]}))
            .unwrap_err();
        assert_eq!(error.path, "$.edits[1].line");
        assert!(error.reason.contains("integer"), "{error}");
    }
}
