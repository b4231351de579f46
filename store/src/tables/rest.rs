//! What a stored row has that this program does not know: another version of it wrote the row.

use std::collections::BTreeMap;

use serde_json::Value;

/// The fields of a stored row that are unknown here, to be written back with it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Rest {
    /// A field that is unknown itself.
    Unknown(Value),
    /// Fields that have something unknown in them.
    Fields(BTreeMap<String, Rest>),
    /// Elements of a list that have something unknown in them, each with what is known of it. A list may have
    /// changed when it is written again, so its elements are found by that.
    Elements(Vec<(Value, Rest)>),
}

impl Rest {
    /// What a stored value has beyond what is known of it; `None` where that is nothing.
    pub(crate) fn of(stored: Value, known: &Value) -> Option<Self> {
        match (stored, known) {
            (Value::Object(stored), Value::Object(known)) => {
                let fields: BTreeMap<_, _> = stored
                    .into_iter()
                    .filter_map(|(name, value)| {
                        let rest = match known.get(&name) {
                            Some(known) => Self::of(value, known),
                            None => Some(Self::Unknown(value)),
                        };
                        rest.map(|rest| (name, rest))
                    })
                    .collect();
                (!fields.is_empty()).then_some(Self::Fields(fields))
            }
            (Value::Array(stored), Value::Array(known)) if stored.len() == known.len() => {
                let elements: Vec<_> = stored
                    .into_iter()
                    .zip(known)
                    .filter_map(|(stored, known)| {
                        Self::of(stored, known).map(|rest| (known.clone(), rest))
                    })
                    .collect();
                (!elements.is_empty()).then_some(Self::Elements(elements))
            }
            _ => None,
        }
    }

    /// Puts it back beside what is known. If both have a value, the known one wins.
    pub(crate) fn merge_into(&self, known: &mut Value) {
        match (self, known) {
            (Self::Fields(fields), Value::Object(known)) => {
                for (name, rest) in fields {
                    match (known.get_mut(name), rest) {
                        (Some(inner), rest) => rest.merge_into(inner),
                        (None, Self::Unknown(value)) => {
                            known.insert(name.clone(), value.clone());
                        }
                        // What it belonged to is gone.
                        (None, Self::Fields(_) | Self::Elements(_)) => {}
                    }
                }
            }
            (Self::Elements(elements), Value::Array(known)) => {
                for (element, rest) in elements {
                    if let Some(inner) = known.iter_mut().find(|inner| *inner == element) {
                        rest.merge_into(inner);
                    }
                }
            }
            (Self::Unknown(_) | Self::Fields(_) | Self::Elements(_), _) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::Rest;

    fn merged(stored: Value, known: &Value, mut changed: Value) -> Value {
        if let Some(rest) = Rest::of(stored, known) {
            rest.merge_into(&mut changed);
        }
        changed
    }

    #[test]
    fn what_is_known_entirely_has_no_rest() {
        let row = json!({"a": 1, "b": [{"c": null}]});
        assert_eq!(Rest::of(row.clone(), &row), None);
    }

    #[test]
    fn unknown_fields_survive_at_any_depth_and_known_ones_are_the_new_ones() {
        let stored =
            json!({"a": 1, "new": [7], "in": {"b": 1, "deep": true}, "gone": {"b": 1, "x": 2}});
        let known = json!({"a": 1, "in": {"b": 1}, "gone": {"b": 1}});
        let changed = json!({"a": 2, "in": {"b": 2}, "also": 3});
        assert_eq!(
            merged(stored, &known, changed),
            json!({"a": 2, "in": {"b": 2, "deep": true}, "also": 3, "new": [7]})
        );
    }

    #[test]
    fn elements_keep_theirs_wherever_they_stand_in_the_list() {
        let stored = json!([{"id": 1, "x": "one"}, {"id": 2, "x": "two"}]);
        let known = json!([{"id": 1}, {"id": 2}]);
        let changed = json!([{"id": 3}, {"id": 2}]);
        assert_eq!(
            merged(stored, &known, changed),
            json!([{"id": 3}, {"id": 2, "x": "two"}])
        );
    }
}
