//! What is optional: left out, or null, or both.

use serde_json::{Map, Value};

use super::simple::lift_only_branch;
use crate::schema::Dialect;
use crate::schema::walk::children_mut;

type Object = Map<String, Value>;

/// Says of each property how it is left unset.
///
/// OpenAI's strict mode requires every property; an optional one is null instead. One that has a
/// default and takes no null is required as it is, for reading would refuse the null. Anthropic and
/// Gemini leave optional properties out, which costs no union.
pub(super) fn settle_options(schema: &mut Value, dialect: Dialect) {
    children_mut(schema, |child| settle_options(child, dialect));
    let Value::Object(object) = schema else {
        return;
    };
    if dialect == Dialect::OpenAiStrict {
        require_all(object);
    } else {
        leave_out_nulls(object);
    }
}

fn require_all(object: &mut Object) {
    if let Some(Value::Object(properties)) = object.get("properties") {
        let names: Vec<Value> = properties.keys().map(|name| name.as_str().into()).collect();
        object.insert("required".to_owned(), names.into());
    }
}

fn leave_out_nulls(object: &mut Object) {
    let required = match object.get("required") {
        Some(Value::Array(required)) => required.clone(),
        _ => Vec::new(),
    };
    if let Some(Value::Object(properties)) = object.get_mut("properties") {
        for (name, property) in properties.iter_mut() {
            let is_required = required
                .iter()
                .any(|required| required.as_str() == Some(name));
            if let (false, Value::Object(property)) = (is_required, property) {
                drop_null(property);
            }
        }
    }
}

/// Takes null out of what a schema allows, unless it allows nothing else.
fn drop_null(object: &mut Object) {
    if let Some(Value::Array(types)) = object.get_mut("type")
        && types.len() > 1
    {
        types.retain(|kind| kind != "null");
        if let [only] = types.as_slice() {
            let only = only.clone();
            object.insert("type".to_owned(), only);
        }
        if let Some(Value::Array(constants)) = object.get_mut("enum") {
            constants.retain(|constant| !constant.is_null());
        }
    }
    if let Some(Value::Array(branches)) = object.get_mut("anyOf")
        && branches.len() > 1
    {
        branches.retain(|branch| branch.get("type").and_then(Value::as_str) != Some("null"));
        lift_only_branch(object);
    }
}
