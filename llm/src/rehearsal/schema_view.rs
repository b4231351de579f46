//! A JSON Schema as it is to be obeyed: references followed, `allOf` joined.

use std::borrow::Cow;
use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

/// How many references and joins are followed for one value before the schema counts as empty.
const MOST_HOPS: usize = 32;

/// A schema and the root that its references point into.
#[derive(Debug)]
pub(crate) struct SchemaView<'a> {
    root: &'a Value,
}

/// One schema with everything that it demands at its top.
pub(crate) type Demands = Map<String, Value>;

impl<'a> SchemaView<'a> {
    pub(crate) fn new(root: &'a Value) -> Self {
        Self { root }
    }

    /// The demands of the whole schema.
    pub(crate) fn root(&self) -> Cow<'a, Demands> {
        self.demands(self.root)
    }

    /// The demands of a part of the schema: the part itself, or what it refers to, where nothing has to be joined.
    pub(crate) fn demands<'v>(&self, schema: &'v Value) -> Cow<'v, Demands>
    where
        'a: 'v,
    {
        self.joined(schema, MOST_HOPS)
    }

    fn joined<'v>(&self, schema: &'v Value, hops: usize) -> Cow<'v, Demands>
    where
        'a: 'v,
    {
        let (Value::Object(schema), 1..) = (schema, hops) else {
            return Cow::Owned(Demands::new());
        };
        let target = schema.get("$ref").and_then(|target| self.target(target));
        let parts = schema.get("allOf").and_then(Value::as_array);
        match (target, parts) {
            (Some(target), None) if schema.len() == 1 => return self.joined(target, hops - 1),
            (None, None) if !schema.contains_key("$ref") && !schema.contains_key("allOf") => {
                return Cow::Borrowed(schema);
            }
            _ => {}
        }
        let mut demands = schema.clone();
        demands.remove("$ref");
        demands.remove("allOf");
        for part in target.into_iter().chain(parts.into_iter().flatten()) {
            demands = joint(demands, &self.joined(part, hops - 1));
        }
        Cow::Owned(demands)
    }

    /// What a reference within the schema points to.
    fn target(&self, reference: &Value) -> Option<&'a Value> {
        let pointer = reference.as_str()?.strip_prefix('#')?;
        self.root.pointer(pointer)
    }

    /// Whether nothing can satisfy the schema.
    pub(crate) fn is_impossible(schema: &Value) -> bool {
        *schema == Value::Bool(false)
    }

    /// Whether null satisfies the demands.
    pub(crate) fn takes_null(&self, demands: &Demands) -> bool {
        if let Some(constant) = demands.get("const") {
            return constant.is_null();
        }
        if let Some(Value::Array(values)) = demands.get("enum") {
            return values.iter().any(Value::is_null);
        }
        if let Some(types) = demands.get("type") {
            return names_type(types, "null");
        }
        match variants(demands) {
            Some(variants) => variants
                .iter()
                .any(|variant| self.takes_null(&self.demands(variant))),
            None => demands.is_empty(),
        }
    }

    /// The demands without the null that they also take, and without the choice that it was in.
    pub(crate) fn without_null<'d>(&self, demands: &'d Demands) -> Cow<'d, Demands>
    where
        'a: 'd,
    {
        let choice = variants(demands);
        if choice.is_none() && !demands.get("type").is_some_and(Value::is_array) {
            return Cow::Borrowed(demands);
        }
        if let (Some(choice), 1) = (choice, demands.len()) {
            let mut telling = choice.iter().filter(|variant| !is_null(variant));
            if let (Some(only), None) = (telling.next(), telling.next()) {
                return self.demands(only);
            }
        }
        let mut demands = demands.clone();
        for keyword in ["anyOf", "oneOf"] {
            if let Some(Value::Array(variants)) = demands.get_mut(keyword) {
                variants.retain(|variant| !is_null(variant));
                if let [only] = variants.as_slice() {
                    let only = self.demands(only).into_owned();
                    demands.remove(keyword);
                    return Cow::Owned(joint(demands, &only));
                }
            }
        }
        if let Some(Value::Array(types)) = demands.get_mut("type") {
            types.retain(|name| name != "null");
        }
        Cow::Owned(demands)
    }

    /// How deep the smallest value of a schema is; `None` where there is no end to it.
    pub(crate) fn least_depth(&self, schema: &Value) -> Option<usize> {
        self.depth_within(schema, &mut BTreeSet::new())
    }

    fn depth_within(&self, schema: &Value, above: &mut BTreeSet<String>) -> Option<usize> {
        let reference = schema.get("$ref").and_then(Value::as_str);
        if let Some(reference) = reference
            && !above.insert(reference.to_owned())
        {
            return None;
        }
        let demands = self.demands(schema);
        let depth = self.depth_of(&demands, above);
        if let Some(reference) = reference {
            above.remove(reference);
        }
        depth
    }

    fn depth_of(&self, demands: &Demands, above: &mut BTreeSet<String>) -> Option<usize> {
        if let Some(variants) = variants(demands) {
            return variants
                .iter()
                .filter_map(|variant| self.depth_within(variant, above))
                .min();
        }
        let mut deepest = 0;
        for name in required(demands) {
            if let Some(property) = property(demands, name) {
                deepest = deepest.max(1 + self.depth_within(property, above)?);
            }
        }
        let wants_items = demands.get("minItems").and_then(Value::as_u64) > Some(0);
        if let (true, Some(items)) = (wants_items, demands.get("items")) {
            deepest = deepest.max(1 + self.depth_within(items, above)?);
        }
        Some(deepest)
    }
}

