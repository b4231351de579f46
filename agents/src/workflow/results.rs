//! What nodes answer when their work is done, and where the run goes from there.

use interrupt_router::Route;
use interrupt_router::model::Message;
use interrupts::store::NodeActivity;
use serde::Serialize;

use super::failure::FlowError;
use super::flow::{Flow, FlowEnd, FlowRole, Next};
use super::node::Node;
use super::resume::{Action, resume};
use crate::records::*;
use journal::entry::FlowPosition;

/// The action of a worker's result: the worker's flow ends with it.
pub(super) fn worker_result<'a, T>(result: T, flow: &'a Flow) -> Action<'a>
where
    T: Serialize + Clone + Send + Sync + 'static,
{
    Box::pin(async move {
        let value = serde_json::to_value(&result)?;
        let mut path = flow.path.lock().await;
        flow.engine.blackboard.post(&path.top()?.id, result);
        Ok(Next::Finished(FlowEnd::WorkerDone(value)))
    })
}

/// The action of a review or a merge: it goes back to the collector that called.
pub(super) fn called_result<'a, T>(result: T, flow: &'a Flow) -> Action<'a>
where
    T: Serialize + Clone + Send + Sync + 'static,
{
    Box::pin(async move {
        let value = serde_json::to_value(&result)?;
        let mut path = flow.path.lock().await;
        let node = path.top()?;
        let home = node.home.ok_or(FlowError::Lost {
            detail: "a review or merge has no collector to go back to",
        })?;
        flow.engine.blackboard.post(&node.id, result);
        flow.leave_top(&mut path, NodeActivity::Completed).await?;
        flow.enter(&mut path, home).await?;
        let node = path.top()?;
        flow.tell(
            node,
            Message::user(format!("[result]\nWhat you asked for is done:\n{value:#}")),
        );
        resume(flow, &mut path).await
    })
}

/// What a collector has decided.
pub(super) trait Collected: Serialize + Clone + Send + Sync + 'static {
    /// The phase that was collected; none for the whole workflow.
    const PHASE: Option<Phase>;

    /// What it brought.
    fn summary(&self) -> &str;

    /// Where to go.
    fn decision(&self) -> CollectorDecision;

    /// Why.
    fn rationale(&self) -> &str;

    /// The phase to go back to.
    fn requested_phase(&self) -> Option<Phase>;
}

macro_rules! collected {
    ($($result:ident => $phase:expr;)*) => {$(
        impl Collected for $result {
            const PHASE: Option<Phase> = $phase;

            fn summary(&self) -> &str {
                &self.summary
            }

            fn decision(&self) -> CollectorDecision {
                self.decision
            }

            fn rationale(&self) -> &str {
                &self.rationale
            }

            fn requested_phase(&self) -> Option<Phase> {
                self.requested_phase
            }
        }
    )*};
}

collected! {
    DiscoveryCollectorResult => Some(Phase::Discovery);
    PlanningCollectorResult => Some(Phase::Planning);
    TicketCollectorResult => Some(Phase::Ticket);
    OrchestratorCollectorResult => None;
}

/// The action of a collector's result: its decision says where the run goes.
pub(super) fn collected<'a, T: Collected>(result: T, flow: &'a Flow) -> Action<'a> {
    Box::pin(async move {
        let mut path = flow.path.lock().await;
        flow.engine.blackboard.post(&path.top()?.id, result.clone());
        let is_end = match result.decision() {
            CollectorDecision::AdvancePhase => T::PHASE.is_none(),
            CollectorDecision::RouteBack => false,
            CollectorDecision::Stop => true,
        };
        if is_end && hears_more(flow, path.top()?)? {
            return resume(flow, &mut path).await;
        }
        drop(path);
        let goal = NonEmptyText::new(flow.engine.goal.gist()).map_err(FlowError::of_workflow)?;
        Ok(match result.decision() {
            CollectorDecision::AdvancePhase => match T::PHASE {
                None => Next::Finished(FlowEnd::Completed(result.summary().to_owned())),
                Some(phase) => Next::routing(after(phase, goal)),
            },
            CollectorDecision::RouteBack => {
                let feedback = result.rationale().to_owned();
                Next::routing(back(result.requested_phase().or(T::PHASE), goal, feedback))
            }
            CollectorDecision::Stop => {
                Next::Finished(FlowEnd::Stopped(result.rationale().to_owned()))
            }
        })
    })
}

/// Whether the run does not end with this node's answer: the node has unread input, for example in a fork of a run that
/// was over. The node reads it then, in another turn.
pub(super) fn hears_more(flow: &Flow, node: &Node) -> Result<bool, FlowError> {
    if flow.role != FlowRole::Main {
        return Ok(false);
    }
    let engine = &flow.engine;
    let hears_more = if flow.goes_on() {
        let (turn, next) = (node.turn + 1, flow.place().own + 1);
        let is_next = |place: &FlowPosition| place.worker.is_none() && place.own == next;
        let start = engine.journal.start_of(&node.id, turn);
        let cut_off = engine.journal.cut_off(&node.id, turn)?;
        start.is_some_and(|it| is_next(&it.place)) || cut_off.is_some_and(|it| is_next(&it.place))
    } else {
        engine.given_up().is_none() && engine.has_inputs()
    };
    if hears_more {
        engine.nodes.open(&node.id);
    }
    Ok(hears_more)
}

/// Where a finished phase leads.
fn after(phase: Phase, goal: NonEmptyText) -> InterruptRouting {
    let feedback = None;
    match phase.next() {
        Some(Phase::Discovery) => {
            DiscoveryRoute::wrap(DiscoveryOrchestratorRequest { goal, feedback })
        }
        Some(Phase::Planning) => {
            PlanningRoute::wrap(PlanningOrchestratorRequest { goal, feedback })
        }
        Some(Phase::Ticket) => TicketRoute::wrap(TicketOrchestratorRequest { goal, feedback }),
        None => OrchestratorCollectorRoute::wrap(OrchestratorCollectorRequest {
            goal,
            phase: Some(phase.name().to_owned()),
        }),
    }
}

/// Back to the leader of a phase, or to the orchestrator if no phase is named.
fn back(phase: Option<Phase>, goal: NonEmptyText, feedback: String) -> InterruptRouting {
    let feedback = Some(feedback);
    match phase {
        Some(Phase::Discovery) => {
            DiscoveryRoute::wrap(DiscoveryOrchestratorRequest { goal, feedback })
        }
        Some(Phase::Planning) => {
            PlanningRoute::wrap(PlanningOrchestratorRequest { goal, feedback })
        }
        Some(Phase::Ticket) => TicketRoute::wrap(TicketOrchestratorRequest { goal, feedback }),
        None => OrchestratorRoute::wrap(OrchestratorRequest {
            goal,
            phase: Some(Phase::Discovery.name().to_owned()),
            feedback,
        }),
    }
}
