//! A workflow of your own, in a crate that denies every warning: that this is compiled is the test.
#![deny(warnings, missing_docs, unreachable_pub, unused_qualifications)]
use interrupt_router::{AgentType, InterruptDetails, InterruptRequest, InterruptRoutes, Routing};

/// A goal.
#[derive(Debug, Clone, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
pub struct Request {
    /// What is wanted.
    pub goal: String,
}

/// Where interrupts go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, AgentType)]
pub enum RouteType {
    /// Plans.
    Orchestrator,
    /// Reviews.
    ReviewAgent,
    /// Dispatches.
    TicketDispatch,
}

/// Where an interrupted agent goes on.
#[derive(Debug, Clone, Routing)]
#[routing(agent_types = RouteType)]
pub struct Record {
    /// Plans again.
    #[route(agent_type = Orchestrator)]
    pub orchestrator_request: Option<Request>,
    /// Reviews again.
    #[route(agent_type = ReviewAgent)]
    pub review_request: Option<Request>,
    #[route(agent_type = TicketDispatch)]
    #[doc(hidden)]
    pub ticket_request: Option<Request>,
}

/// All interrupts.
#[derive(Debug, Clone, InterruptRequest)]
#[interrupt(kind = RouteType)]
pub enum Interrupt {
    /// Of the orchestrator.
    Orchestrator(InterruptDetails),
    /// Of the review agent.
    ReviewAgent(InterruptDetails),
    /// Of the dispatch.
    TicketDispatch(InterruptDetails),
}

#[test]
fn a_record_has_the_routes_of_its_fields() {
    let route = Record::route_to(RouteType::Orchestrator);
    assert_eq!(format!("{route:?}"), "Record::orchestratorRequest");
}
