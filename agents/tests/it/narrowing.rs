//! What is left of a record when it is narrowed, and that nothing else is read.

use std::collections::BTreeSet;

use agents::catalogue::{RecordKind, SchemaError, SchemaQuery, schema};
use agents::records::InterruptRouting;
use agents::{AgentKind, RouteType};
use interrupt_router::answer::{AnswerFault, read_within};
use interrupt_router::schema::Dialect;
use interrupt_router::{AgentType, InterruptRoutes, RouteId, RouteSet, Routing};
use serde_json::{Value, json};

use crate::rows::rows;
use crate::sample::one_of_property;

fn full() -> &'static Value {
    schema(
        InterruptRouting::NAME,
        &SchemaQuery::new(Dialect::JsonSchema),
    )
    .unwrap()
    .value()
}

fn answer(route: RouteId<InterruptRouting>) -> Value {
    json!({ (route.field()): one_of_property(full(), route.field()) })
}

fn routes() -> impl Iterator<Item = RouteId<InterruptRouting>> {
    RouteSet::ALL.iter()
}

#[test]
fn an_answer_with_another_route_is_refused_with_its_path() {
    let mut refused = 0;
    for origin in routes() {
        for other in routes() {
            let text = answer(other).to_string();
            let read = read_within(text.as_bytes(), RouteSet::only(origin));
            if origin == other {
                assert_eq!(read.unwrap().into_one().unwrap().0, origin);
                continue;
            }
            let error = read.unwrap_err();
            assert_eq!(error.fault(), AnswerFault::RouteNotAllowed, "{error}");
            assert_eq!(error.path(), format!("$.{}", other.field()));
            refused += 1;
        }
    }
    assert_eq!(refused, 14 * 13);
}

#[test]
fn an_answer_with_a_second_route_beside_the_right_one_is_refused() {
    for origin in routes() {
        for other in routes().filter(|other| *other != origin) {
            let mut both = answer(origin);
            both[other.field()] = answer(other)[other.field()].clone();
            let error = read_within::<InterruptRouting>(
                both.to_string().as_bytes(),
                RouteSet::only(origin),
            )
            .unwrap_err();
            assert_eq!(error.path(), format!("$.{}", other.field()), "{error}");
        }
    }
}

#[test]
fn a_narrowed_schema_has_one_required_property_and_takes_no_other() {
    for target in RouteType::ALL {
        let query = SchemaQuery {
            reroute_to: Some(*target),
            ..SchemaQuery::new(Dialect::JsonSchema)
        };
        let schema = schema(InterruptRouting::NAME, &query).unwrap().value();
        let field = InterruptRouting::route_to(*target).field();
        let properties: Vec<&String> = schema["properties"].as_object().unwrap().keys().collect();
        assert_eq!(properties, [field]);
        assert_eq!(schema["required"], json!([field]));
        assert_eq!(schema["additionalProperties"], json!(false));
    }
}

#[test]
fn the_event_wins_over_the_origin() {
    for origin in AgentKind::ALL {
        for target in RouteType::ALL {
            let alone = SchemaQuery {
                reroute_to: Some(*target),
                ..SchemaQuery::new(Dialect::JsonSchema)
            };
            let both = SchemaQuery {
                origin: Some(*origin),
                ..alone
            };
            let [alone, both] =
                [alone, both].map(|query| schema(InterruptRouting::NAME, &query).unwrap());
            assert!(std::ptr::eq(alone, both), "{origin} to {target}");
        }
    }
}

#[test]
fn a_schema_defines_what_it_reaches_and_nothing_else() {
    for dialect in Dialect::ALL {
        for row in rows(dialect) {
            let schema = row.schema().value();
            let defined: BTreeSet<String> = match schema.get("$defs") {
                Some(definitions) => definitions.as_object().unwrap().keys().cloned().collect(),
                None => BTreeSet::new(),
            };
            assert_eq!(
                reached(schema),
                defined,
                "{dialect} {} {}",
                row.record.name,
                row.name
            );
        }
    }
}

/// The names that are referred to from the root, also by way of definitions.
fn reached(schema: &Value) -> BTreeSet<String> {
    let mut root = schema.clone();
    root.as_object_mut().unwrap().shift_remove("$defs");
    let mut reached = BTreeSet::new();
    let mut open = names(&root);
    while let Some(name) = open.pop() {
        if reached.insert(name.clone()) {
            open.extend(names(&schema["$defs"][&name]));
        }
    }
    reached
}

fn names(schema: &Value) -> Vec<String> {
    match schema {
        Value::Object(object) => object
            .iter()
            .flat_map(|(key, value)| match (key.as_str(), value) {
                ("$ref", Value::String(reference)) => {
                    vec![reference.strip_prefix("#/$defs/").unwrap().to_owned()]
                }
                _ => names(value),
            })
            .collect(),
        Value::Array(values) => values.iter().flat_map(names).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Vec::new(),
    }
}

#[test]
fn every_schema_is_one_of_draft_2020_12() {
    for row in rows(Dialect::JsonSchema) {
        let schema = row.schema().value();
        let checked = jsonschema::draft202012::meta::validate(schema);
        assert!(
            checked.is_ok(),
            "{} {}: {checked:?}",
            row.record.name,
            row.name
        );
    }
}

#[test]
fn of_the_return_routes_the_callers_alone_is_left() {
    let mut seen = 0;
    for row in rows(Dialect::JsonSchema) {
        let Some(caller) = row.query.caller else {
            continue;
        };
        let properties = row.schema().value()["properties"].as_object().unwrap();
        let left: Vec<&str> = row
            .record
            .returns()
            .filter(|route| properties.contains_key(route.field))
            .filter_map(|route| route.agent_type)
            .collect();
        assert_eq!(left, [caller.name()], "{}", row.record.name);
        let others = row.record.routes.iter().filter(|route| !route.returns);
        for other in others {
            assert!(properties.contains_key(other.field), "{}", other.field);
        }
        seen += 1;
    }
    assert_eq!(seen, 4 + 4 + 13);
}

#[test]
fn a_situation_that_means_nothing_to_a_record_is_refused() {
    let plain = SchemaQuery::new(Dialect::JsonSchema);
    let unknown = schema("OrchestratorRoutin", &plain).unwrap_err();
    assert!(
        unknown
            .to_string()
            .starts_with("unknown record `OrchestratorRoutin`; known are: InterruptRouting, Orch"),
        "{unknown}"
    );
    let rerouted = SchemaQuery {
        reroute_to: Some(RouteType::ReviewAgent),
        ..plain
    };
    assert!(matches!(
        schema("OrchestratorRouting", &rerouted),
        Err(SchemaError::NoInterruptAnswer { .. })
    ));
    let called = SchemaQuery {
        caller: Some(RouteType::ContextManager),
        ..plain
    };
    let error = schema("ReviewRouting", &called).unwrap_err();
    assert_eq!(
        error.to_string(),
        "`ReviewRouting` has no route back to CONTEXT_MANAGER; callers are: \
         ORCHESTRATOR_COLLECTOR, DISCOVERY_COLLECTOR, PLANNING_COLLECTOR, TICKET_COLLECTOR"
    );
}

#[test]
fn every_record_of_an_agent_names_one_kind_and_every_kind_has_one() {
    let kinds: BTreeSet<AgentKind> = agents::catalogue::records()
        .iter()
        .filter_map(|record| match record.kind {
            RecordKind::AgentAnswer(kind) => Some(kind),
            RecordKind::InterruptAnswer | RecordKind::ReviewDecision => None,
        })
        .collect();
    assert!(kinds.iter().eq(AgentKind::ALL), "{kinds:?}");
}
