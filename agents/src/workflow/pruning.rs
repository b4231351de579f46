//! Nodes that are cut off from outside: they and all below them end, and the parent continues without them.

use interrupt_router::NodeId;
use interrupt_router::model::Message;
use interrupts::store::NodeActivity;
use serde_json::json;

use super::failure::FlowError;
use super::flow::{Flow, FlowEnd, Next};
use super::node::Path;
use super::resume::resume;
use engine::run::RunEvent;
use journal::entry::CutOff;

/// Whether a node of the flow is to be cut off instead of taking this turn; if so, that is recorded. Of several, the
/// highest one counts: the others are below it.
pub(super) async fn wanted(
    flow: &Flow,
    path: &mut Path,
    turn: u32,
) -> Result<Option<CutOff>, FlowError> {
    let engine = &flow.engine;
    let Some(control) = engine.control() else {
        return Ok(None);
    };
    let wanted = path
        .ids()
        .find_map(|id| control.cut_off(id).map(|reason| (id.clone(), reason)));
    let Some((node, reason)) = wanted else {
        return Ok(None);
    };
    let mut place = flow.place();
    let top = path.top()?;
    // A turn that has begun has its place already.
    if top.turn < turn {
        place.own += 1;
        if flow.worker.is_none() {
            place.main = place.own;
        }
    }
    let cut_off = CutOff {
        node,
        reason,
        place,
    };
    engine
        .journal
        .record_cut_off(&top.id, turn, &cut_off)
        .await?;
    Ok(Some(cut_off))
}

/// Ends the node and all below it, and lets its parent continue.
pub(super) async fn end(
    flow: &Flow,
    path: &mut Path,
    node: NodeId,
    reason: String,
) -> Result<Next, FlowError> {
    flow.engine.recorder.record(RunEvent::CutOff {
        node: node.clone(),
        reason: reason.clone(),
    });
    let next = leave(flow, path, &node, reason).await?;
    if let Some(control) = flow.engine.control() {
        control.was_cut_off(&node).await;
    }
    match next {
        Some(end) => Ok(end),
        None => resume(flow, path).await,
    }
}

/// Ends a node and all below it. Its parent gets a note and the turn; if there is none, the flow ends.
pub(super) async fn leave(
    flow: &Flow,
    path: &mut Path,
    node: &NodeId,
    reason: String,
) -> Result<Option<Next>, FlowError> {
    while path.len() > 0 && path.top()?.id.is_within(node) {
        flow.leave_top(path, NodeActivity::Pruned).await?;
    }
    leave_below(flow, node, &reason).await?;
    if path.len() == 0 {
        return Ok(Some(Next::Finished(FlowEnd::Pruned(reason))));
    }
    let parent = path.top()?;
    flow.engine.nodes.open(&parent.id);
    let note = json!({ "cutOff": node, "reason": reason });
    flow.tell(
        parent,
        Message::user(format!(
            "[note]\nA node below you was cut off. Go on without it.\n{note:#}"
        )),
    );
    Ok(None)
}

/// Ends the nodes below one that have flows of their own, and withdraws what they and it had asked.
async fn leave_below(flow: &Flow, node: &NodeId, reason: &str) -> Result<(), FlowError> {
    let engine = &flow.engine;
    for (below, kind) in engine.nodes.unended_within(node) {
        engine.spans.agent_ended(&below, false);
        if engine.nodes.end(&below, NodeActivity::Pruned) {
            engine.recorder.record(RunEvent::AgentFinished {
                node: below.clone(),
                kind,
                status: NodeActivity::Pruned,
            });
        }
        let given_up = engine.reroutes.node_ended(engine.run, &below).await?;
        engine.tell_ended(given_up).await?;
    }
    engine.stored_interrupts.withdraw_within(node).await?;
    let reason = format!("its agent was cut off: {reason}");
    engine.note_decided(Some(node), &reason).await?;
    engine.leave_out(Some(node), &reason).await?;
    engine.open_interrupts.refused_within(node, &reason);
    Ok(())
}
