//! Counts over a schema with its references written out: depth, recursion, Anthropic's sums.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::{ANTHROPIC_OPTIONAL, ANTHROPIC_UNIONS, Report};
use crate::schema::definition::{definition_name, definitions, reference};
use crate::schema::walk;

/// Something that is added up over a schema and what it refers to.
trait Measure {
    type Sum: Copy + Default;

    /// The sum of a schema, from itself and those of what is within.
    fn sum(schema: &Value, within: &[Self::Sum]) -> Self::Sum;
}

/// Measures each definition once; a recursion ends at nothing.
fn measure<M: Measure>(schema: &Value) -> M::Sum {
    let none = Map::new();
    let definitions = definitions(schema).unwrap_or(&none);
    measure_within::<M>(schema, definitions, &mut BTreeMap::new())
}

fn measure_within<M: Measure>(
    schema: &Value,
    definitions: &Map<String, Value>,
    known: &mut BTreeMap<String, M::Sum>,
) -> M::Sum {
    let mut within = Vec::new();
    if let Some(name) = reference(schema).and_then(definition_name) {
        let sum = match (known.get(&name), definitions.get(&name)) {
            (Some(sum), _) => *sum,
            (None, Some(definition)) => {
                known.insert(name.clone(), M::Sum::default());
                let sum = measure_within::<M>(definition, definitions, known);
                known.insert(name, sum);
                sum
            }
            (None, None) => M::Sum::default(),
        };
        within.push(sum);
    }
    walk::children(schema, |_keyword, _place, child| {
        within.push(measure_within::<M>(child, definitions, known));
    });
    M::sum(schema, &within)
}

/// How deep objects and lists are nested.
struct Levels;

impl Measure for Levels {
    type Sum = usize;

    fn sum(schema: &Value, within: &[usize]) -> usize {
        let deepest = within.iter().copied().max().unwrap_or(0);
        let is_level = schema.get("properties").is_some() || schema.get("items").is_some();
        deepest + usize::from(is_level)
    }
}

/// Checks the depth of nesting.
pub(super) fn check_levels(schema: &Value, limit: usize, report: &mut Report) {
    report.limit("levels of nesting", limit, measure::<Levels>(schema), "#");
}

/// Anthropic's optional parameters, and those with unions.
struct OptionalParameters;

impl Measure for OptionalParameters {
    type Sum = (usize, usize);

    fn sum(schema: &Value, within: &[(usize, usize)]) -> (usize, usize) {
        let properties = schema.get("properties").and_then(Value::as_object);
        let optional = properties.map_or(0, |properties| {
            properties
                .keys()
                .filter(|name| !is_required(schema, name))
                .count()
        });
        let is_union = schema.get("anyOf").is_some()
            || schema
                .get("type")
                .and_then(Value::as_array)
                .is_some_and(|types| types.len() > 1);
        within.iter().fold(
            (optional, usize::from(is_union)),
            |(optional, unions), (more_optional, more_unions)| {
                // A schema that refers to itself twice at each of many levels has no end of them.
                (
                    optional.saturating_add(*more_optional),
                    unions.saturating_add(*more_unions),
                )
            },
        )
    }
}

/// Checks the sums of optional and of union parameters.
pub(super) fn check_options(schema: &Value, report: &mut Report) {
    let (optional, unions) = measure::<OptionalParameters>(schema);
    report.limit(
        "optional parameters in all",
        ANTHROPIC_OPTIONAL,
        optional,
        "#",
    );
    report.limit("union parameters in all", ANTHROPIC_UNIONS, unions, "#");
}

/// Which references make a recursion.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Edges {
    /// All of them.
    All,
    /// Only those that are not within an optional property.
    Required,
}

/// Checks that no definition refers to itself, also by way of others.
pub(super) fn check_recursion(schema: &Value, edges: Edges, report: &mut Report) {
    let none = Map::new();
    let definitions = definitions(schema).unwrap_or(&none);
    for name in definitions.keys() {
        let mut open = referred(definitions.get(name), edges);
        let mut seen = Vec::new();
        while let Some(next) = open.pop() {
            if !seen.contains(&next) {
                open.extend(referred(definitions.get(&next), edges));
                seen.push(next);
            }
        }
        if seen.contains(name) {
            report.forbid("recursions", &format!("#/$defs/{name}"));
        }
    }
}

fn referred(schema: Option<&Value>, edges: Edges) -> Vec<String> {
    let mut names = Vec::new();
    let mut open: Vec<&Value> = schema.into_iter().collect();
    while let Some(schema) = open.pop() {
        names.extend(reference(schema).and_then(definition_name));
        walk::children(schema, |keyword, place, child| {
            let is_optional = keyword == "properties"
                && place
                    .strip_prefix("properties/")
                    .is_some_and(|name| !is_required(schema, name));
            if edges == Edges::All || !is_optional {
                open.push(child);
            }
        });
    }
    names
}

fn is_required(schema: &Value, name: &str) -> bool {
    schema
        .get("required")
        .and_then(Value::as_array)
        .is_some_and(|required| {
            required
                .iter()
                .any(|required| required.as_str() == Some(name))
        })
}
