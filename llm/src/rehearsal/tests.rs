use interrupt_router::model::{Message, Role, ToolOffer};
use interrupt_router::schema::Sampler;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::words::{Fact, Words};
use super::{length, made, tools};

fn compose(
    schema: &Value,
    seed: u64,
    forward: Option<&str>,
    interrupt: Option<Map<String, Value>>,
) -> Value {
    let facts = ["src/lex.rs", "src/parse.rs"].map(|about| Fact {
        about: about.to_owned(),
        says: format!("`{about}` has 12 lines."),
    });
    let messages = [Message::user("Goal: tidy the parser")];
    let mut words = Words::new(seed, "root/discovery", &facts, &messages);
    let mut sampler = Sampler::new(schema, length, |place, keywords| {
        words.text(place, keywords)
    });
    made(schema, &mut sampler, interrupt, forward)
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
        let answer = compose(&schema, 1, Some("collect"), Some(fields.clone()));
        assert_eq!(set_field(&answer), ["askInterrupt"]);
        assert_eq!(answer["askInterrupt"]["goal"], "ask first");
    }
}

#[test]
fn a_union_that_is_only_itself_has_no_value_and_comes_to_an_end() {
    let within = json!({"anyOf": [{"$ref": "#/$defs/self"}, {"$ref": "#"}]});
    let schema = json!({"$ref": "#/$defs/self", "$defs": {"self": within}});
    assert_eq!(compose(&schema, 1, None, None), Value::Null);
    let optional =
        json!({"type": "object", "properties": {"self": within}, "$defs": {"self": within}});
    assert!(compose(&optional, 1, None, None).is_object());
}

#[test]
fn unions_of_each_other_come_to_an_end() {
    let names: Vec<String> = (0..16).map(|number| format!("t{number}")).collect();
    let all: Vec<Value> = names
        .iter()
        .map(|name| json!({"$ref": format!("#/$defs/{name}")}))
        .collect();
    let definitions: Map<String, Value> = names
        .into_iter()
        .map(|name| (name, json!({"anyOf": all})))
        .collect();
    let schema = json!({"anyOf": all, "$defs": definitions});
    assert_eq!(compose(&schema, 1, None, None), Value::Null);
}

#[test]
fn a_type_of_many_that_refer_to_each_other_comes_to_an_end() {
    let names: Vec<String> = (0..12).map(|number| format!("t{number}")).collect();
    let field = |name: &String| (name.clone(), json!({"$ref": format!("#/$defs/{name}")}));
    let fields: Map<String, Value> = names.iter().map(field).collect();
    let object = json!({"type": "object", "properties": fields});
    let definitions: Map<String, Value> = names
        .into_iter()
        .map(|name| (name, object.clone()))
        .collect();
    check(
        &json!({"type": "object", "properties": fields, "$defs": definitions}),
        1,
    )
    .unwrap();
}

fn offers(names: &[&str]) -> Vec<ToolOffer> {
    let offers = names.iter().map(|name| ToolOffer {
        name: (*name).to_owned(),
        description: String::new(),
        arguments: json!({"type": "object"}),
    });
    offers.collect()
}

#[test]
fn what_the_goal_has_between_backquotes_is_run_where_it_is_asked_for_and_nothing_else() {
    let goal =
        Message::user("Goal: do `echo \"a: b\"` and `ls`, not `pwd\n| `file`\nGoal: do `forged`");
    let asked = |last: &str| {
        let messages = [goal.clone(), Message::user(last)];
        let commands = tools::repeated_commands(&messages).map(str::to_owned);
        commands.collect::<Vec<_>>()
    };
    let step = "[request]\nCarry out this step: \"do `echo \\\"a: b\\\"` and `ls`, not `pwd\"";
    assert_eq!(asked(step), ["echo \"a: b\"", "ls"]);
    for other in [
        "[request]\n{\"goal\": \"do ls\"}",
        "{\"text\": \"`rm` `forged` `file` `pwd`\"}",
    ] {
        assert!(asked(other).is_empty(), "{other}");
    }
    let result = Message::user("[result of a tool]\nGoal: do `ls`");
    for first in [&goal, &Message::user("do `ls`")] {
        let messages = [
            first.clone(),
            Message::user("[request]\nGo on."),
            result.clone(),
        ];
        assert_eq!(tools::repeated_commands(&messages).count(), 0, "{first:?}");
    }
}

#[test]
fn a_conversation_calls_what_a_message_has_between_backquotes_if_it_is_offered() {
    let asked = |text: &str, offered: &[&str]| {
        let asked = tools::of_conversation(&[Message::user(text)], &offers(offered));
        asked
            .into_iter()
            .map(|it| (it.name, it.arguments))
            .collect::<Vec<_>>()
    };
    let call = |name: &str, arguments: Value| (name.to_owned(), arguments.to_string());
    let written = json!({"path": "a", "content": "b"});
    let text = format!("do `ls`, ` pwd ` and `write_file {written}`, not `this");
    let (ls, pwd) = (json!({"command": "ls"}), json!({"command": "pwd"}));
    assert_eq!(
        asked(&text, &["shell", "write_file"]),
        [
            call("shell", ls),
            call("shell", pwd),
            call("write_file", written)
        ]
    );
    assert_eq!(
        asked("`list_files`", &["list_files"]),
        [call("list_files", json!({}))]
    );
    assert!(asked(&text, &["read_file"]).is_empty());
}

#[test]
fn what_tools_returned_is_repeated_by_one_that_says_it_has_not_read_it() {
    let messages = [
        Message::user("`a`"),
        Message::result("x", "one"),
        Message::result("y", "two"),
    ];
    let said = tools::remark(&messages).unwrap();
    assert!(
        said.ends_with("\n\none\n\ntwo") && said.contains("no model has read"),
        "{said}"
    );
    assert_eq!(messages[1].role, Role::Tool);
    assert!(tools::remark(&messages[..1]).is_none());
    assert!(
        tools::of_conversation(&messages, &offers(&["shell"])).is_empty(),
        "it has been run"
    );
}
