//! The table of a record's schemas.

use std::collections::BTreeSet;

use expect_test::{Expect, expect};
use serde_json::{Map, Value};

use super::sample::{
    BackToReviewRoute, BoundRoute, ReviewRequest, ReviewRoute, SampleRouting, TicketsRoute,
};
use crate::schema::definition::definitions;
use crate::schema::prune::reached;
use crate::{Route, RouteId, RouteSet, Routing};

use crate::schema::{AnswerSchema, Dialect, check_limits};

fn every_schema() -> Vec<&'static AnswerSchema> {
    let table = SampleRouting::schemas();
    let mut schemas = Vec::new();
    for dialect in Dialect::ALL {
        schemas.push(table.full(dialect));
        for route in RouteSet::<SampleRouting>::ALL.iter() {
            schemas.push(table.narrowed(route, dialect));
            schemas.push(table.returning(route, dialect));
        }
    }
    schemas
}

#[track_caller]
fn check(schema: &AnswerSchema, expected: Expect) {
    expected.assert_eq(schema.text());
}

#[test]
fn a_narrowed_schema_has_one_required_property_and_what_it_reaches() {
    check(
        ReviewRoute::schema(Dialect::JsonSchema),
        expect![[
            r##"{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","properties":{"reviewRequest":{"$ref":"#/$defs/ReviewRequest","description":"Asks for a review."}},"required":["reviewRequest"],"additionalProperties":false,"$defs":{"ReviewRequest":{"type":"object","properties":{"content":{"type":"string","description":"What to look at."},"criteria":{"type":["string","null"]},"urgency":{"$ref":"#/$defs/Urgency"}},"required":["content","urgency"],"description":"What a reviewer is asked.","additionalProperties":false},"Urgency":{"oneOf":[{"type":"string","enum":["High"]},{"type":"string","const":"Low","description":"It can wait."}],"description":"How urgent it is."}}}"##
        ]],
    );
    check(
        ReviewRoute::schema(Dialect::OpenAiStrict),
        expect![[
            r##"{"type":"object","properties":{"reviewRequest":{"description":"Asks for a review.\nWhat a reviewer is asked.","type":"object","properties":{"content":{"type":"string","description":"What to look at."},"criteria":{"type":["string","null"]},"urgency":{"$ref":"#/$defs/Urgency"}},"required":["content","criteria","urgency"],"additionalProperties":false}},"required":["reviewRequest"],"additionalProperties":false,"$defs":{"Urgency":{"description":"How urgent it is.\nLow: It can wait.","type":"string","enum":["High","Low"]}}}"##
        ]],
    );
}

#[test]
fn the_full_schema_has_every_route_and_allows_one() {
    let full = SampleRouting::schemas().full(Dialect::JsonSchema);
    let names: Vec<&String> = full.value()["properties"]
        .as_object()
        .unwrap()
        .keys()
        .collect();
    assert_eq!(names, RouteSet::<SampleRouting>::ALL.fields());
    assert_eq!(full.value()["minProperties"], 1);
    assert_eq!(full.value()["maxProperties"], 1);
    assert_eq!(full.value()["additionalProperties"], false);
    assert_eq!(full.value().get("required"), None);
    assert_eq!(full.value()["description"], "Where to go on.");
}

#[test]
fn a_caller_keeps_its_own_return_route_alone() {
    let table = SampleRouting::schemas();
    let returning = table.returning(BackToReviewRoute::id(), Dialect::JsonSchema);
    let names: Vec<&String> = returning.value()["properties"]
        .as_object()
        .unwrap()
        .keys()
        .collect();
    assert_eq!(
        names,
        [
            "reviewRequest",
            "ticketRequests",
            "boundRequest",
            "backToReview"
        ]
    );
    assert_eq!(returning.name(), "SampleRouting_for_backToReview");
    let no_caller = table.returning(ReviewRoute::id(), Dialect::JsonSchema);
    assert_eq!(no_caller, table.full(Dialect::JsonSchema));
}

