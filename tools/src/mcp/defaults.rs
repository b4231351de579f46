//! What an answer leaves out that its form gives a default for.

use serde_json::Value;

/// The answer with the defaults of the form for what it does not have.
///
/// <https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation#requested-schema>
pub(super) fn filled_in(schema: &Value, mut answer: Value) -> Value {
    let fields = schema.get("properties").and_then(Value::as_object);
    if let (Some(fields), Some(answer)) = (fields, answer.as_object_mut()) {
        for (name, field) in fields {
            if let (Some(default), false) = (field.get("default"), answer.contains_key(name)) {
                answer.insert(name.clone(), default.clone());
            }
        }
    }
    answer
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::filled_in;

    #[test]
    fn what_is_left_out_has_its_default_and_what_is_said_stays() {
        let schema = json!({"properties": {
            "name": {"type": "string", "default": "Ada"},
            "age": {"type": "integer", "default": 36},
            "mail": {"type": "string"},
        }});
        let answer = filled_in(&schema, json!({"age": 7}));
        assert_eq!(answer, json!({"age": 7, "name": "Ada"}));
        assert_eq!(filled_in(&schema, json!(null)), json!(null));
    }
}
