//! Publishing a supervisor's event: the same as on the bus.

use agents::AgentKind;
use agents::plan_execute::plan_kind;
use interrupts::life::{Admission, ExpiryOutcome, Recurrence, Scope, USUAL_ATTEMPTS};
use interrupts::store::Admitted;
use interrupts::{IdempotencyKey, RouteName};
use routing_core::{AgentType, InterruptId, InterruptType, NodeId, StopMode};

use routing_core::event::InterruptRequestEvent;

use super::stop::{refuse_ended, refused, routes_of, source_of};
use crate::access::{Caller, Right};
use crate::address::Found;
use crate::app::App;
use crate::body::unread;
use crate::problem::{Kind, Problem};

/// Publishes an event as it was sent. Its id is its key: sent again, the stored answer is given.
pub(crate) async fn publish(app: &App, caller: &Caller, json: &[u8]) -> Result<Admitted, Problem> {
    Right::Request.demand(caller)?;
    let event = InterruptRequestEvent::<AgentKind>::from_json(json).map_err(|e| unread(&e))?;
    if event.reroute_to_agent_type.is_some() {
        // Where agents go is a supervisor's to say.
        Right::Direct.demand(caller)?;
    }
    let agent = caller.agent(app, event.node_id.as_str()).await?;
    check(&agent, &event)?;
    let admission = admission(caller, &agent, &event)?;
    let known = app
        .store()
        .interrupt_of(&admission.key)
        .await
        .map_err(|error| crate::problem::of_store(&error))?;
    if known
        .as_ref()
        .is_some_and(|known| !caller.covers(known.run, &known.node))
    {
        return Err(Problem::new(
            Kind::IdempotencyConflict,
            "$.eventId: the id belongs to another event",
            "use another id for another event",
        ));
    }
    // What was published before is answered whatever became of its run since.
    if known.is_none() {
        refuse_ended(&agent)?;
    }
    let admitted = app
        .store()
        .admit(admission)
        .await
        .map_err(|e| refused(&e))?;
    app.wake(&agent.run);
    Ok(admitted)
}

fn check(agent: &Found, event: &InterruptRequestEvent<AgentKind>) -> Result<(), Problem> {
    let kind = agent.node.kind.as_str();
    if kind == event.source_agent_type.name() {
        return Ok(());
    }
    if plan_kind(kind).is_some() {
        return Err(Problem::new(
            Kind::Shape,
            format!(
                "$.nodeId: the agent is a {kind} of a plan, which has no routes to choose from"
            ),
            "send it a message, which its next replan reads, or interrupt the run",
        ));
    }
    Err(Problem::new(
        Kind::Shape,
        format!(
            "$.sourceAgentType: the agent is a {kind}, and no {}",
            event.source_agent_type
        ),
        "name the agent's own type",
    ))
}

fn admission(
    caller: &Caller,
    agent: &Found,
    event: &InterruptRequestEvent<AgentKind>,
) -> Result<Admission, Problem> {
    let (origin, routes) = routes_of(agent)?;
    let key = IdempotencyKey::new(event.event_id.as_str())
        .map_err(|error| Problem::new(Kind::Shape, format!("$.eventId: {error}"), "shorten it"))?;
    let mut told = event.clone();
    told.node_id = NodeId::clone(&agent.node.node);
    let content = serde_json::to_string(&told)
        .map_err(|error| Problem::new(Kind::Internal, error.to_string(), "report this"))?;
    let reroute = RouteName::new(event.target().name())
        .map_err(|error| Problem::new(Kind::Internal, error.to_string(), "report this"))?;
    Ok(Admission {
        id: InterruptId::generate(),
        run: agent.run.id,
        node: agent.node.node.clone(),
        kind: agent.node.kind.clone(),
        origin,
        routes,
        interrupt_type: asked_type(event.interrupt_type),
        source: source_of(caller),
        requested_by: caller.actor.clone(),
        mode: StopMode::Graceful,
        scope: Scope::Agent,
        reason: event.reason.clone(),
        content,
        key,
        allowed: Vec::new(),
        patience: None,
        on_expiry: ExpiryOutcome::Reject,
        most_attempts: USUAL_ATTEMPTS,
        recurrence: Recurrence::Verbatim,
        reroute: Some(reroute),
    })
}

/// In the store an event is a question, whatever it asks for: nothing is stopped by it before the agent has said so
/// itself, in the request that it raises.
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
