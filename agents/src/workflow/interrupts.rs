//! From an agent's interrupt to where its flow goes on.

use routing_core::handler::{
    DecidedBy, DecisionError, HandleError, Matter, OperationContext, Resolution, Routed,
};
use routing_core::{
    AgentType, InterruptDetails, InterruptId, InterruptRoutes, InterruptType, Outcome,
    SealedInterrupt, StopReason,
};

use serde_json::json;

use super::cut_off;
use super::failure::FlowError;
use super::flow::{Flow, FlowEnd, Next};
use super::following::follow;
use super::node::{Node, Path};
use crate::agent_kind::AgentKind;
use crate::durable::desk::Raising;
use crate::durable::entry::{CutOff, InterruptEnd, InterruptIntent, InterruptOutcome};
use crate::durable::error::KeepError;
use crate::durable::journal::INTERRUPT;
use crate::durable::model::end_of_what_was_recorded;
use crate::durable::place;
use crate::records::*;
use crate::run::{InterruptRecord, InterruptResult, RunEvent};

/// The interrupt of a node whose model gives no answer that fits: a person is asked in its place.
pub(super) fn of_a_stuck_node(kind: AgentKind, problem: String) -> InterruptRequest {
    use AgentKind as Kind;
    let details = InterruptDetails {
        r#type: InterruptType::HumanReview,
        reason: format!("The agent's model gives no answer that can be used: {problem}"),
        choices: Vec::new(),
        confirmation_items: Vec::new(),
        context_for_decision:
            "Say how the agent shall go on, fill in its request yourself, or send it elsewhere."
                .to_owned(),
    };
    match kind {
        Kind::Orchestrator => OrchestratorInterruptRequest::from(details).into(),
        Kind::DiscoveryOrchestrator => DiscoveryOrchestratorInterruptRequest::from(details).into(),
        Kind::PlanningOrchestrator => PlanningOrchestratorInterruptRequest::from(details).into(),
        Kind::TicketOrchestrator => TicketOrchestratorInterruptRequest::from(details).into(),
        Kind::ReviewAgent => ReviewInterruptRequest::from(details).into(),
        Kind::MergerAgent => MergerInterruptRequest::from(details).into(),
        Kind::ContextManager => ContextManagerInterruptRequest::from(details).into(),
        Kind::OrchestratorCollector => OrchestratorCollectorInterruptRequest::from(details).into(),
        Kind::DiscoveryCollector => DiscoveryCollectorInterruptRequest::from(details).into(),
        Kind::PlanningCollector => PlanningCollectorInterruptRequest::from(details).into(),
        Kind::TicketCollector => TicketCollectorInterruptRequest::from(details).into(),
        Kind::DiscoveryDispatch => DiscoveryDispatchInterruptRequest::from(details).into(),
        Kind::PlanningDispatch => PlanningDispatchInterruptRequest::from(details).into(),
        Kind::TicketDispatch => TicketDispatchInterruptRequest::from(details).into(),
        Kind::DiscoveryAgent => DiscoveryAgentInterruptRequest::from(details).into(),
        Kind::PlanningAgent => PlanningAgentInterruptRequest::from(details).into(),
        Kind::TicketAgent => TicketAgentInterruptRequest::from(details).into(),
    }
}

/// Handles the interrupt of the node that has the turn: as it was, where it was resolved before.
pub(super) async fn handle(
    flow: &Flow,
    path: &mut Path,
    request: InterruptRequest,
) -> Result<Next, FlowError> {
    let engine = &flow.engine;
    let node = path.top()?;
    match engine.journal.interrupt(&node.id, node.turn)? {
        Some((intent, outcome)) => {
            let request = recorded(node, &intent)?;
            let turn = node.turn + 1;
            let is_open = outcome.as_ref().is_none_or(InterruptOutcome::is_left_out);
            if is_open
                && let Some(CutOff { node, reason, .. }) = engine.journal.cut_off(&node.id, turn)?
            {
                raised(flow, path.top()?, intent.interrupt, &request)?;
                flow.advance();
                return cut_off::end(flow, path, node, reason).await;
            }
            // A run that is only shown ends where it was left out because the run had ended.
            let is_watched = engine.journal.record.is_watched_only();
            let outcome = outcome.filter(|it| !(is_watched && it.is_left_out()));
            let Some(outcome) = outcome else {
                return resolve(flow, path, request, Some(intent.interrupt)).await;
            };
            raised(flow, node, intent.interrupt, &request)?;
            told_again(flow, node, intent.interrupt, &outcome);
            follow(flow, path, intent.interrupt, &request.details(), outcome).await
        }
        None => resolve(flow, path, request, None).await,
    }
}

