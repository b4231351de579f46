//! A JSON Schema as it is to be obeyed: references followed, `allOf` joined.

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
    pub(crate) fn root(&self) -> Demands {
        self.demands(self.root)
    }

    /// The demands of a part of the schema.
    pub(crate) fn demands(&self, schema: &Value) -> Demands {
        self.joined(schema, MOST_HOPS)
    }

    fn joined(&self, schema: &Value, hops: usize) -> Demands {
        let Value::Object(schema) = schema else {
            return Demands::new();
        };
        if hops == 0 {
            return Demands::new();
        }
        let mut demands = schema.clone();
        let target = demands.remove("$ref");
        let parts = demands.remove("allOf");
        if let Some(target) = target.as_ref().and_then(|target| self.target(target)) {
            demands = joint(demands, self.joined(target, hops - 1));
        }
        if let Some(Value::Array(parts)) = parts {
            for part in &parts {
                demands = joint(demands, self.joined(part, hops - 1));
            }
        }
        demands
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
    pub(crate) fn without_null(&self, demands: &Demands) -> Demands {
        let mut demands = demands.clone();
        for keyword in ["anyOf", "oneOf"] {
            if let Some(Value::Array(variants)) = demands.get_mut(keyword) {
                variants.retain(|variant| variant.get("type") != Some(&json!("null")));
                if let [only] = variants.as_slice() {
                    let only = self.demands(only);
                    demands.remove(keyword);
                    return joint(demands, only);
                }
            }
        }
        if let Some(Value::Array(types)) = demands.get_mut("type") {
            types.retain(|name| name != "null");
        }
        demands
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

/// Whether a `type` keyword, a name or a list of names, has this name.
pub(crate) fn names_type(types: &Value, name: &str) -> bool {
    match types {
        Value::String(only) => only == name,
        Value::Array(names) => names.iter().any(|known| known == name),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => false,
    }
}

/// What satisfies both demands.
pub(crate) fn joint(mut left: Demands, right: Demands) -> Demands {
    for (keyword, demand) in right {
        match left.get_mut(&keyword) {
            None => {
                left.insert(keyword, demand);
            }
            Some(present) => join_keyword(&keyword, present, demand),
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
