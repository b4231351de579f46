//! What the providers publish about the schemas that they take.

use std::collections::BTreeSet;

use serde_json::Value;

type Verdict = Result<(), String>;

/// OpenAI's strict mode.
pub(super) fn openai(schema: &Value) -> Verdict {
    if schema["type"] != "object" || schema.get("anyOf").is_some() {
        return Err(
            "schema must be a JSON Schema of 'type: \"object\"' without 'anyOf' at its root"
                .to_owned(),
        );
    }
    let (mut properties, mut names, mut values) = (0, 0, 0);
    each(schema, "()", &mut |place, part| {
        let forbidden = [
            "allOf",
            "oneOf",
            "not",
            "if",
            "then",
            "else",
            "dependentRequired",
            "dependentSchemas",
            "patternProperties",
            "propertyNames",
            "unevaluatedProperties",
            "minProperties",
            "maxProperties",
            "uniqueItems",
            "contains",
            "prefixItems",
        ];
        forbid(place, part, &forbidden)?;
        if part.get("$ref").is_some() && part.as_object().is_some_and(|part| part.len() > 1) {
            return Err(format!("context={place}, $ref cannot have other keywords"));
        }
        closed(place, part)?;
        if let Some(object) = part.get("properties").and_then(Value::as_object) {
            let required: BTreeSet<&str> = strings(part.get("required")).collect();
            if let Some(missing) = object.keys().find(|name| !required.contains(name.as_str())) {
                return Err(format!(
                    "context={place}, 'required' must include every key. Missing '{missing}'."
                ));
            }
            properties += object.len();
            names += object.keys().map(String::len).sum::<usize>();
        }
        values += part
            .get("enum")
            .and_then(Value::as_array)
            .map_or(0, Vec::len);
        Ok(())
    })?;
    at_most("object properties", 5_000, properties)?;
    at_most("characters of names", 120_000, names)?;
    at_most("enum values", 1_000, values)?;
    at_most("levels of nesting", 10, depth(schema, schema, 0))
}

/// Anthropic's JSON outputs.
pub(super) fn anthropic(schema: &Value) -> Verdict {
    let (mut optional, mut unions) = (0, 0);
    each(schema, "()", &mut |place, part| {
        let forbidden = [
            "minimum",
            "maximum",
            "exclusiveMinimum",
            "exclusiveMaximum",
            "multipleOf",
            "minLength",
            "maxLength",
            "maxItems",
            "uniqueItems",
            "minProperties",
            "maxProperties",
            "patternProperties",
            "not",
            "if",
        ];
        forbid(place, part, &forbidden)?;
        if part.get("minItems").and_then(Value::as_u64).unwrap_or(0) > 1 {
            return Err(format!(
                "{place}: minItems other than 0 and 1 is not supported"
            ));
        }
        closed(place, part)?;
        if let Some(object) = part.get("properties").and_then(Value::as_object) {
            let required: BTreeSet<&str> = strings(part.get("required")).collect();
            optional += object
                .keys()
                .filter(|name| !required.contains(name.as_str()))
                .count();
        }
        let is_union = part.get("anyOf").is_some() || part.get("type").is_some_and(Value::is_array);
        unions += usize::from(is_union);
        Ok(())
    })?;
    if depth(schema, schema, 0) >= ENDLESS {
        return Err("Recursive schemas are not supported".to_owned());
    }
    at_most("optional parameters", 24, optional)?;
    at_most("parameters with union types", 16, unions)
}

