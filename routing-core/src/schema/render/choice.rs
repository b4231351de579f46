//! A record as a choice of its routes.

use serde_json::{Value, json};

/// If exactly one property may be set, says so by a union: an object with that one property, for each of them. A
/// grammar cannot limit how many properties are set.
pub(super) fn of_routes(schema: &mut Value) {
    let one = json!(1);
    let Value::Object(root) = schema else {
        return;
    };
    if root.get("minProperties") != Some(&one) || root.get("maxProperties") != Some(&one) {
        return;
    }
    let Some(Value::Object(properties)) = root.shift_remove("properties") else {
        return;
    };
    for keyword in [
        "minProperties",
        "maxProperties",
        "additionalProperties",
        "type",
    ] {
        root.shift_remove(keyword);
    }
    let branches: Vec<Value> = properties
        .into_iter()
        .map(|(name, property)| {
            json!({
                "type": "object",
                "properties": { (&name): property },
                "required": [name],
                "additionalProperties": false,
            })
        })
        .collect();
    root.insert("anyOf".to_owned(), branches.into());
}
