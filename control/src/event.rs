//! A supervisor's event: it asks an agent to interrupt itself, and says where the answer goes.

use interrupts::IdempotencyKey;
use interrupts::catalogue::{EventError, NamedEvent};
use interrupts::life::{Admission, ExpiryOutcome, Recurrence, Scope, USUAL_ATTEMPTS};
use interrupts::manager::AgentRoutes;
use routing_core::{InterruptId, InterruptType, NodeId, StopMode};

use crate::request::{InvalidRequest, Requester, Target, Terms};

/// The key of an event: its id.
///
/// # Errors
///
/// [`InvalidRequest`] if it is no key.
pub fn event_key(event: &NamedEvent) -> Result<IdempotencyKey, InvalidRequest> {
    IdempotencyKey::new(event.event_id.as_str()).map_err(InvalidRequest::EventId)
}

/// What the store is asked to admit for an event.
///
/// # Errors
///
/// [`InvalidRequest`] if it does not fit its agent.
pub(crate) fn event_admission(
    event: &NamedEvent,
    to: &Target<'_>,
    by: Requester<'_>,
    terms: Terms<'_>,
) -> Result<Admission, InvalidRequest> {
    let known = to
        .catalogue
        .and_then(|it| Some((it, it.agent_routes(Some(to.kind))?)));
    let Some((catalogue, AgentRoutes { origin, routes, .. })) = known else {
        let kind = to.kind.clone();
        return Err(EventError::NoRoutes { kind }.into());
    };
    let reroute = catalogue.check_event(event, to.kind)?;
    let told = NamedEvent {
        node_id: NodeId::clone(to.node),
        ..event.clone()
    };
    let mut admission = Admission {
        id: InterruptId::generate(),
        run: to.run.id,
        node: to.node.clone(),
        kind: to.kind.clone(),
        origin,
        routes,
        interrupt_type: asked_type(event.interrupt_type),
        source: by.source(),
        requested_by: by.caller.actor.clone(),
        mode: StopMode::Graceful,
        scope: Scope::Agent,
        reason: event.reason.clone(),
        content: serde_json::to_string(&told)?,
        key: event_key(event)?,
        allowed: Vec::new(),
        patience: None,
        on_expiry: ExpiryOutcome::Reject,
        most_attempts: USUAL_ATTEMPTS,
        recurrence: Recurrence::Verbatim,
        reroute: Some(reroute),
    };
    terms.set(&mut admission, None);
    Ok(admission)
}

/// In the store an event is always a question, no matter which type it asks for: it stops nothing until the agent
/// itself raises the request.
const fn asked_type(wanted: InterruptType) -> InterruptType {
    match wanted {
        InterruptType::AgentReview => InterruptType::AgentReview,
        InterruptType::HumanReview
        | InterruptType::Pause
        | InterruptType::Stop
        | InterruptType::Prune
        | InterruptType::Branch => InterruptType::HumanReview,
    }
}
