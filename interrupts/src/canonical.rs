//! JSON in one form only.

use serde_json::Value;

/// The one text of a value: members sorted by name, no space.
pub fn canonical_json(value: &Value) -> String {
    match value {
        Value::Object(members) => {
            let mut members: Vec<_> = members.iter().collect();
            members.sort_by_key(|(name, _value)| *name);
            let members = members.into_iter();
            let members: Vec<String> = members
                .map(|(name, value)| {
                    format!("{}:{}", Value::from(name.as_str()), canonical_json(value))
                })
                .collect();
            format!("{{{}}}", members.join(","))
        }
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(canonical_json).collect();
            format!("[{}]", items.join(","))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.to_string(),
    }
}
