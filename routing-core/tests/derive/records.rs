//! Routing records: markers, sets, mapping, JSON, schema, extraction.

use interrupt_router::{
    InterruptRoutes, OneRouteError, Route, RouteId, RouteSet, Routing, RoutingKind,
};
use schemars::schema_for;
use serde_json::json;

use super::workflow::{
    Batch, GoalRequest, InterruptRouting, InterruptRoutingReviewRequestRoute, OrchestratorRoute,
    OrchestratorRouting, OrchestratorRoutingFinalRoute, OrchestratorRoutingReviewRequestRoute,
    RouteType, Ticket, TicketRoute, goal,
};

type ReviewRoute = InterruptRoutingReviewRequestRoute;

fn none() -> InterruptRouting {
    InterruptRouting {
        orchestrator_request: None,
        review_request: None,
        ticket_agent_requests: None,
    }
}

#[test]
fn markers_have_no_size_and_know_their_route() {
    assert_eq!(size_of::<OrchestratorRoute>(), 0);
    assert_eq!(
        (ReviewRoute::NAME, ReviewRoute::FIELD, ReviewRoute::INDEX),
        ("InterruptRoutingReviewRequestRoute", "review", 1)
    );
    assert_eq!(ReviewRoute::AGENT_TYPE, RouteType::ReviewAgent);
    assert_eq!(
        OrchestratorRoutingReviewRequestRoute::AGENT_TYPE,
        RouteType::ReviewAgent
    );
}

#[test]
fn sets_of_routes_are_constants() {
    const UP: RouteSet<InterruptRouting> = RouteSet::of::<OrchestratorRoute>();
    const UP_OR_BACK: RouteSet<InterruptRouting> = UP.union(RouteSet::of::<ReviewRoute>());
    const REST: RouteSet<InterruptRouting> = UP_OR_BACK.complement();
    const { assert!(UP.is_subset(UP_OR_BACK) && !UP_OR_BACK.is_subset(UP)) };
    const { assert!(UP_OR_BACK.intersection(REST).is_empty()) };
    assert_eq!(UP_OR_BACK.difference(UP), RouteSet::of::<ReviewRoute>());
    assert_eq!(REST.fields(), ["ticketAgentRequests"]);
    assert_eq!(RouteSet::<InterruptRouting>::RETURNS.fields(), ["review"]);
    assert_eq!(RouteSet::<InterruptRouting>::ALL.len(), 3);
}

#[test]
fn what_is_known_of_a_route_is_what_was_written() {
    let [orchestrator, review, tickets] = InterruptRouting::ROUTES else {
        panic!("the record has three fields");
    };
    assert_eq!(orchestrator.description, "Starts again from the goal.");
    assert_eq!(orchestrator.agent_type, Some("ORCHESTRATOR"));
    assert_eq!(
        (review.field, review.rust_field, review.returns),
        ("review", "review_request", true)
    );
    assert_eq!(
        (tickets.request, tickets.agent_type),
        ("Batch<Ticket>", Some("TICKETS"))
    );
    assert_eq!(tickets.description, "");
    assert_eq!(InterruptRouting::KIND, RoutingKind::Interrupt);
    assert_eq!(OrchestratorRouting::KIND, RoutingKind::Agent);
    assert_eq!(OrchestratorRouting::NAME, "Orchestration");
    let fields: Vec<&str> = OrchestratorRouting::ROUTES
        .iter()
        .map(|route| route.field)
        .collect();
    assert_eq!(fields, ["interrupt_request", "review_request", "final"]);
    let agent_types: Vec<_> = OrchestratorRouting::ROUTES
        .iter()
        .map(|route| route.agent_type)
        .collect();
    assert_eq!(agent_types, [None, Some("REVIEW_AGENT"), None]);
}

#[test]
fn agent_types_lead_to_their_routes_and_back() {
    for route in RouteSet::<InterruptRouting>::ALL.iter() {
        let agent_type = InterruptRouting::agent_type_of(route);
        assert_eq!(InterruptRouting::route_to(agent_type), route);
    }
    assert_eq!(
        InterruptRouting::route_to(RouteType::TicketDispatch),
        TicketRoute::id()
    );
    assert_eq!(
        RouteId::<InterruptRouting>::from_agent_type("REVIEW_AGENT"),
        Some(ReviewRoute::id())
    );
}

#[test]
fn a_marker_wraps_and_takes_its_own_field_alone() {
    let tickets = Batch {
        items: vec![Ticket {
            title: "parser".to_owned(),
        }],
    };
    let record = TicketRoute::wrap(tickets.clone());
    assert_eq!(record.set_routes(), RouteSet::of::<TicketRoute>());
    assert_eq!(OrchestratorRoute::take(record.clone()), None);
    assert_eq!(TicketRoute::take(record), Some(tickets));
    assert_eq!(OrchestratorRoutingFinalRoute::FIELD, "final");
}

