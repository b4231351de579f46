//! A node gets its request: the draft that a model filled becomes the full record.

use std::sync::Arc;

use super::failure::FlowError;
use super::flow::{Flow, FlowRole};
use super::kinds::is_collector;
use super::node::Path;
use super::node_requests::NodeRequest;
use super::resume::Action;
use super::step::turn;
use crate::agent_kind::AgentKind;
use crate::prompts;
use crate::records::FullRequest;

/// The action of a request: its node gets it and takes its turn.
pub(super) fn take<'a, D: NodeRequest>(draft: D, flow: &'a Flow) -> Action<'a> {
    Box::pin(async move {
        let mut path = flow.path.lock().await;
        receive(flow, &mut path, draft).await?;
        turn::<D::Routing>(flow, &mut path).await
    })
}

/// Gives the turn to the request's node, and the request to the node.
pub(super) async fn receive<D: NodeRequest>(
    flow: &Flow,
    path: &mut Path,
    draft: D,
) -> Result<(), FlowError> {
    if flow.role != FlowRole::Main && D::KIND != AgentKind::ContextManager {
        return Err(FlowError::Lost {
            detail: "a worker's flow was sent to a node of the run's own flow",
        });
    }
    let engine = &flow.engine;
    flow.enter(path, D::KIND).await?;
    let node = path.top()?;
    // A caller that is no collector gets no answer; the request says which collector does.
    if let Some(named) = draft.return_to()
        && !node.home.is_some_and(is_collector)
    {
        node.home = Some(named);
    }
    let caller = node.home.unwrap_or(node.kind);
    let carried = D::carried(&engine.summaries(), caller);
    engine.blackboard.post(&node.id, draft.clone());
    let full = Arc::new(FullRequest::new(node.id.clone(), draft, carried));
    let told = Arc::clone(&full);
    node.conversation.tell(move || prompts::request(&*told));
    engine.blackboard.post_shared(&node.id, full);
    Ok(())
}
