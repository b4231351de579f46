//! Publishing a supervisor's event: the same as on the bus.

use interrupts::IdempotencyKey;
use interrupts::catalogue::{Catalogue, EventError, NamedEvent, read_event};
use interrupts::life::{Admission, ExpiryOutcome, Recurrence, Scope, USUAL_ATTEMPTS};
use interrupts::manager::Facing;
use interrupts::store::Admitted;
use routing_core::{InterruptId, InterruptType, NodeId, StopMode};

use serde_json::json;

use super::stop::{refuse_ended, refused, source_of};
use crate::access::{Caller, Right};
use crate::address::Found;
use crate::app::App;
use crate::body::unread;
use crate::problem::{Kind, Problem};

/// Publishes an event as it was sent. Its id is its key: sent again, the stored answer is given.
pub(crate) async fn publish(app: &App, caller: &Caller, json: &[u8]) -> Result<Admitted, Problem> {
    Right::Request.demand(caller)?;
    let event = read_event(json).map_err(|e| unread(&e))?;
    if event.reroute_to_agent_type.is_some() {
        // Where agents go is a supervisor's to say.
        Right::Direct.demand(caller)?;
    }
    let agent = caller.agent(app, event.node_id.as_str()).await?;
    let catalogue = app.catalogue_of_run(&agent.run).await?;
    let admission = admission(caller, &agent, &event, catalogue.as_deref())?;
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

fn misnamed(error: &EventError) -> Problem {
    let (place, reason) = match error.to_string().split_once(": ") {
        Some((place, reason)) => (place.to_owned(), reason.to_owned()),
        None => (String::new(), error.to_string()),
    };
    let hint = match error {
        EventError::NoRoutes { .. } => {
            "send it a message, which its next replan reads, or interrupt the run"
        }
        EventError::OtherKind { .. } => "name the agent's own type",
        EventError::Form(_) | EventError::Unknown { .. } | _ => {
            "name a type of the catalogue of the agent's run; `can_route_to` of the agent lists the routes"
        }
    };
    Problem::new(Kind::Shape, error.to_string(), hint).with(
        "errors",
        json!([{"pointer": place.replacen("$.", "/", 1), "message": reason}]),
    )
}

fn admission(
    caller: &Caller,
    agent: &Found,
    event: &NamedEvent,
    catalogue: Option<&Catalogue>,
) -> Result<Admission, Problem> {
    let kind = &agent.node.kind;
    let known = catalogue.and_then(|it| Some((it, it.facing(Some(kind))?)));
    let Some((catalogue, Facing { origin, routes, .. })) = known else {
        let kind = kind.clone();
        return Err(misnamed(&EventError::NoRoutes { kind }));
    };
    let reroute = catalogue.check_event(event, kind);
    let reroute = reroute.map_err(|error| misnamed(&error))?;
    let key = IdempotencyKey::new(event.event_id.as_str())
        .map_err(|error| Problem::new(Kind::Shape, format!("$.eventId: {error}"), "shorten it"))?;
    let mut told = event.clone();
    told.node_id = NodeId::clone(&agent.node.node);
    let content = serde_json::to_string(&told)
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
