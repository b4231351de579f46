//! Rules that types keep, and that models are told in words.

use agents::records::{
    DiscoveryAgentRequests, InterruptRouting, OrchestratorRequest, ReviewRequest,
};
use interrupt_router::answer::{read_strictly, read_within};
use interrupt_router::{InterruptRoutes, RouteSet};
use serde_json::{Value, json};

#[test]
fn an_empty_goal_is_refused_at_its_place() {
    for goal in ["", "  \n"] {
        let answer = json!({ "orchestratorRequest": { "goal": goal } }).to_string();
        let route = InterruptRouting::route_to(agents::RouteType::Orchestrator);
        let error =
            read_within::<InterruptRouting>(answer.as_bytes(), RouteSet::only(route)).unwrap_err();
        assert_eq!(
            error.to_string(),
            "$.orchestratorRequest.goal: an empty text; it must say something"
        );
    }
}

#[test]
fn a_batch_without_an_entry_is_refused_at_its_place() {
    let batch = json!({ "requests": [], "goal": "look", "delegationRationale": "" }).to_string();
    let error = read_strictly::<DiscoveryAgentRequests>(batch.as_bytes()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "$.requests: an empty list; it must have at least one entry"
    );
}

#[test]
fn a_field_of_our_code_cannot_be_set_by_a_model() {
    for field in [
        "contextId",
        "discoverySummary",
        "planningSummary",
        "ticketSummary",
    ] {
        let answer = json!({ "goal": "look", (field): "root" }).to_string();
        let error = read_strictly::<OrchestratorRequest>(answer.as_bytes()).unwrap_err();
        assert_eq!(error.path(), format!("$.{field}"), "{error}");
    }
}

#[test]
fn a_review_goes_back_to_a_collector_and_to_nobody_else() {
    let request = |caller: &str| -> Value { json!({ "content": "a plan", "returnTo": caller }) };
    for (caller, route) in [
        (
            "ORCHESTRATOR_COLLECTOR",
            agents::RouteType::OrchestratorCollector,
        ),
        ("DISCOVERY_COLLECTOR", agents::RouteType::DiscoveryCollector),
        ("PLANNING_COLLECTOR", agents::RouteType::PlanningCollector),
        ("TICKET_COLLECTOR", agents::RouteType::TicketCollector),
    ] {
        let read: ReviewRequest = read_strictly(request(caller).to_string().as_bytes()).unwrap();
        assert_eq!(
            interrupt_router::AgentType::origin_route(read.return_to),
            route
        );
    }
    let error = read_strictly::<ReviewRequest>(request("TICKET_DISPATCH").to_string().as_bytes())
        .unwrap_err();
    assert_eq!(error.path(), "$.returnTo", "{error}");
}
