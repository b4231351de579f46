//! What the derive macros make.
#![allow(missing_docs)]
use routing_core::{AgentRoute, AgentType, InterruptRoutes, Route, RouteSet, Routing};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, AgentType)]
pub enum RouteType {
    Orchestrator,
    ReviewAgent,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GoalRequest {
    goal: String,
}

/// Record.
#[derive(Debug, Clone, PartialEq, Routing)]
#[routing(agent_types = RouteType)]
pub struct InterruptRouting {
    /// Goes up.
    #[route(agent_type = Orchestrator, marker = OrchestratorRoute)]
    orchestrator_request: Option<GoalRequest>,
    #[route(agent_type = ReviewAgent)]
    review_request: Option<GoalRequest>,
}

#[test]
fn first() {
    const ONE: RouteSet<InterruptRouting> = RouteSet::of::<OrchestratorRoute>();
    assert_eq!(ONE.complement().fields(), ["reviewRequest"]);
    let record = OrchestratorRoute::wrap(GoalRequest { goal: "x".into() });
    let json = serde_json::to_string(&record).unwrap();
    assert_eq!(json, r#"{"orchestratorRequest":{"goal":"x"}}"#);
    let back: InterruptRouting = serde_json::from_str(&json).unwrap();
    assert_eq!(back, record);
    assert_eq!(InterruptRouting::route_to(RouteType::ReviewAgent), InterruptRoutingReviewRequestRoute::id());
    assert_eq!(InterruptRoutingReviewRequestRoute::AGENT_TYPE, RouteType::ReviewAgent);
    println!("{}", serde_json::to_string_pretty(&schemars::schema_for!(InterruptRouting)).unwrap());
}
