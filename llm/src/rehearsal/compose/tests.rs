use interrupt_router::model::{Message, ModelCaller, Purpose};
use interrupt_router::{NodeId, RunId};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::Composer;
use crate::rehearsal::heard::Heard;
use crate::rehearsal::random::Random;
use crate::rehearsal::words::{Fact, Words};

fn compose(
    schema: &Value,
    seed: u64,
    forward: Option<&str>,
    interrupt: Option<&Map<String, Value>>,
) -> Value {
    let caller = ModelCaller {
        run: RunId::generate(),
        node: NodeId::new("root/discovery").unwrap(),
        agent_type: "DISCOVERY_COLLECTOR",
        purpose: Purpose::Step,
        turn: 1,
        correction: 0,
    };
    let heard = Heard::of(&[Message::user("Goal: tidy the parser")]);
    let facts = ["src/lex.rs", "src/parse.rs"].map(|about| Fact {
        about: about.to_owned(),
        says: format!("`{about}` has 12 lines."),
    });
    let mut random = Random::for_caller(seed, &caller);
    let words = Words::new(&facts, &heard, &mut random);
    let mut composer = Composer {
        schema,
        heard: &heard,
        caller: &caller,
        words,
        random,
    };
    composer.answer(forward, interrupt)
}

fn check(schema: &Value, seed: u64) -> Result<(), TestCaseError> {
    let answer = compose(schema, seed, None, None);
    // What files say between backquotes would be run.
    prop_assert!(!answer.to_string().contains('`'), "{answer}");
    let validator = jsonschema::validator_for(schema).unwrap();
    let fits = validator.validate(&answer);
    let fails = |error| TestCaseError::fail(format!("{error}\n{schema}\n{answer}"));
    fits.map_err(fails)
}

fn leaf() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(json!({"type": "string"})),
        Just(json!({"type": "boolean"})),
        Just(json!({"type": "null"})),
        Just(json!({"type": ["string", "null"]})),
        Just(json!({"$ref": "#/$defs/tree"})),
        Just(json!({"$ref": "#/$defs/chain"})),
        Just(json!({})),
        Just(json!(true)),
        (0_u8..40, 0_u8..40).prop_map(
            |(least, more)| json!({"type": "string", "minLength": least, "maxLength": least + more})
        ),
        Just(json!({"type": "string", "pattern": "^[A-Z]{2,4}-[0-9]+$"})),
        (any::<i32>(), any::<u16>()).prop_map(|(least, more)| {
            json!({"type": "integer", "minimum": least, "maximum": i64::from(least) + i64::from(more)})
        }),
        (any::<i32>(), 1_u16..).prop_map(|(above, more)| {
            json!({"type": "integer", "exclusiveMinimum": above,
                "exclusiveMaximum": i64::from(above) + i64::from(more) + 1})
        }),
        (-1e6..1e6_f64, 0.0..1e3_f64)
            .prop_map(|(least, more)| json!({"type": "number", "minimum": least, "maximum": least + more})),
        (1_u8..50).prop_map(|step| json!({"type": "integer", "multipleOf": step, "minimum": 7})),
        prop::collection::vec("[a-z]{1,6}", 1..5).prop_map(|values| json!({"enum": values})),
        any::<i16>().prop_map(|constant| json!({"const": constant})),
        prop::collection::vec(any::<u8>(), 1..4).prop_map(|mut values| {
            values.dedup();
            json!({"type": "integer", "enum": values})
        }),
    ]
}

fn schema() -> impl Strategy<Value = Value> {
    leaf().prop_recursive(4, 48, 5, |inner| {
        prop_oneof![
            (
                prop::collection::btree_map("[a-z]{1,8}", (inner.clone(), any::<bool>()), 0..5),
                any::<bool>()
            )
                .prop_map(|(fields, open)| {
                    let required: Vec<&String> = fields
                        .iter()
                        .filter(|(_, (_, must))| *must)
                        .map(|(name, _)| name)
                        .collect();
                    let properties: Map<String, Value> = fields
                        .iter()
                        .map(|(name, (schema, _))| (name.clone(), schema.clone()))
                        .collect();
                    json!({"type": "object", "properties": properties, "required": required,
                        "additionalProperties": open})
                }),
            (inner.clone(), 0_u8..3, 0_u8..3).prop_map(|(items, least, more)| {
                json!({"type": "array", "items": items, "minItems": least, "maxItems": least + more})
            }),
            prop::collection::vec(inner.clone(), 1..4).prop_map(|variants| json!({"anyOf": variants})),
            inner.clone().prop_map(|schema| json!({"anyOf": [schema, {"type": "null"}]})),
            inner.clone().prop_map(|schema| json!({"allOf": [schema, {"description": "x"}]})),
            (inner.clone(), 0_u8..4).prop_map(|(values, least)| {
                json!({"type": "object", "additionalProperties": values, "minProperties": least})
            }),
            (inner.clone(), inner).prop_map(|(left, right)| json!({"oneOf": [
                {"type": "object", "properties": {"kind": {"const": "left"}, "value": left},
                    "required": ["kind", "value"], "additionalProperties": false},
                {"type": "object", "properties": {"kind": {"const": "right"}, "value": right},
                    "required": ["kind"], "additionalProperties": false}]})),
        ]
    })
}

