//! A small workflow, which the tests of this folder share.

use interrupt_router::{
    AgentInterrupt, AgentType, InterruptDetails, InterruptRequest, InterruptType, Routing,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Where interrupts go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, AgentType)]
pub(crate) enum RouteType {
    /// Plans the work.
    Orchestrator,
    ReviewAgent,
    #[agent_type(rename = "TICKETS")]
    TicketDispatch,
}

/// Who raises them: the ticket agent is a worker below the dispatch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, AgentType)]
#[agent_type(route = RouteType)]
pub(crate) enum AgentKind {
    Orchestrator,
    ReviewAgent,
    TicketDispatch,
    #[agent_type(origin = TicketDispatch)]
    TicketAgent,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct GoalRequest {
    pub(crate) goal: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Batch<T> {
    pub(crate) items: Vec<T>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Ticket {
    pub(crate) title: String,
}

/// Where an interrupted agent goes on.
#[derive(Debug, Clone, PartialEq, Routing)]
#[routing(agent_types = RouteType)]
pub(crate) struct InterruptRouting {
    /// Starts again from the goal.
    #[route(agent_type = Orchestrator, marker = OrchestratorRoute)]
    pub(crate) orchestrator_request: Option<GoalRequest>,
    #[route(agent_type = ReviewAgent, rename = "review", returns)]
    pub(crate) review_request: std::option::Option<GoalRequest>,
    #[route(agent_type = TicketDispatch, marker = TicketRoute)]
    pub(crate) ticket_agent_requests: Option<Batch<Ticket>>,
}

/// What the orchestrator returns of itself.
#[derive(Debug, Clone, PartialEq, Routing)]
#[routing(rename = "Orchestration", rename_all = "snake_case", actions = Orchestrate)]
pub(crate) struct OrchestratorRouting {
    pub(crate) interrupt_request: Option<InterruptDetails>,
    #[route(agent_type = RouteType::ReviewAgent)]
    pub(crate) review_request: Option<GoalRequest>,
    pub(crate) r#final: Option<Ticket>,
}

/// An interrupt with a field of its own.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct TicketInterrupt {
    pub(crate) reason: String,
    pub(crate) ticket: Ticket,
}

impl AgentInterrupt for TicketInterrupt {
    fn details(&self) -> InterruptDetails {
        details(InterruptType::Pause, &self.reason)
    }
}

#[derive(Debug, Clone, PartialEq, InterruptRequest)]
#[interrupt(kind = AgentKind)]
pub(crate) enum WorkflowInterrupt {
    TicketAgent(TicketInterrupt),
    Orchestrator(InterruptDetails),
    ReviewAgent(InterruptDetails),
    TicketDispatch(Boxed),
}

/// Another payload that no other variant has.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Boxed {
    pub(crate) details: InterruptDetails,
}

impl AgentInterrupt for Boxed {
    fn details(&self) -> InterruptDetails {
        self.details.clone()
    }
}

pub(crate) fn details(r#type: InterruptType, reason: &str) -> InterruptDetails {
    InterruptDetails::new(r#type, reason)
}

pub(crate) fn goal(text: &str) -> GoalRequest {
    GoalRequest {
        goal: text.to_owned(),
    }
}
