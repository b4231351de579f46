//! Where a flow continues after an interrupt of one of its nodes has ended.

use interrupt_router::answer::read_within;
use interrupt_router::handler::DecidedBy;
use interrupt_router::model::Message;
use interrupt_router::review::Answer;
use interrupt_router::{
    AgentType, InterruptDetails, InterruptId, InterruptRoutes, InterruptType, RouteSet, RunId,
    Verdict,
};
use interrupts::store::NewRun;
use serde_json::json;

use super::failure::FlowError;
use super::flow::{Flow, FlowEnd, FlowRole, Next};
use super::node::{Node, Path, Streak};
use super::pruning;
use super::results::hears_more;
use super::resume::resume;
use crate::agent_kind::RouteType;
use crate::records::InterruptRouting;
use engine::durable::decisions::declined_note;
use engine::run::{InterruptResult, RunEvent};
use journal::entry::{InterruptEnd, InterruptOutcome};
use journal::error::KeepError;
use journal::place;

/// Counts interrupts of one type in a row, except those that a supervisor asked for.
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

/// Continues as the interrupt ended.
pub(super) async fn follow(
    flow: &Flow,
    path: &mut Path,
    interrupt: InterruptId,
    details: &InterruptDetails,
    outcome: InterruptOutcome,
) -> Result<Next, FlowError> {
    let open_interrupts = &flow.engine.open_interrupts;
    let InterruptOutcome { requested, end } = outcome;
    let node = path.top()?;
    count(node, details.r#type, requested);
    match end {
        InterruptEnd::Stopped { reason } => {
            open_interrupts.ended(interrupt, InterruptResult::Stopped);
            if hears_more(flow, node)? {
                return goes_on_after_all(flow, path, details.r#type, &reason).await;
            }
            Ok(Next::Finished(FlowEnd::Stopped(reason)))
        }
        InterruptEnd::Pruned { reason } => {
            open_interrupts.ended(interrupt, InterruptResult::Pruned);
            if path.len() == 1 && hears_more(flow, path.top()?)? {
                return goes_on_after_all(flow, path, details.r#type, &reason).await;
            }
            let pruned = path.top()?.id.clone();
            let left = pruning::leave(flow, path, &pruned, reason).await?;
            flow.engine.settle_stops_of(&pruned).await?;
            match left {
                Some(next) => Ok(next),
                None => resume(flow, path).await,
            }
        }
        // The journal also has where its agent was cut off, and the flow continues from there.
        InterruptEnd::LeftOut { .. } => Err(KeepError::Diverged {
            place: place::interrupt(&node.id, node.turn),
            what: "agent that was cut off",
        }
        .into()),
        InterruptEnd::Refused { reason } => {
            refuse(flow, node, interrupt, reason);
            resume(flow, path).await
        }
        InterruptEnd::Branched { branch, reason } => {
            branch_off(flow, node, interrupt, branch, reason).await?;
            resume(flow, path).await
        }
        routed @ InterruptEnd::Routed { .. } => go(flow, node, interrupt, details, routed),
        InterruptEnd::Declined {
            verdict,
            decided_by,
            answer,
            ..
        } => {
            decline(flow, node, interrupt, details, verdict, decided_by, answer);
            resume(flow, path).await
        }
    }
}

/// Another turn for a node that has ended its run: a fork of that run has more input.
async fn goes_on_after_all(
    flow: &Flow,
    path: &mut Path,
    ended_by: InterruptType,
    reason: &str,
) -> Result<Next, FlowError> {
    let note = json!({ "endedBy": ended_by, "reason": reason });
    flow.tell(
        path.top()?,
        Message::user(format!(
            "[note]\nYou had ended the run. It goes on from there, for somebody has said more to it.\n{note:#}"
        )),
    );
    resume(flow, path).await
}

/// Goes where the interrupt was sent. Tells its own node what was decided.
fn go(
    flow: &Flow,
    node: &mut Node,
    interrupt: InterruptId,
    details: &InterruptDetails,
    routed: InterruptEnd,
) -> Result<Next, FlowError> {
    let InterruptEnd::Routed {
        routing,
        target: name,
        decided_by,
        filled_by,
        answer,
        reroute,
        ..
    } = routed
    else {
        return Err(FlowError::Lost {
            detail: "an interrupt that was not routed was to be followed",
        });
    };
    let unreadable = |what| KeepError::Diverged {
        place: place::interrupt(&node.id, node.turn),
        what,
    };
    let target: RouteType = name.parse().map_err(|_unknown| unreadable("target"))?;
    let route = InterruptRouting::route_to(target);
    let routing = read_within(
        routing.to_string().as_bytes(),
        RouteSet::<InterruptRouting>::only(route),
    )
    .map_err(|_unfitting| unreadable("request"))?;
    let decision = json!({
        "type": details.r#type,
        "reason": details.reason,
        "answer": answer,
        "decidedBy": decided_by,
        "goesOnAt": target.name(),
    });
    flow.engine.open_interrupts.ended(
        interrupt,
        InterruptResult::Routed {
            target: name,
            decided_by,
            filled_by,
            answer,
            reroute,
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
    Ok(if stays(flow.role, target) {
        Next::routing(routing)
    } else {
        Next::Finished(FlowEnd::Leaves(Box::new(routing)))
    })
}

/// Forks the run here: the fork can be resumed by itself, and this run continues.
async fn branch_off(
    flow: &Flow,
    node: &mut Node,
    interrupt: InterruptId,
    branch: RunId,
    reason: String,
) -> Result<(), FlowError> {
    let engine = &flow.engine;
    let record = &engine.journal.record;
    let store = record.store();
    let is_there = store.run(branch).await.map_err(KeepError::from)?.is_some();
    if !is_there
        && let Some(checkpoint) = engine.checkpoint("the run is forked").await?
        && let Some(own) = store.run(engine.run).await.map_err(KeepError::from)?
    {
        let new = NewRun {
            root: None,
            id: branch,
            alias: None,
            content: own.content,
        };
        store
            .fork_run(checkpoint, new)
            .await
            .map_err(KeepError::from)?;
    }
    engine.recorder.record(RunEvent::Branched {
        interrupt,
        branch,
        reason,
    });
    engine
        .open_interrupts
        .ended(interrupt, InterruptResult::Branched { run: branch });
    flow.tell(
        node,
        Message::user(format!(
            "[note]\nAnother run was forked off here: {branch}, which is not yours. Go on with your work."
        )),
    );
    Ok(())
}

/// Whether a flow can go to this node itself: the run's own goes anywhere, a worker's comes back to the worker or has
/// missing context found.
fn stays(role: FlowRole, target: RouteType) -> bool {
    match role {
        FlowRole::Main => true,
        FlowRole::Worker { dispatch } => {
            target == dispatch.origin_route() || target == RouteType::ContextManager
        }
    }
}

/// Tells the node that it is not to do what it asked about: it has another turn, and takes no route by this answer.
fn decline(
    flow: &Flow,
    node: &mut Node,
    interrupt: InterruptId,
    details: &InterruptDetails,
    verdict: Verdict,
    decided_by: DecidedBy,
    answer: Answer,
) {
    let note = declined_note(details, verdict, decided_by, answer.text.as_deref());
    flow.engine.open_interrupts.ended(
        interrupt,
        InterruptResult::Declined {
            verdict,
            decided_by,
            answer,
        },
    );
    flow.tell(node, Message::user(note));
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
        .open_interrupts
        .ended(interrupt, InterruptResult::Refused { reason });
    flow.tell(node, Message::user(message));
}
