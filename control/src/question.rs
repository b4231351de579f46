//! What an interrupt asks, read from its content in any of its forms.

use std::borrow::Cow;

use interrupts::catalogue::{Catalogue, RouteEntry, misfits};
use interrupts::life::Interrupt;
use interrupts::{Misfit, RouteName};
use journal::tool::ToolQuestionContent;
use routing_core::{Choice, ConfirmationItem};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

/// Reasons with fewer bytes are kept whole in their row.
const KEPT_REASON: usize = (16 << 10) - 4;

/// The places in its content where the shared part of a question may be.
const PLACES: [&str; 8] = [
    "",
    "/request",
    "/details",
    "/payload",
    "/question",
    "/question/details",
    "/request/details",
    "/payload/details",
];

/// The fields that all questions share; the others are the agent's own.
const SHARED_FIELDS: [&str; 11] = [
    "type",
    "reason",
    "choices",
    "confirmationItems",
    "contextForDecision",
    "eventId",
    "timestamp",
    "nodeId",
    "sourceAgentType",
    "rerouteToAgentType",
    "interruptType",
];

/// What an interrupt asks.
#[derive(Debug, Clone, Default)]
pub struct QuestionContent {
    /// Why it is asked, in the asker's words.
    pub reason: Option<String>,
    /// The answers to choose from.
    pub choices: Vec<Choice>,
    /// What must be confirmed.
    pub confirmation_items: Vec<ConfirmationItem>,
    /// What the reviewer needs to know to decide.
    pub context_for_decision: String,
    /// The agent's own fields, beside the shared ones.
    pub own_fields: Map<String, Value>,
    /// The whole content.
    pub content: Value,
}

/// What an interrupt offers to choose from and to confirm, and nothing else of what it asks.
#[derive(Debug, Default)]
pub struct OfferedChoices {
    /// The answers to choose from.
    pub choices: Vec<Choice>,
    /// What must be confirmed.
    pub confirmation_items: Vec<ConfirmationItem>,
}

impl OfferedChoices {
    /// What an interrupt offers.
    pub fn of(interrupt: &Interrupt) -> Self {
        let content = content_of(interrupt);
        shared_part(&content).map_or_else(Self::default, Self::in_part)
    }

    fn in_part(shared: &Map<String, Value>) -> Self {
        Self {
            choices: field(shared, "choices"),
            confirmation_items: field(shared, "confirmationItems"),
        }
    }
}

impl QuestionContent {
    /// What an interrupt asks.
    pub fn of(interrupt: &Interrupt) -> Self {
        let content = content_of(interrupt);
        let Some(shared) = shared_part(&content) else {
            let reason = content.get("reason").and_then(Value::as_str);
            return Self {
                reason: reason.map(str::to_owned),
                content,
                ..Self::default()
            };
        };
        let OfferedChoices {
            choices,
            confirmation_items,
        } = OfferedChoices::in_part(shared);
        let own = shared
            .iter()
            .filter(|(name, _value)| !SHARED_FIELDS.contains(&name.as_str()));
        Self {
            reason: field(shared, "reason"),
            choices,
            confirmation_items,
            context_for_decision: field(shared, "contextForDecision"),
            own_fields: own
                .map(|(name, value)| (name.clone(), value.clone()))
                .collect(),
            content,
        }
    }
}

fn content_of(interrupt: &Interrupt) -> Value {
    serde_json::from_str(&interrupt.content).unwrap_or_default()
}

/// The part of a content that all questions share.
fn shared_part(content: &Value) -> Option<&Map<String, Value>> {
    let places = PLACES
        .iter()
        .filter_map(|place| content.pointer(place)?.as_object());
    let mut shared = places
        .filter(|place| place.contains_key("choices") || place.contains_key("contextForDecision"));
    shared.next()
}

fn field<T: DeserializeOwned + Default>(object: &Map<String, Value>, name: &str) -> T {
    let value = object.get(name);
    value
        .and_then(|value| T::deserialize(value).ok())
        .unwrap_or_default()
}

/// Where the answer of an interrupt goes unless a decision sends it elsewhere.
pub fn target_of(interrupt: &Interrupt) -> &RouteName {
    let decided = interrupt.decision.as_ref().map(|decision| &decision.target);
    let bound = interrupt.bound.as_ref().map(|bound| &bound.target);
    decided.or(bound).unwrap_or(&interrupt.origin)
}

/// The one route that an interrupt's answer may take; `None` if its catalogue has no such route.
pub fn route_of<'known>(
    interrupt: &Interrupt,
    catalogue: Option<&'known Catalogue>,
    reroute_to: Option<&RouteName>,
) -> Option<&'known RouteEntry> {
    let target = reroute_to.unwrap_or_else(|| target_of(interrupt));
    catalogue?.route(target.as_str())
}

/// The schema of the request of the one route, with the definitions that it needs.
pub fn request_schema(
    interrupt: &Interrupt,
    catalogue: Option<&Catalogue>,
    reroute_to: Option<&RouteName>,
) -> Option<Value> {
    if let Some(matter) = ToolQuestionContent::of(&interrupt.content) {
        // The edit concerns the call, no matter where its agent's interrupts go.
        return Some(matter.tool_call.schema);
    }
    route_of(interrupt, catalogue, reroute_to).map(RouteEntry::request_schema)
}

/// The parts of a request that do not fit its target; empty if the target's schema is unknown.
pub fn request_misfits(
    interrupt: &Interrupt,
    catalogue: Option<&Catalogue>,
    reroute_to: Option<&RouteName>,
    request: &Value,
) -> Vec<Misfit> {
    if let Some(matter) = ToolQuestionContent::of(&interrupt.content) {
        return misfits(&matter.tool_call.schema, request);
    }
    let route = route_of(interrupt, catalogue, reroute_to);
    route.map_or_else(Vec::new, |route| route.misfits(request))
}

/// Why an interrupt was asked for, whole. The row keeps the beginning of a very long one; its content has all of it.
pub fn reason_of(interrupt: &Interrupt) -> Cow<'_, str> {
    if interrupt.reason.len() < KEPT_REASON {
        return Cow::Borrowed(&interrupt.reason);
    }
    let content = content_of(interrupt);
    let whole = shared_part(&content).and_then(|shared| shared.get("reason")?.as_str());
    let whole = whole.filter(|whole| whole.starts_with(&interrupt.reason));
    whole.map_or(Cow::Borrowed(&interrupt.reason), |whole| {
        Cow::Owned(whole.to_owned())
    })
}
