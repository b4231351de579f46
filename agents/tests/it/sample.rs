//! Values that fit a schema.

use proptest::collection::vec;
use proptest::prelude::{BoxedStrategy, Just, Strategy, any};
use proptest::strategy::Union;
use serde_json::{Map, Value};

/// Any value that fits the property of this name, in a plain schema, and that keeps the rules which
/// its descriptions tell.
pub(crate) fn any_of_property(schema: &Value, property: &str) -> BoxedStrategy<Value> {
    let definitions = &schema["$defs"];
    any_value(&schema["properties"][property], definitions)
}

/// One value that fits the property of this name: the same one each time.
pub(crate) fn one_of_property(schema: &Value, property: &str) -> Value {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    any_of_property(schema, property)
        .new_tree(&mut runner)
        .unwrap()
        .current()
}

fn any_value(schema: &Value, definitions: &Value) -> BoxedStrategy<Value> {
    if let Some(reference) = schema["$ref"].as_str() {
        let name = reference.strip_prefix("#/$defs/").unwrap();
        return any_value(&definitions[name], definitions);
    }
    if let Some(value) = schema.get("const") {
        return Just(value.clone()).boxed();
    }
    if let Some(values) = schema["enum"].as_array() {
        return Union::new(values.iter().cloned().map(Just)).boxed();
    }
    for either in ["anyOf", "oneOf"] {
        if let Some(branches) = schema[either].as_array() {
            let branches = branches.iter().map(|branch| any_value(branch, definitions));
            return Union::new(branches).boxed();
        }
    }
    let name = &schema["type"];
    if let Some(types) = name.as_array() {
        let types = types.iter().map(|name| of_type(name, schema, definitions));
        return Union::new(types).boxed();
    }
    of_type(name, schema, definitions)
}

fn of_type(name: &Value, schema: &Value, definitions: &Value) -> BoxedStrategy<Value> {
    let description = schema["description"].as_str().unwrap_or_default();
    match name.as_str().unwrap() {
        "null" => Just(Value::Null).boxed(),
        "boolean" => any::<bool>().prop_map(Value::from).boxed(),
        "integer" => any::<u8>().prop_map(Value::from).boxed(),
        "string" if description.contains("not empty") => "\\PC{0,8}[a-z\"\\\\é]\\PC{0,8}"
            .prop_map(Value::from)
            .boxed(),
        "string" => "(?s).{0,16}".prop_map(Value::from).boxed(),
        "array" => {
            let least = usize::from(description.contains("at least one"));
            let entry = any_value(&schema["items"], definitions);
            vec(entry, least..4).prop_map(Value::from).boxed()
        }
        "object" => object(schema, definitions),
        other => panic!("no value of type {other}"),
    }
}

fn object(schema: &Value, definitions: &Value) -> BoxedStrategy<Value> {
    let required = schema["required"].as_array().cloned().unwrap_or_default();
    let fields: Vec<BoxedStrategy<Option<(String, Value)>>> = schema["properties"]
        .as_object()
        .unwrap()
        .iter()
        .map(|(name, property)| {
            let name = name.clone();
            let is_required = required.contains(&name.clone().into());
            let field =
                any_value(property, definitions).prop_map(move |value| (name.clone(), value));
            if is_required {
                field.prop_map(Some).boxed()
            } else {
                proptest::option::of(field).boxed()
            }
        })
        .collect();
    fields
        .prop_map(|fields| Value::Object(fields.into_iter().flatten().collect::<Map<_, _>>()))
        .boxed()
}