/// Gemini's `responseJsonSchema`.
pub(super) fn gemini(schema: &Value) -> Verdict {
    let known = [
        "$id",
        "$defs",
        "$ref",
        "$anchor",
        "type",
        "format",
        "title",
        "description",
        "enum",
        "items",
        "prefixItems",
        "minItems",
        "maxItems",
        "minimum",
        "maximum",
        "anyOf",
        "oneOf",
        "properties",
        "additionalProperties",
        "required",
        "propertyOrdering",
        "default",
        "nullable",
    ];
    each(schema, "()", &mut |place, part| {
        let Some(object) = part.as_object() else {
            return Ok(());
        };
        if let Some(unknown) = object.keys().find(|name| !known.contains(&name.as_str())) {
            return Err(format!("{place}: unknown keyword \"{unknown}\""));
        }
        let beside_reference = object.keys().any(|name| !name.starts_with('$'));
        if object.contains_key("$ref") && beside_reference {
            return Err(format!(
                "{place}: only keywords with a $ may stand beside $ref"
            ));
        }
        if object.contains_key("anyOf")
            && object
                .keys()
                .any(|name| !matches!(name.as_str(), "anyOf" | "$defs"))
        {
            return Err(format!("{place}: any_of must be the only field set"));
        }
        match part.get("format").and_then(Value::as_str) {
            None | Some("date-time" | "date" | "time") => Ok(()),
            Some(format) => Err(format!("{place}: format \"{format}\" is not supported")),
        }
    })
}

/// Visits every schema within, definitions included.
fn each(schema: &Value, place: &str, visit: &mut dyn FnMut(&str, &Value) -> Verdict) -> Verdict {
    visit(place, schema)?;
    for keyword in ["properties", "$defs"] {
        for (name, child) in schema
            .get(keyword)
            .and_then(Value::as_object)
            .into_iter()
            .flatten()
        {
            each(child, &format!("{place}.{keyword}.{name}"), visit)?;
        }
    }
    for keyword in ["anyOf", "oneOf", "allOf", "prefixItems"] {
        let children = schema.get(keyword).and_then(Value::as_array);
        for (index, child) in children.into_iter().flatten().enumerate() {
            each(child, &format!("{place}.{keyword}.{index}"), visit)?;
        }
    }
    for keyword in ["items", "additionalProperties"] {
        if let Some(child) = schema.get(keyword).filter(|child| child.is_object()) {
            each(child, &format!("{place}.{keyword}"), visit)?;
        }
    }
    Ok(())
}

fn forbid(place: &str, part: &Value, forbidden: &[&str]) -> Verdict {
    match forbidden
        .iter()
        .find(|keyword| part.get(**keyword).is_some())
    {
        Some(keyword) => Err(format!("In context={place}, '{keyword}' is not permitted.")),
        None => Ok(()),
    }
}

/// Objects must say that they have no other fields.
fn closed(place: &str, part: &Value) -> Verdict {
    let is_object =
        part.get("properties").is_some() || strings(part.get("type")).any(|name| name == "object");
    if is_object && part.get("additionalProperties") != Some(&Value::Bool(false)) {
        return Err(format!(
            "In context={place}, 'additionalProperties' is required to be supplied and to be false."
        ));
    }
    Ok(())
}

fn strings(value: Option<&Value>) -> impl Iterator<Item = &str> {
    let one = value.and_then(Value::as_str);
    let many = value.and_then(Value::as_array).into_iter().flatten();
    one.into_iter().chain(many.filter_map(Value::as_str))
}

fn at_most(what: &str, limit: usize, found: usize) -> Verdict {
    if found > limit {
        return Err(format!(
            "Schema has {found} {what}, at most {limit} are allowed."
        ));
    }
    Ok(())
}

/// The depth at which a schema counts as recursive.
const ENDLESS: usize = 64;

/// How deep objects and lists lie within one another, references followed.
fn depth(root: &Value, part: &Value, above: usize) -> usize {
    if above >= ENDLESS {
        return above;
    }
    if let Some(target) = part.get("$ref").and_then(Value::as_str) {
        let target = target
            .strip_prefix('#')
            .and_then(|pointer| root.pointer(pointer));
        return target.map_or(above, |target| depth(root, target, above));
    }
    let is_level = part.get("properties").is_some() || part.get("items").is_some();
    let level = above + usize::from(is_level);
    let properties = part.get("properties").and_then(Value::as_object);
    let variants = part.get("anyOf").and_then(Value::as_array);
    let children = properties.into_iter().flat_map(|object| object.values());
    let children = children
        .chain(variants.into_iter().flatten())
        .chain(part.get("items"));
    children
        .map(|child| depth(root, child, level))
        .max()
        .unwrap_or(level)
}
