//! What an interrupt asks, read from its content in any of its forms.

use std::borrow::Cow;
use std::fmt::{self, Display};

use interrupt_router::{EventId, InterruptDetails};
use interrupts::catalogue::{Catalogue, RouteEntry, misfits};
use interrupts::life::{Decider, Decision, Interrupt, Verdict, shared_part, shared_place};
use interrupts::{Misfit, RouteName};
use journal::tool::ToolQuestionContent;
use serde_json::{Map, Value};

/// Reasons with fewer bytes are kept whole in their row.
const KEPT_REASON: usize = (16 << 10) - 4;

/// The fields of a supervisor's event that stand beside those of all questions.
const EVENT_FIELDS: [&str; 6] = [
    "eventId",
    "timestamp",
    "nodeId",
    "sourceAgentType",
    "rerouteToAgentType",
    "interruptType",
];

/// What an interrupt asks.
#[derive(Debug, Clone)]
pub struct QuestionContent {
    /// What all questions have: reason, choices, confirmations, context.
    pub details: InterruptDetails,
    /// The agent's own fields, beside the shared ones.
    pub own_fields: Map<String, Value>,
}

impl QuestionContent {
    /// What an interrupt asks.
    pub fn of(interrupt: &Interrupt) -> Self {
        let content = content_of(interrupt);
        Self {
            details: interrupt.details_in(&content),
            own_fields: own_fields(&content),
        }
    }
}

fn content_of(interrupt: &Interrupt) -> Value {
    serde_json::from_str(&interrupt.content).unwrap_or_default()
}

/// The agent's own fields: those in the shared part and beside it, on the way to it.
pub fn own_fields(content: &Value) -> Map<String, Value> {
    let mut own = Map::new();
    let Some(place) = shared_place(content) else {
        return own;
    };
    let is_shared =
        |name: &str| InterruptDetails::FIELDS.contains(&name) || EVENT_FIELDS.contains(&name);
    // A request that no model could fill in has members of the router beside it.
    let is_unfilled = content.get("fills").is_some();
    let names: Vec<&str> = place.split('/').skip(1).collect();
    for depth in usize::from(is_unfilled)..=names.len() {
        let above: String = names
            .iter()
            .take(depth)
            .map(|name| format!("/{name}"))
            .collect();
        let members = content.pointer(&above).and_then(Value::as_object);
        for (name, value) in members.into_iter().flatten() {
            let is_way = names.get(depth) == Some(&name.as_str());
            if !is_way && !is_shared(name) {
                own.insert(name.clone(), value.clone());
            }
        }
    }
    own
}

/// Where the answer of an interrupt goes, from the decision if there is one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Destination<'interrupt> {
    /// To the call of a tool that is asked about.
    Call,
    /// Nowhere: it was answered with a no, or it ended without an answer.
    Nowhere,
    /// Back to where it came from.
    Back(&'interrupt RouteName),
    /// Elsewhere, because an event of a supervisor sends it there.
    ByEvent(&'interrupt RouteName, &'interrupt EventId),
    /// Elsewhere, because this decision sent it there.
    ByDecision(&'interrupt RouteName, &'interrupt Decider),
}

impl<'interrupt> Destination<'interrupt> {
    /// Where the answer of an interrupt goes.
    pub fn of(interrupt: &'interrupt Interrupt) -> Self {
        let is_no = |decision: &Decision| decision.verdict.declines();
        let has_ended = interrupt.state.is_final() && interrupt.decision.is_none();
        if has_ended || interrupt.decision.as_ref().is_some_and(is_no) {
            return Self::Nowhere;
        }
        if ToolQuestionContent::of(&interrupt.content).is_some() {
            return Self::Call;
        }
        let target = target_of(interrupt);
        match (&interrupt.decision, &interrupt.bound) {
            (Some(decision), _) if decision.verdict == Verdict::Reroute => {
                Self::ByDecision(target, &decision.by)
            }
            (_, Some(bound)) if bound.target == *target => Self::ByEvent(target, &bound.event),
            (Some(decision), _) if *target != interrupt.origin => {
                Self::ByDecision(target, &decision.by)
            }
            _ => Self::Back(target),
        }
    }
}

impl Display for Destination<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Call => formatter.write_str("The answer goes to the call that is asked about."),
            Self::Nowhere => formatter.write_str("It goes nowhere: there is no answer to follow."),
            Self::Back(target) => write!(formatter, "The answer goes back to {target}."),
            Self::ByEvent(target, event) => write!(
                formatter,
                "The answer goes to {target}, because the event {event} sends it there."
            ),
            Self::ByDecision(target, by) => {
                write!(
                    formatter,
                    "The answer goes to {target}, where {} sent it.",
                    by.title()
                )
            }
        }
    }
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
