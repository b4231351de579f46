//! From an agent's interrupt to where its flow goes on.

use routing_core::handler::{HandleError, OperationContext, Resolution, Routed};
use routing_core::model::Message;
use routing_core::{
    AgentType, InterruptDetails, InterruptId, InterruptRoutes, InterruptType, Outcome,
    SealedInterrupt,
};
use serde_json::json;

use super::failure::FlowError;
use super::flow::{Flow, FlowEnd, Next, Role};
use super::node::{Node, Path, Streak};
use super::resume::resume;
use crate::agent_kind::{AgentKind, RouteType};
use crate::records::*;
use crate::run::{InterruptRecord, InterruptResult, NodeState, RunEvent};

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

/// Handles the interrupt of the node that has the turn.
pub(super) async fn handle(
    flow: &Flow,
    path: &mut Path,
    request: InterruptRequest,
) -> Result<Next, FlowError> {
    let engine = &flow.engine;
    let details = request.details();
    let node = path.top()?;
    let interrupt = InterruptId::generate();
    raised(flow, node, interrupt, &request)?;
    let context = OperationContext {
        interrupt,
        run: engine.run,
        node: &node.id,
        turn: node.turn,
        blackboard: &engine.blackboard,
        conversation: &node.conversation,
        scope: &flow.scope,
    };
    let handled = engine
        .handler
        .handle_unified_interrupt(request, context)
        .await;
    count(node, details.r#type, engine.ledger.was_requested(interrupt));
    match handled {
        Ok(Outcome::Completed(Resolution::Routed(routed))) => {
            Ok(follow(flow, node, interrupt, &details, *routed))
        }
        Ok(Outcome::Completed(Resolution::Stopped { reason, .. })) => {
            engine.ledger.ended(interrupt, InterruptResult::Stopped);
            Ok(Next::Finished(FlowEnd::Stopped(reason)))
        }
        Ok(Outcome::Completed(Resolution::Pruned { reason, .. })) => {
            engine.ledger.ended(interrupt, InterruptResult::Pruned);
            prune(flow, path, reason).await
        }
        Ok(Outcome::Interrupted { reason, .. }) => {
            engine.reroutes.release(interrupt).await?;
            Ok(Next::Finished(FlowEnd::Interrupted(reason)))
        }
        Err(HandleError::Unanswered { question, .. }) => {
            engine.ledger.unanswered(*question);
            Ok(Next::Finished(FlowEnd::Waiting))
        }
        Err(HandleError::Paused { .. }) => Ok(Next::Finished(FlowEnd::Waiting)),
        Err(refusal @ HandleError::NeedsCheckpoints { .. }) => {
            refuse(flow, node, interrupt, refusal.to_string());
            resume(flow, path).await
        }
        Err(source) => Err(FlowError::Interrupt {
            node: node.id.to_string(),
            source,
        }),
    }
}

fn raised(
    flow: &Flow,
    node: &Node,
    interrupt: InterruptId,
    request: &InterruptRequest,
) -> Result<(), FlowError> {
    let details = request.details();
    flow.engine.ledger.raised(InterruptRecord {
        interrupt,
        node: node.id.clone(),
        origin: request.kind(),
        interrupt_type: details.r#type,
        reason: details.reason.clone(),
        outcome: InterruptResult::Open,
    });
    flow.engine.recorder.record(RunEvent::InterruptRaised {
        interrupt,
        node: node.id.clone(),
        kind: request.kind(),
        details,
        payload: request.payload()?,
    });
    Ok(())
}

/// Counts interrupts of one type in a row, but those that a supervisor asked for.
fn count(node: &mut Node, interrupt_type: InterruptType, requested: bool) {
    node.streak = match node.streak {
        _ if requested => None,
        Some(streak) if streak.interrupt_type == interrupt_type => Some(Streak {
            count: streak.count.saturating_add(1),
            ..streak
        }),
        Some(_) | None => Some(Streak {
            interrupt_type,
            count: 1,
            told: false,
        }),
    };
}

/// Goes where the interrupt was sent. Its own node is told what was decided.
fn follow(
    flow: &Flow,
    node: &mut Node,
    interrupt: InterruptId,
    details: &InterruptDetails,
    routed: Routed<InterruptRouting>,
) -> Next {
    let target = InterruptRouting::agent_type_of(routed.target);
    let decision = json!({
        "type": details.r#type,
        "reason": details.reason,
        "answer": routed.answer,
        "decidedBy": routed.decided_by,
        "goesOnAt": target.name(),
    });
    flow.engine.ledger.ended(
        interrupt,
        InterruptResult::Routed {
            target: target.name().to_owned(),
            decided_by: routed.decided_by,
            filled_by: routed.filled_by,
            answer: routed.answer,
            reroute: routed.reroute,
        },
    );
    if target == node.kind.origin_route() {
        flow.tell(
            node,
            Message::user(format!(
                "[decision]\nYour interrupt was decided:\n{decision:#}"
            )),
        );
    }
    if stays(flow.role, target) {
        Next::routing(routed.routing)
    } else {
        Next::Finished(FlowEnd::Leaves(Box::new(routed.routing)))
    }
}

/// Whether a flow can go to this node itself: the run's own goes anywhere, a worker's comes back to
/// the worker or has missing context found.
fn stays(role: Role, target: RouteType) -> bool {
    match role {
        Role::Main => true,
        Role::Worker { dispatch } => {
            target == dispatch.origin_route() || target == RouteType::ContextManager
        }
    }
}

fn refuse(flow: &Flow, node: &mut Node, interrupt: InterruptId, reason: String) {
    let message = format!(
        "[note]\nYour interrupt could not be carried out: {reason}. Go on without it, or raise one of another type."
    );
    flow.engine.recorder.record(RunEvent::InterruptRefused {
        interrupt,
        reason: reason.clone(),
    });
    flow.engine
        .ledger
        .ended(interrupt, InterruptResult::Refused { reason });
    flow.tell(node, Message::user(message));
}

/// Ends the node that has the turn. Its parent is told and goes on without it.
async fn prune(flow: &Flow, path: &mut Path, reason: String) -> Result<Next, FlowError> {
    let pruned = path.top()?.id.clone();
    flow.leave_top(path, NodeState::Pruned).await?;
    if path.len() == 0 {
        return Ok(Next::Finished(FlowEnd::Pruned(reason)));
    }
    let node = path.top()?;
    flow.engine.nodes.open(&node.id);
    let note = json!({ "cutOff": pruned, "reason": reason });
    flow.tell(
        node,
        Message::user(format!(
            "[note]\nA node below you was cut off. Go on without it.\n{note:#}"
        )),
    );
    resume(flow, path).await
}
