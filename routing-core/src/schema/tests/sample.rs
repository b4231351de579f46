//! A record for the tests of schemas and of reading.

use std::collections::BTreeMap;

use interrupt_router_derive::Routing;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a reviewer is asked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ReviewRequest {
    /// What to look at.
    pub(crate) content: String,
    pub(crate) criteria: Option<String>,
    pub(crate) urgency: Urgency,
}

/// How urgent it is.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(crate) enum Urgency {
    /// It can wait.
    Low,
    High,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TicketRequests {
    pub(crate) requests: Vec<Ticket>,
    #[serde(default)]
    pub(crate) labels: BTreeMap<String, String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Ticket {
    pub(crate) goal: String,
    pub(crate) priority: u8,
    pub(crate) weight: f64,
    pub(crate) plan: Plan,
    pub(crate) parent: Option<Box<Ticket>>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Plan {
    Nothing,
    Steps(Vec<String>),
    Ask { question: String },
    Both(String, i64),
}

/// A request with more than types say.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct BoundRequest {
    #[schemars(length(min = 1, max = 3))]
    pub(crate) short: String,
}

/// Where to go on.
#[derive(Debug, Clone, PartialEq, Routing)]
pub(crate) struct SampleRouting {
    /// Asks for a review.
    #[route(marker = ReviewRoute)]
    pub(crate) review_request: Option<ReviewRequest>,
    #[route(marker = TicketsRoute)]
    pub(crate) ticket_requests: Option<TicketRequests>,
    #[route(marker = BoundRoute)]
    pub(crate) bound_request: Option<BoundRequest>,
    #[route(marker = BackToReviewRoute, returns)]
    pub(crate) back_to_review: Option<ReviewRequest>,
    #[route(marker = BackToTicketsRoute, returns)]
    pub(crate) back_to_tickets: Option<TicketRequests>,
}
