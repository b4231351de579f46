//! A supervisor's event: it asks an agent to interrupt itself, and says where the answer goes.

use interrupt_router::{InterruptId, InterruptType, NodeId, RunId, StopMode};
use interrupts::IdempotencyKey;
use interrupts::catalogue::{EventError, NamedEvent};
use interrupts::life::{Admission, ExpiryOutcome, Recurrence, Scope, USUAL_ATTEMPTS};
use interrupts::manager::AgentRoutes;
use interrupts::store::Admitted;
use serde::{Deserialize, Serialize};

use crate::caller::Caller;
use crate::command::Command;
use crate::control::Control;
use crate::refusal::NotDone;
use crate::request::{InvalidRequest, Target, Terms};
use crate::right::Right;

/// Publishes a supervisor's event. Its id is its key: what was published before is answered again.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PublishEvent {
    /// The run of its agent; absent if the event names the agent by its address, or by what one live run has.
    pub run: Option<RunId>,
    /// The event.
    pub event: NamedEvent,
}

impl Command for PublishEvent {
    type Done = Admitted;

    const NAME: &'static str = "publish_event";

    const RIGHT: Right = Right::Request;

    fn is_repeatable(&self) -> bool {
        true
    }

    fn run_of(done: &Admitted) -> Option<RunId> {
        let (Admitted::New(interrupt) | Admitted::Known(interrupt)) = done;
        Some(interrupt.run)
    }

    async fn carry_out(self, at: &Control<'_>, by: &Caller) -> Result<Admitted, NotDone> {
        // Who may not publish it is not told whether the agent is there.
        Right::to_publish(&self.event).demand(by)?;
        let node = &self.event.node_id;
        let address = match self.run {
            Some(run) => format!("{run}/{node}"),
            None => node.to_string(),
        };
        let agent = by.reach.agent(at.store, &address).await?;
        let catalogue = at.catalogue_of(&agent.run).await?;
        let to = agent.target(catalogue.as_deref());
        at.publish(&to, &self.event, by).await
    }
}

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
    by: &Caller,
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
        requested_by: by.actor.clone(),
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