/// The variants of which one is to be chosen.
pub(crate) fn variants(demands: &Demands) -> Option<&Vec<Value>> {
    ["oneOf", "anyOf"]
        .iter()
        .find_map(|keyword| demands.get(*keyword).and_then(Value::as_array))
}

/// The names that must be there.
pub(crate) fn required(demands: &Demands) -> impl Iterator<Item = &str> {
    demands
        .get("required")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
}

/// The schema of a property.
pub(crate) fn property<'d>(demands: &'d Demands, name: &str) -> Option<&'d Value> {
    demands.get("properties")?.get(name)
}

/// Whether a variant of a choice is null and nothing else.
pub(crate) fn is_null(variant: &Value) -> bool {
    variant.get("type").and_then(Value::as_str) == Some("null")
}

/// Whether a `type` keyword, a name or a list of names, has this name.
pub(crate) fn names_type(types: &Value, name: &str) -> bool {
    match types {
        Value::String(only) => only == name,
        Value::Array(names) => names.iter().any(|known| known == name),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => false,
    }
}

/// What satisfies both demands.
pub(crate) fn joint(mut left: Demands, right: &Demands) -> Demands {
    for (keyword, demand) in right {
        match left.get_mut(keyword) {
            None => {
                left.insert(keyword.clone(), demand.clone());
            }
            Some(present) => join_keyword(keyword, present, demand.clone()),
        }
    }
    left
}

fn join_keyword(keyword: &str, present: &mut Value, demand: Value) {
    match keyword {
        "properties" => {
            if let (Value::Object(present), Value::Object(demand)) = (present, demand) {
                for (name, schema) in demand {
                    match present.remove(&name) {
                        Some(other) if other != schema => {
                            present.insert(name, json!({ "allOf": [other, schema] }));
                        }
                        _ => {
                            present.insert(name, schema);
                        }
                    }
                }
            }
        }
        "required" => {
            if let (Value::Array(present), Value::Array(demand)) = (present, demand) {
                present.extend(demand);
            }
        }
        "enum" | "type" => keep_common(present, &demand),
        "minimum" | "exclusiveMinimum" | "minLength" | "minItems" | "minProperties" => {
            *present = outer(present, demand, |demand, present| demand > present);
        }
        "maximum" | "exclusiveMaximum" | "maxLength" | "maxItems" | "maxProperties" => {
            *present = outer(present, demand, |demand, present| demand < present);
        }
        "items" => {
            let other = std::mem::take(present);
            *present = json!({ "allOf": [other, demand] });
        }
        "additionalProperties" | "uniqueItems" if present.is_boolean() => {
            let strict = if keyword == "uniqueItems" {
                json!(true)
            } else {
                json!(false)
            };
            if demand == strict {
                *present = strict;
            }
        }
        _ => {}
    }
}

/// The stricter of two bounds.
fn outer(present: &Value, demand: Value, stricter: fn(f64, f64) -> bool) -> Value {
    match (demand.as_f64(), present.as_f64()) {
        (Some(new), Some(old)) if !stricter(new, old) => present.clone(),
        _ => demand,
    }
}

fn keep_common(present: &mut Value, demand: &Value) {
    let listed = |value: &Value| {
        value
            .as_array()
            .cloned()
            .unwrap_or_else(|| vec![value.clone()])
    };
    let demanded = listed(demand);
    let mut common: Vec<Value> = listed(present)
        .into_iter()
        .filter(|value| demanded.contains(value))
        .collect();
    // Every integer is a number.
    if common.is_empty()
        && (listed(present).contains(&json!("integer")) || demanded.contains(&json!("integer")))
    {
        common.push(json!("integer"));
    }
    *present = Value::Array(common);
}
