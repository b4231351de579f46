//! Pruning, over definitions that refer to each other at random.

use std::collections::{BTreeMap, BTreeSet};

use proptest::collection::{btree_map, vec};
use proptest::prelude::{Just, Strategy, prop_oneof, proptest};
use proptest::prop_assert_eq;
use serde_json::{Value, json};

use crate::schema::definition::definitions;
use crate::schema::prune::prune;

/// A schema that refers to these definitions, each from another kind of place.
fn referring(names: &[usize], place: &str) -> Value {
    let references: Vec<Value> = names
        .iter()
        .map(|name| json!({ "$ref": format!("#/$defs/D%20{name}") }))
        .collect();
    match place {
        "properties" => {
            let properties: serde_json::Map<String, Value> = references
                .into_iter()
                .enumerate()
                .map(|(number, reference)| (format!("p{number}"), reference))
                .collect();
            json!({ "type": "object", "properties": properties })
        }
        "items" => json!({ "type": "array", "items": { "anyOf": references } }),
        keyword => json!({ keyword: references }),
    }
}

fn places() -> impl Strategy<Value = &'static str> {
    prop_oneof![
        Just("properties"),
        Just("items"),
        Just("anyOf"),
        Just("oneOf"),
        Just("allOf"),
        Just("prefixItems"),
    ]
}

type Graph = BTreeMap<usize, Vec<usize>>;

/// What can be reached, by the plainest way there is.
fn reachable(from: &[usize], graph: &Graph) -> BTreeSet<usize> {
    let mut reached: BTreeSet<usize> = from.iter().copied().collect();
    loop {
        let further: BTreeSet<usize> = reached
            .iter()
            .filter_map(|name| graph.get(name))
            .flatten()
            .copied()
            .collect();
        let before = reached.len();
        reached.extend(further);
        if reached.len() == before {
            return reached;
        }
    }
}

proptest! {
    #[test]
    fn what_is_reached_stays_and_nothing_else_does(
        root in vec(0..12_usize, 0..4),
        graph in btree_map(0..12_usize, vec(0..12_usize, 0..4), 0..12),
        place in places(),
    ) {
        let mut schema = referring(&root, place);
        let written: serde_json::Map<String, Value> = graph
            .iter()
            .map(|(name, names)| (format!("D {name}"), referring(names, place)))
            .collect();
        schema["$defs"] = written.clone().into();
        prune(&mut schema);
        let left: BTreeMap<String, Value> = definitions(&schema)
            .into_iter()
            .flatten()
            .map(|(name, definition)| (name.clone(), definition.clone()))
            .collect();
        let expected: BTreeMap<String, Value> = reachable(&root, &graph)
            .into_iter()
            .map(|name| format!("D {name}"))
            .filter_map(|name| Some((name.clone(), written.get(&name)?.clone())))
            .collect();
        prop_assert_eq!(left, expected);
    }
}
