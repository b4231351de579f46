//! A step's answer as the journal has it: nothing is asked, and nothing of a question is put together.

use routing_core::Routing;
use routing_core::ask::Asked;

use super::flow::Flow;
use super::node::Node;
use super::step::{caller, context_of};
use crate::durable::entry::CallResult;
use crate::durable::error::KeepError;

/// The answer of the node's turn where it was recorded, was taken at once, and asks for no tools. In all other cases
/// the model is asked as usual, which reads what else was recorded.
pub(super) fn recall<R: Routing>(flow: &Flow, node: &Node) -> Result<Option<Asked<R>>, KeepError> {
    let journal = &flow.engine.journal;
    let mut caller = caller(flow, node);
    let first = journal.call_place(&caller);
    caller.correction = 1;
    if !journal.is_answered(&first)? || journal.at(&journal.call_place(&caller))?.is_some() {
        return Ok(None);
    }
    let Some(result) = journal.result::<CallResult>(&first, &node.id)? else {
        return Ok(None);
    };
    if result.cut_off || !result.tool_requests.is_empty() {
        return Ok(None);
    }
    let context = context_of::<R>(flow, node, Vec::new());
    let Ok(routing) = flow.engine.asker.read(&context, &result.text, false) else {
        // It fits another version of the schema: the question says so.
        return Ok(None);
    };
    journal.take_start(&node.id);
    Ok(Some(Asked {
        routing,
        text: result.text,
        corrections: 0,
        usage: result.usage,
    }))
}