/// The interrupt as it was raised: what was decided about it is about these words, whatever the node would say now.
fn recorded(node: &Node, intent: &InterruptIntent) -> Result<InterruptRequest, KeepError> {
    let request = json!({ "kind": node.kind, "request": intent.request });
    serde_json::from_value(request).map_err(|source| KeepError::Unreadable {
        place: place::interrupt(&node.id, node.turn),
        source,
    })
}

/// Resolves an interrupt that was not resolved before.
async fn resolve(
    flow: &Flow,
    path: &mut Path,
    request: InterruptRequest,
    begun: Option<InterruptId>,
) -> Result<Next, FlowError> {
    let engine = &flow.engine;
    if let Some(reason) = engine.given_up() {
        return Ok(Next::Finished(FlowEnd::Stopped(reason.to_owned())));
    }
    if engine.journal.record.is_watched_only() {
        let reason = end_of_what_was_recorded();
        return Ok(Next::Finished(FlowEnd::Interrupted(reason)));
    }
    engine.journal.go_live();
    let details = request.details();
    let node = path.top()?;
    let interrupt = record(flow, node, &request, begun).await?;
    raised(flow, node, interrupt, &request)?;
    engine.keep_nodes().await?;
    if let Some(next) = left_out(flow, path).await? {
        return Ok(next);
    }
    let node = path.top()?;
    let scope = engine.scope_of(&node.id);
    let conversation = node.conversation.messages()?;
    let context = OperationContext {
        interrupt,
        run: engine.run,
        node: &node.id,
        turn: node.turn,
        blackboard: &engine.blackboard,
        conversation: &conversation,
        scope: &scope,
    };
    let handled = engine
        .handler
        .handle_unified_interrupt(request, context)
        .await;
    let end = match handled {
        Ok(Outcome::Completed(resolution)) => end_of(flow, node, resolution)?,
        // Whoever paused it has been told that nothing goes on.
        Err(HandleError::Decision(DecisionError::Cancelled { reason, .. })) => {
            InterruptEnd::Stopped { reason }
        }
        Err(
            refusal @ (HandleError::NeedsCheckpoints { .. }
            | HandleError::Decision(DecisionError::Withdrawn { .. })),
        ) => InterruptEnd::Refused {
            reason: refusal.to_string(),
        },
        Ok(Outcome::Interrupted { reason, .. }) => return stopped(flow, path, reason).await,
        Err(error) => return unresolved(flow, node, error),
    };
    let is_rerouted = matches!(
        end,
        InterruptEnd::Routed {
            reroute: Some(_),
            ..
        }
    );
    let requested = is_rerouted || engine.ledger.was_requested(interrupt);
    let outcome = InterruptOutcome { requested, end };
    resolved(flow, node, interrupt, &outcome).await?;
    follow(flow, path, interrupt, &details, outcome).await
}

/// Where the flow goes on without the node, where it is to be cut off: nobody needs its answer, and no call is begun
/// that would only be cut short.
async fn left_out(flow: &Flow, path: &mut Path) -> Result<Option<Next>, FlowError> {
    let node = path.top()?;
    let (id, turn) = (node.id.clone(), node.turn + 1);
    if !flow.engine.scope_of(&id).is_stopping() {
        return Ok(None);
    }
    let Some(CutOff { node, reason, .. }) = cut_off::wanted(flow, path, turn).await? else {
        return Ok(None);
    };
    flow.advance();
    cut_off::end(flow, path, node, reason).await.map(Some)
}

/// The flow was stopped while the interrupt waited: it stays open, unless its node is cut off.
async fn stopped(flow: &Flow, path: &mut Path, reason: StopReason) -> Result<Next, FlowError> {
    Ok(match left_out(flow, path).await? {
        Some(next) => next,
        None => Next::Finished(FlowEnd::Interrupted(reason)),
    })
}

/// The interrupt stays open: the run waits where only an answer is missing, and fails otherwise.
fn unresolved(flow: &Flow, node: &Node, error: HandleError) -> Result<Next, FlowError> {
    if let HandleError::Paused { .. } = error {
        return Ok(Next::Finished(FlowEnd::Waiting));
    }
    if let HandleError::Unanswered { question, .. } | HandleError::InvalidAnswers { question, .. } =
        error
    {
        flow.engine.ledger.unanswered(*question);
        return Ok(Next::Finished(FlowEnd::Waiting));
    }
    Err(FlowError::Interrupt {
        node: node.id.to_string(),
        source: error,
    })
}

