//! Integers as JSON Schema defines them: `7.0` and `7e0` are the integer 7, which integer parsers do not know.

use serde::de::DeserializeOwned;
use serde_json::{Number, Value};

/// Below this every whole number has a float of its own.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// Reads a value; if that fails, with its whole numbers written as integers.
///
/// # Errors
///
/// Why it cannot be read in either form.
pub(crate) fn from_value<T: DeserializeOwned>(value: Value) -> Result<T, serde_json::Error> {
    if !has_whole_floats(&value) {
        return serde_json::from_value(value);
    }
    serde_json::from_value(value.clone())
        .or_else(|_error| serde_json::from_value(with_integers(value)))
}

/// Whether any of its numbers is whole and written as a float.
pub(super) fn has_whole_floats(value: &Value) -> bool {
    match value {
        Value::Number(number) => whole(number).is_some(),
        Value::Array(items) => items.iter().any(has_whole_floats),
        Value::Object(members) => members.values().any(has_whole_floats),
        Value::Null | Value::Bool(_) | Value::String(_) => false,
    }
}

/// The same value, each of its whole numbers as an integer.
pub(super) fn with_integers(value: Value) -> Value {
    match value {
        Value::Number(number) => whole(&number).map_or(Value::Number(number), Value::from),
        Value::Array(items) => items.into_iter().map(with_integers).collect(),
        Value::Object(members) => members
            .into_iter()
            .map(|(name, value)| (name, with_integers(value)))
            .collect(),
        Value::Null | Value::Bool(_) | Value::String(_) => value,
    }
}

/// The integer that a float is.
fn whole(number: &Number) -> Option<i64> {
    let float = number.as_f64().filter(|_float| number.is_f64())?;
    (float.fract() == 0.0 && float.abs() < EXACT).then_some(float as i64)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{from_value, has_whole_floats, with_integers};

    #[test]
    fn whole_numbers_become_integers_and_others_stay() {
        let given = json!({"a": 7.0, "b": [1e2, 1.5, -0.0], "c": 1e300, "d": "1.0", "e": 3});
        let expected = json!({"a": 7, "b": [100, 1.5, 0], "c": 1e300, "d": "1.0", "e": 3});
        assert_eq!(with_integers(given), expected);
        assert!(!has_whole_floats(&expected));
    }

    #[test]
    fn what_can_be_read_as_it_is_stays_as_it_is() {
        let read: Value = from_value(json!({"a": 7.0})).unwrap();
        assert_eq!(read.to_string(), r#"{"a":7.0}"#);
        assert_eq!(from_value::<u32>(json!(7.0)).unwrap(), 7);
        assert!(from_value::<u32>(json!(7.5)).is_err() && from_value::<u32>(json!(-7.0)).is_err());
    }
}
