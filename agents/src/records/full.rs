//! The requests as nodes get them: what a model filled, and what our code adds.
//!
//! None of this is in a schema. A model neither sees the added parts nor can it set them.

use schemars::JsonSchema;
use std::fmt::Debug;

use interrupt_router::NodeId;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::request::{
    ContextManagerRoutingRequest, DiscoveryAgentRequests, DiscoveryCollectorRequest,
    DiscoveryOrchestratorRequest, MergerRequest, OrchestratorCollectorRequest, OrchestratorRequest,
    PlanningAgentRequests, PlanningCollectorRequest, PlanningOrchestratorRequest, ReviewRequest,
    TicketAgentRequests, TicketCollectorRequest, TicketOrchestratorRequest,
};
use crate::agent_kind::AgentKind;

/// A request as a model fills it: one of the fourteen.
pub trait Draft:
    Serialize + DeserializeOwned + JsonSchema + Debug + Clone + Send + Sync + 'static
{
    /// What our code adds besides the node's id.
    type Carried: Serialize + DeserializeOwned + Debug + Clone + PartialEq + Send + Sync + 'static;

    /// The name of the full record.
    const FULL_NAME: &'static str;
}

/// A request as its node gets it and the journal keeps it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(
    rename_all = "camelCase",
    bound(serialize = "D: Draft", deserialize = "D: Draft")
)]
pub struct FullRequest<D: Draft> {
    /// The node that the request is for.
    pub context_id: NodeId,
    /// What the model filled.
    #[serde(flatten)]
    pub draft: D,
    /// What our code added.
    #[serde(flatten)]
    pub carried: D::Carried,
}

impl<D: Draft> FullRequest<D> {
    /// The full record of a draft. What is carried is taken from the run's [`Summaries`], or, for the
    /// context manager, from the kind of the agent that called it.
    pub fn new(context_id: NodeId, draft: D, carried: impl Into<D::Carried>) -> Self {
        Self {
            context_id,
            draft,
            carried: carried.into(),
        }
    }
}

/// The context manager's own request, made of the one that a model routes to it.
pub type ContextManagerRequest = FullRequest<ContextManagerRoutingRequest>;

/// What the collectors of the finished phases have said.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Summaries {
    /// The discovery collector's summary, once there is one.
    #[serde(
        rename = "discoverySummary",
        default,
        skip_serializing_if = "Option::is_none"
    )]
    pub discovery: Option<String>,
    /// The planning collector's summary, once there is one.
    #[serde(
        rename = "planningSummary",
        default,
        skip_serializing_if = "Option::is_none"
    )]
    pub planning: Option<String>,
    /// The ticket collector's summary, once there is one.
    #[serde(
        rename = "ticketSummary",
        default,
        skip_serializing_if = "Option::is_none"
    )]
    pub ticket: Option<String>,
}

/// Nothing is added.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NothingCarried {}

/// The summary of discovery is added.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DiscoverySummary {
    /// The discovery collector's summary, once there is one.
    #[serde(
        rename = "discoverySummary",
        default,
        skip_serializing_if = "Option::is_none"
    )]
    pub discovery: Option<String>,
}

/// The summaries of discovery and planning are added.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DiscoveryAndPlanningSummaries {
    /// The discovery collector's summary, once there is one.
    #[serde(
        rename = "discoverySummary",
        default,
        skip_serializing_if = "Option::is_none"
    )]
    pub discovery: Option<String>,
    /// The planning collector's summary, once there is one.
    #[serde(
        rename = "planningSummary",
        default,
        skip_serializing_if = "Option::is_none"
    )]
    pub planning: Option<String>,
}

/// Who called is added.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Caller {
    /// The kind of the agent that called.
    pub caller: AgentKind,
}

impl From<&Summaries> for NothingCarried {
    fn from(_summaries: &Summaries) -> Self {
        Self {}
    }
}

impl From<&Summaries> for DiscoverySummary {
    fn from(summaries: &Summaries) -> Self {
        Self {
            discovery: summaries.discovery.clone(),
        }
    }
}

impl From<&Summaries> for DiscoveryAndPlanningSummaries {
    fn from(summaries: &Summaries) -> Self {
        Self {
            discovery: summaries.discovery.clone(),
            planning: summaries.planning.clone(),
        }
    }
}

impl From<&Summaries> for Summaries {
    fn from(summaries: &Summaries) -> Self {
        summaries.clone()
    }
}

impl From<AgentKind> for Caller {
    fn from(caller: AgentKind) -> Self {
        Self { caller }
    }
}

/// What each draft carries, and the name of its full record.
macro_rules! drafts {
    ($($draft:ident => $full_name:literal, $carried:ident;)*) => {
        $(
            impl Draft for $draft {
                type Carried = $carried;

                const FULL_NAME: &'static str = $full_name;
            }
        )*

        /// The names of the drafts, each with that of its full record.
        const FULL_NAMES: &[(&str, &str)] = &[$((stringify!($draft), $full_name)),*];
    };
}

/// The name of the full record of the draft with this name.
pub(crate) fn full_name(draft: &'static str) -> &'static str {
    FULL_NAMES
        .iter()
        .find(|(name, _full_name)| *name == draft)
        .map_or(draft, |(_name, full_name)| full_name)
}

drafts! {
    OrchestratorRequest => "OrchestratorRequest", Summaries;
    DiscoveryOrchestratorRequest => "DiscoveryOrchestratorRequest", NothingCarried;
    PlanningOrchestratorRequest => "PlanningOrchestratorRequest", DiscoverySummary;
    TicketOrchestratorRequest => "TicketOrchestratorRequest", DiscoveryAndPlanningSummaries;
    ReviewRequest => "ReviewRequest", NothingCarried;
    MergerRequest => "MergerRequest", NothingCarried;
    ContextManagerRoutingRequest => "ContextManagerRequest", Caller;
    OrchestratorCollectorRequest => "OrchestratorCollectorRequest", Summaries;
    DiscoveryCollectorRequest => "DiscoveryCollectorRequest", NothingCarried;
    PlanningCollectorRequest => "PlanningCollectorRequest", DiscoverySummary;
    TicketCollectorRequest => "TicketCollectorRequest", DiscoveryAndPlanningSummaries;
    DiscoveryAgentRequests => "DiscoveryAgentRequests", NothingCarried;
    PlanningAgentRequests => "PlanningAgentRequests", NothingCarried;
    TicketAgentRequests => "TicketAgentRequests", NothingCarried;
}
