//! Agent types: names, order, text, schema, origin routes.

use interrupt_router::AgentType;
use schemars::schema_for;
use serde_json::json;

use super::workflow::{AgentKind, RouteType};

#[test]
fn names_are_those_of_the_variants_in_capitals_or_what_they_are_renamed_to() {
    assert_eq!(
        RouteType::NAMES,
        ["ORCHESTRATOR", "REVIEW_AGENT", "TICKETS"]
    );
    assert_eq!(
        RouteType::ALL,
        [
            RouteType::Orchestrator,
            RouteType::ReviewAgent,
            RouteType::TicketDispatch
        ]
    );
    for (index, agent_type) in RouteType::ALL.iter().enumerate() {
        assert_eq!(agent_type.index(), index);
        assert_eq!(agent_type.to_string(), RouteType::NAMES[index]);
        assert_eq!(RouteType::NAMES[index].parse(), Ok(*agent_type));
    }
}

#[test]
fn json_is_the_name_and_an_unknown_one_lists_the_known() {
    assert_eq!(json!(RouteType::TicketDispatch), json!("TICKETS"));
    let read: RouteType = serde_json::from_value(json!("REVIEW_AGENT")).unwrap();
    assert_eq!(read, RouteType::ReviewAgent);
    let error = serde_json::from_value::<RouteType>(json!("REVIEWER")).unwrap_err();
    assert_eq!(
        error.to_string(),
        "unknown agent type `REVIEWER`; known are: ORCHESTRATOR, REVIEW_AGENT, TICKETS"
    );
    let error = serde_json::from_value::<RouteType>(json!(1)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "invalid type: integer `1`, expected one of: ORCHESTRATOR, REVIEW_AGENT, TICKETS"
    );
}

#[test]
fn the_schema_is_an_enumeration_with_the_doc_comments() {
    assert_eq!(
        schema_for!(RouteType).to_value(),
        json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "title": "RouteType",
            "type": "string",
            "enum": ["ORCHESTRATOR", "REVIEW_AGENT", "TICKETS"],
            "description": "Where interrupts go.\n\n- ORCHESTRATOR: Plans the work.",
        })
    );
}

#[test]
fn a_route_is_its_own_origin_and_a_worker_has_its_dispatch() {
    assert_eq!(
        RouteType::ReviewAgent.origin_route(),
        RouteType::ReviewAgent
    );
    let origins: Vec<RouteType> = AgentKind::ALL
        .iter()
        .map(|kind| kind.origin_route())
        .collect();
    assert_eq!(
        origins,
        [
            RouteType::Orchestrator,
            RouteType::ReviewAgent,
            RouteType::TicketDispatch,
            RouteType::TicketDispatch
        ]
    );
}

#[test]
fn discriminants_need_not_be_places() {
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, AgentType)]
    enum Numbered {
        Late = 20,
        Early = -3,
    }
    assert_eq!([Numbered::Late.index(), Numbered::Early.index()], [0, 1]);
    assert_eq!(Numbered::Early.name(), "EARLY");
}