proptest! {
    #[test]
    fn every_answer_satisfies_its_schema(schema in schema(), seed: u64) {
        let schema = json!({
            "$ref": "#/$defs/start",
            "$defs": {
                "start": schema,
                "tree": {"type": "object", "required": ["children"], "properties": {
                    "children": {"type": "array", "items": {"$ref": "#/$defs/tree"}}}},
                "chain": {"type": "object", "required": ["next"], "properties": {
                    "next": {"anyOf": [{"$ref": "#/$defs/chain"}, {"type": "string"}]}}},
            },
        });
        check(&schema, seed)?;
    }
}

const ROUTE: &str = r#"{"type": "object", "properties": {"goal": {"type": "string"}},
    "required": ["goal"], "additionalProperties": false}"#;

/// The same record as each dialect writes it.
fn record(names: &[&str]) -> Vec<Value> {
    let route: Value = serde_json::from_str(ROUTE).unwrap();
    let nullable = json!({"anyOf": [route, {"type": "null"}]});
    let of = |schema: &Value| -> Map<String, Value> {
        let entry = |name: &&str| ((*name).to_owned(), schema.clone());
        names.iter().map(entry).collect()
    };
    let only =
        |name: &&str| json!({"type": "object", "properties": {*name: route}, "required": [name]});
    vec![
        json!({"type": "object", "properties": of(&nullable), "additionalProperties": false}),
        json!({"type": "object", "properties": of(&nullable), "required": names,
            "additionalProperties": false}),
        json!({"type": "object", "properties": of(&route)}),
        json!({"anyOf": names.iter().map(only).collect::<Vec<_>>()}),
        json!({"$ref": "#/$defs/record", "$defs": {"record": {"type": "object",
            "properties": of(&json!({"anyOf": [{"$ref": "#/$defs/route"}, {"type": "null"}]}))},
            "route": route}}),
    ]
}

fn set_field(answer: &Value) -> Vec<&str> {
    let object = answer.as_object().unwrap();
    let set = object.iter().filter(|(_, value)| !value.is_null());
    set.map(|(name, _)| name.as_str()).collect()
}

#[test]
fn one_route_is_set_in_every_dialect_and_none_that_raises_an_interrupt_of_its_own_accord() {
    for (names, forward, set) in [
        (&["askInterrupt", "collect", "context"][..], None, "collect"),
        (
            &["askInterrupt", "collect", "context"],
            Some("context"),
            "context",
        ),
        (&["publish", "askInterrupt"], Some("elsewhere"), "publish"),
    ] {
        for schema in record(names) {
            check(&schema, 1).unwrap();
            let answer = compose(&schema, 1, forward, None);
            assert_eq!(set_field(&answer), [set], "{schema}");
        }
    }
}

#[test]
fn the_first_value_of_an_enumeration_is_taken_in_both_of_its_forms() {
    let names = ["GO_ON", "GO_BACK", "STOP"];
    let constants = names.map(|name| json!({"const": name, "description": "a decision"}));
    for decision in [json!({"enum": names}), json!({"oneOf": constants})] {
        let schema = json!({"type": "object", "properties": {"decision": decision}});
        assert_eq!(
            compose(&schema, 1, None, None)["decision"],
            "GO_ON",
            "{schema}"
        );
    }
}

#[test]
fn an_interrupt_that_is_asked_for_has_the_given_fields() {
    let fields = Map::from_iter([("goal".to_owned(), json!("ask first"))]);
    for schema in record(&["collect", "askInterrupt"]) {
        let answer = compose(&schema, 1, Some("collect"), Some(&fields));
        assert_eq!(set_field(&answer), ["askInterrupt"]);
        assert_eq!(answer["askInterrupt"]["goal"], "ask first");
    }
}

#[test]
fn of_the_return_fields_the_one_home_is_set() {
    let back = json!({"anyOf": [{"type": "object", "properties": {}}, {"type": "null"}]});
    let schema = json!({"type": "object", "properties": {
        "content": {"type": "string"},
        "returnToOrchestratorCollector": back, "returnToDiscoveryCollector": back,
    }});
    let answer = compose(&schema, 1, None, None);
    assert!(answer.get("returnToDiscoveryCollector").is_some());
    assert!(answer.get("returnToOrchestratorCollector").is_none());
}