#[test]
fn looking_up_twice_gives_the_same_bytes_at_the_same_place() {
    let first = TicketsRoute::schema(Dialect::Gemini);
    let second = TicketsRoute::schema(Dialect::Gemini);
    assert!(std::ptr::eq(first, second));
}

#[test]
fn every_definition_is_reached_and_there_is_one_for_each_reference() {
    for schema in every_schema() {
        let none = Map::new();
        let definitions = definitions(schema.value()).unwrap_or(&none);
        let there: BTreeSet<String> = definitions.keys().cloned().collect();
        let reached = reached(schema.value(), definitions);
        assert_eq!(there, reached, "{} {}", schema.name(), schema.dialect());
    }
}

#[test]
fn a_narrowed_schema_does_not_know_the_other_routes() {
    for dialect in Dialect::ALL {
        let text = ReviewRoute::schema(dialect).text();
        for other in ["Ticket", "BoundRequest", "boundRequest", "backToReview"] {
            assert!(!text.contains(other), "{dialect}: {other} in {text}");
        }
    }
}

#[test]
fn names_are_what_providers_take() {
    for schema in every_schema() {
        let name = schema.name();
        assert!((1..=64).contains(&name.len()), "{name}");
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
        assert!(name.bytes().all(plain), "{name}");
    }
    assert_eq!(
        ReviewRoute::schema(Dialect::Gemini).name(),
        "SampleRouting_reviewRequest"
    );
    let odd = AnswerSchema::from_type::<ReviewRequest>(&"ä b".repeat(40), Dialect::JsonSchema);
    assert_eq!(odd.name().len(), 64);
    let none = AnswerSchema::from_type::<ReviewRequest>("", Dialect::JsonSchema);
    assert_eq!(none.name(), "answer");
    assert!(odd.name().starts_with("__b__b"));
}

#[test]
fn only_what_types_do_not_enforce_is_a_constraint() {
    let has = |route: RouteId<SampleRouting>| {
        SampleRouting::schemas()
            .narrowed(route, Dialect::OpenAiStrict)
            .has_constraints()
    };
    assert!(!has(ReviewRoute::id()));
    assert!(!has(TicketsRoute::id()));
    assert!(has(BoundRoute::id()));
    let bound = BoundRoute::schema(Dialect::Anthropic);
    let length = "/$defs/BoundRequest/properties/short/maxLength";
    assert_eq!(bound.value().pointer(length), None);
    assert_eq!(
        bound.constraints_schema().pointer(length),
        Some(&Value::from(3))
    );
}

#[test]
fn only_recursive_and_map_routes_break_limits() {
    for dialect in Dialect::ALL {
        for route in [ReviewRoute::id(), BoundRoute::id()] {
            let schema = SampleRouting::schemas().narrowed(route, dialect);
            assert_eq!(check_limits(schema), [], "{dialect}: {}", schema.text());
        }
    }
    let rules: Vec<&str> = check_limits(TicketsRoute::schema(Dialect::Anthropic))
        .iter()
        .map(|violation| violation.rule)
        .collect();
    assert_eq!(rules, ["objects that take any property", "recursions"]);
}

#[test]
fn an_unset_route_is_null_in_openai_and_left_out_elsewhere() {
    let table = SampleRouting::schemas();
    let openai = table.full(Dialect::OpenAiStrict).value();
    assert_eq!(
        openai["required"].as_array().unwrap().len(),
        SampleRouting::ROUTES.len()
    );
    let either = openai["properties"]["reviewRequest"]["anyOf"]
        .as_array()
        .unwrap();
    assert_eq!(either.last(), Some(&serde_json::json!({ "type": "null" })));
    for dialect in [Dialect::Anthropic, Dialect::Gemini] {
        let full = table.full(dialect).value();
        assert_eq!(full.get("required"), None, "{dialect}");
        let review = &full["properties"]["reviewRequest"];
        assert_eq!(review["type"], "object", "{dialect}");
        assert_eq!(
            review["description"], "Asks for a review.\nWhat a reviewer is asked.",
            "{dialect}"
        );
    }
}
