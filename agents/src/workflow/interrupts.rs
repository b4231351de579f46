//! From an agent's interrupt to where its flow continues.

use engine::run::raising::{Around, Handled, Raiser};
use interrupt_router::{
    AgentType as _, AnswerForm, InterruptDetails, InterruptId, InterruptType, SealedInterrupt,
    StopReason,
};
use journal::entry::{CutOff, InterruptOutcome};

use super::after_interrupt::follow;
use super::failure::FlowError;
use super::flow::{Flow, FlowEnd, Next};
use super::node::{Node, Path};
use super::pruning;
use crate::agent_kind::AgentKind;
use crate::records::*;

/// The interrupt of a node whose model gives no valid answer: a person is asked instead.
pub(super) fn of_a_stuck_node(kind: AgentKind, problem: String) -> InterruptRequest {
    use AgentKind as Kind;
    let details = InterruptDetails {
        context_for_decision:
            "Say how the agent shall go on, fill in its request yourself, or send it elsewhere."
                .to_owned(),
        answer_form: Some(AnswerForm::Words),
        ..InterruptDetails::new(
            InterruptType::HumanReview,
            format!("The agent's model gives no answer that can be used: {problem}"),
        )
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

/// The node as it raises an interrupt in its turn.
fn raiser(node: &Node) -> Raiser<'_> {
    Raiser {
        node: &node.id,
        kind: node.kind.name(),
        turn: node.turn,
        step: node.step,
    }
}

/// Handles the interrupt of the node that has the turn: with its recorded outcome, if it was resolved before.
pub(super) async fn handle(
    flow: &Flow,
    path: &mut Path,
    request: InterruptRequest,
) -> Result<Next, FlowError> {
    let engine = &flow.engine;
    let node = path.top()?;
    let recorded = engine.recorded_interrupt::<InterruptRequest>(raiser(node))?;
    let Some((interrupt, request, outcome)) = recorded else {
        return resolve(flow, path, request, None).await;
    };
    let turn = node.turn + 1;
    let is_open = outcome.as_ref().is_none_or(InterruptOutcome::is_left_out);
    if is_open && let Some(CutOff { node, reason, .. }) = engine.journal.cut_off(&node.id, turn)? {
        engine.raised(raiser(path.top()?), interrupt, &request)?;
        flow.advance();
        return pruning::end(flow, path, node, reason).await;
    }
    let Some(outcome) = outcome else {
        return resolve(flow, path, request, Some(interrupt)).await;
    };
    engine.raised(raiser(node), interrupt, &request)?;
    engine.told_again(&node.id, interrupt, &outcome);
    follow(flow, path, interrupt, &request.details(), outcome).await
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
    engine.journal.go_live();
    let details = request.details();
    let node = path.top()?;
    let interrupt = engine
        .record_interrupt(raiser(node), &request, begun)
        .await?;
    engine.raised(raiser(node), interrupt, &request)?;
    engine.keep_nodes().await?;
    if let Some(next) = left_out(flow, path).await? {
        return Ok(next);
    }
    let node = path.top()?;
    let around = Around {
        conversation: &node.conversation.messages()?,
        blackboard: &engine.blackboard,
    };
    let handled = engine
        .resolve_interrupt(&engine.handler, raiser(node), around, (interrupt, request))
        .await?;
    match handled {
        Handled::Resolved(outcome) => follow(flow, path, interrupt, &details, *outcome).await,
        Handled::Interrupted(reason) => stopped(flow, path, reason).await,
        Handled::Waiting => Ok(Next::Finished(FlowEnd::Waiting)),
    }
}

/// Where the flow continues without the node, if it is to be cut off: its answer is not needed, and no call is begun
/// only to be cut short.
async fn left_out(flow: &Flow, path: &mut Path) -> Result<Option<Next>, FlowError> {
    let node = path.top()?;
    let (id, turn) = (node.id.clone(), node.turn + 1);
    if !flow.engine.scope_of(&id).is_stopping() {
        return Ok(None);
    }
    let Some(CutOff { node, reason, .. }) = pruning::wanted(flow, path, turn).await? else {
        return Ok(None);
    };
    flow.advance();
    pruning::end(flow, path, node, reason).await.map(Some)
}

/// The flow was stopped while the interrupt waited: it stays open, unless its node is cut off.
async fn stopped(flow: &Flow, path: &mut Path, reason: StopReason) -> Result<Next, FlowError> {
    Ok(match left_out(flow, path).await? {
        Some(next) => next,
        None => Next::Finished(FlowEnd::Interrupted(reason)),
    })
}