/// Records that the node raises the interrupt: in the journal, and in the store for whoever decides.
async fn record(
    flow: &Flow,
    node: &Node,
    request: &InterruptRequest,
    begun: Option<InterruptId>,
) -> Result<InterruptId, FlowError> {
    let engine = &flow.engine;
    let journal = &engine.journal;
    let payload = request.payload()?;
    let interrupt = match begun {
        Some(interrupt) => interrupt,
        None => {
            let at = journal.time_of(&node.id);
            let (interrupt, event) = engine.desk.id_for(&node.id, node.turn, at).await?;
            let intent = InterruptIntent {
                interrupt,
                request: payload.clone(),
                event,
            };
            let place = place::interrupt(&node.id, node.turn);
            let content = serde_json::to_string(&intent)?;
            journal.begin(&node.id, INTERRUPT, &place, &content).await?;
            interrupt
        }
    };
    let raising = Raising {
        interrupt,
        node: &node.id,
        turn: node.turn,
        kind: node.kind.name(),
        details: &request.details(),
        request: &payload,
    };
    engine.desk.raise(&raising).await?;
    Ok(interrupt)
}

/// How the interrupt ends, as the journal keeps it.
fn end_of(
    flow: &Flow,
    node: &Node,
    resolution: Resolution<InterruptRouting>,
) -> Result<InterruptEnd, FlowError> {
    Ok(match resolution {
        Resolution::Routed(routed) => {
            let Routed {
                routing,
                target,
                origin,
                decision,
                decided_by,
                filled_by,
                answer,
                reroute,
            } = *routed;
            InterruptEnd::Routed {
                routing: serde_json::to_value(routing)?,
                origin: InterruptRouting::agent_type_of(origin).name().to_owned(),
                target: InterruptRouting::agent_type_of(target).name().to_owned(),
                decision,
                decided_by,
                filled_by,
                answer,
                reroute,
            }
        }
        Resolution::Stopped { reason, .. } => InterruptEnd::Stopped { reason },
        Resolution::Pruned { reason, .. } => InterruptEnd::Pruned { reason },
        Resolution::Branched { reason, .. } => {
            let journal = &flow.engine.journal;
            let place = place::interrupt(&node.id, node.turn);
            let branch = journal.record.branch_at(&place, journal.time_of(&node.id));
            InterruptEnd::Branched { branch, reason }
        }
    })
}

/// Records what became of the interrupt. The checkpoint before it is where a fork answers otherwise.
async fn resolved(
    flow: &Flow,
    node: &Node,
    interrupt: InterruptId,
    outcome: &InterruptOutcome,
) -> Result<(), FlowError> {
    let engine = &flow.engine;
    engine.checkpoint("an answer is carried out").await?;
    let place = place::interrupt(&node.id, node.turn);
    let content = serde_json::to_string(outcome)?;
    engine.journal.finish(&node.id, &place, content).await?;
    for matter in [Matter::Interrupt, Matter::Request] {
        if let Some(dispatch) = engine.decisions.dispatch_of(interrupt, matter).await? {
            engine.journal.dispatched(dispatch).await?;
        }
    }
    Ok(())
}

/// Tells the observer what it was told when the interrupt was resolved.
fn told_again(flow: &Flow, node: &Node, interrupt: InterruptId, outcome: &InterruptOutcome) {
    let recorder = &flow.engine.recorder;
    match &outcome.end {
        InterruptEnd::Routed {
            origin,
            target,
            decided_by,
            filled_by,
            answer,
            reroute,
            ..
        } => {
            if let Some(event) = reroute {
                recorder.record(RunEvent::InterruptBound {
                    interrupt,
                    event: event.clone(),
                    target: target.clone(),
                });
            }
            // A rule gives the answer that a person gave before.
            if matches!(decided_by, DecidedBy::Person | DecidedBy::Rule) {
                recorder.record(RunEvent::InterruptAnswered {
                    interrupt,
                    answer: answer.clone(),
                });
            }
            recorder.record(RunEvent::InterruptResolved {
                interrupt,
                origin: origin.clone(),
                target: target.clone(),
                decided_by: *decided_by,
                filled_by: *filled_by,
                reroute: reroute.clone(),
            });
        }
        InterruptEnd::Pruned { reason } => recorder.record(RunEvent::Pruned {
            interrupt,
            node: node.id.clone(),
            reason: reason.clone(),
        }),
        // The run's own end tells of a stop; the others are told of by what follows.
        InterruptEnd::Stopped { .. }
        | InterruptEnd::Branched { .. }
        | InterruptEnd::LeftOut { .. }
        | InterruptEnd::Refused { .. } => {}
    }
}

fn raised(
    flow: &Flow,
    node: &Node,
    interrupt: InterruptId,
    request: &InterruptRequest,
) -> Result<(), FlowError> {
    let details = request.details();
    let record = InterruptRecord {
        interrupt,
        node: node.id.clone(),
        origin: request.kind().name(),
        interrupt_type: details.r#type,
        reason: details.reason.clone(),
        outcome: InterruptResult::Open,
    };
    flow.engine.ledger.raised(node.step, record);
    flow.engine.recorder.record(RunEvent::InterruptRaised {
        interrupt,
        node: node.id.clone(),
        kind: request.kind().name(),
        details,
        payload: request.payload()?,
    });
    Ok(())
}