#[test]
fn json_holds_the_set_field_alone_and_is_read_back() {
    let record = ReviewRoute::wrap(goal("ship"));
    let text = serde_json::to_string(&record).unwrap();
    assert_eq!(text, r#"{"review":{"goal":"ship"}}"#);
    assert_eq!(
        serde_json::from_str::<InterruptRouting>(&text).unwrap(),
        record
    );
}

#[test]
fn the_one_set_field_is_taken_out_with_its_route() {
    let (route, request) = OrchestratorRoute::wrap(goal("ship")).into_one().unwrap();
    assert_eq!(route, OrchestratorRoute::id());
    assert_eq!(*request.downcast::<GoalRequest>().unwrap(), goal("ship"));
    assert_eq!(
        none().into_one().unwrap_err(),
        OneRouteError::NoneSet {
            record: "InterruptRouting",
            known: vec!["orchestratorRequest", "review", "ticketAgentRequests"],
        }
    );
    let two = InterruptRouting {
        review_request: Some(goal("two")),
        ..OrchestratorRoute::wrap(goal("one"))
    };
    assert_eq!(
        two.into_one().unwrap_err(),
        OneRouteError::ManySet {
            record: "InterruptRouting",
            fields: vec!["orchestratorRequest", "review"],
        }
    );
}

#[test]
fn the_schema_has_every_request_and_the_doc_comments() {
    assert_eq!(
        schema_for!(InterruptRouting).to_value(),
        json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "title": "InterruptRouting",
            "description": "Where an interrupted agent goes on.",
            "type": "object",
            "properties": {
                "orchestratorRequest": {
                    "$ref": "#/$defs/GoalRequest",
                    "description": "Starts again from the goal.",
                },
                "review": { "$ref": "#/$defs/GoalRequest" },
                "ticketAgentRequests": { "$ref": "#/$defs/Batch" },
            },
            "additionalProperties": false,
            "$defs": {
                "GoalRequest": {
                    "type": "object",
                    "properties": { "goal": { "type": "string" } },
                    "required": ["goal"],
                },
                "Batch": {
                    "type": "object",
                    "properties": {
                        "items": { "type": "array", "items": { "$ref": "#/$defs/Ticket" } },
                    },
                    "required": ["items"],
                },
                "Ticket": {
                    "type": "object",
                    "properties": { "title": { "type": "string" } },
                    "required": ["title"],
                },
            },
        })
    );
    assert_eq!(
        <OrchestratorRouting as schemars::JsonSchema>::schema_name(),
        "Orchestration"
    );
}

#[test]
fn an_answer_is_read_through_the_narrowed_type_of_a_route_known_at_run_time() {
    let route = InterruptRouting::route_to(RouteType::ReviewAgent);
    let record =
        InterruptRouting::__parse_narrowed(route.index(), br#"{"review":{"goal":"ship"}}"#)
            .unwrap();
    assert_eq!(record, ReviewRoute::wrap(goal("ship")));
    InterruptRouting::__parse_narrowed(route.index(), br#"{"orchestratorRequest":{"goal":"x"}}"#)
        .unwrap_err();
    InterruptRouting::__parse_narrowed(3, br#"{"review":{"goal":"ship"}}"#).unwrap_err();
}

#[test]
fn a_copy_of_a_request_makes_a_record_where_the_type_is_that_of_the_field() {
    let request = goal("ship");
    let index = ReviewRoute::INDEX;
    assert_eq!(
        InterruptRouting::__from_request(index, &request),
        Some(ReviewRoute::wrap(request.clone()))
    );
    assert_eq!(
        InterruptRouting::__from_request(TicketRoute::INDEX, &request),
        None
    );
    assert_eq!(
        InterruptRouting::__request_type(TicketRoute::INDEX),
        std::any::TypeId::of::<Batch<Ticket>>()
    );
}

mod casings {
    use super::{GoalRequest, Routing};

    macro_rules! field_in {
        ($casing:literal) => {{
            #[derive(Debug, Clone, Routing)]
            #[routing(rename_all = $casing)]
            struct Cased {
                some_request: Option<GoalRequest>,
            }
            assert_eq!(Cased::ROUTES[0].rust_field, "some_request");
            Cased::ROUTES[0].field
        }};
    }

    #[test]
    fn fields_are_named_in_the_casing_that_the_record_chooses() {
        assert_eq!(
            [
                field_in!("camelCase"),
                field_in!("snake_case"),
                field_in!("PascalCase"),
                field_in!("kebab-case"),
                field_in!("SCREAMING_SNAKE_CASE"),
            ],
            [
                "someRequest",
                "some_request",
                "SomeRequest",
                "some-request",
                "SOME_REQUEST"
            ]
        );
    }
}
