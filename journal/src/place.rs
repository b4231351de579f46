//! The places of effects in a run: the same step of a resumed or forked run has the same place.

use interrupt_router::NodeId;
use interrupt_router::model::{ModelCaller, Purpose};

const fn purpose(purpose: Purpose) -> &'static str {
    match purpose {
        Purpose::Step => "step",
        Purpose::Route => "route",
        Purpose::Resolution => "resolution",
        Purpose::Review => "review",
        Purpose::Conversation => "conversation",
    }
}

/// The place of a model's call.
pub fn model_call(caller: &ModelCaller) -> String {
    let ModelCaller {
        node,
        turn,
        correction,
        ..
    } = caller;
    format!("{node}#{turn}/{}/{correction}", purpose(caller.purpose))
}

/// The place of a model's call after so many rounds of tools.
pub fn in_round(call: &str, round: u32) -> String {
    match round {
        0 => call.to_owned(),
        round => format!("{call}.{round}"),
    }
}

/// The place of a tool call: the one at this index among those that a model asked for at a place.
pub fn tool_call(asked_at: &str, index: usize) -> String {
    format!("{asked_at}/tool/{index}")
}

/// The place of the first call of a node's turn.
pub fn turn(node: &NodeId, turn: u32) -> String {
    format!("{node}#{turn}/{}/0", purpose(Purpose::Step))
}

/// The place of the interrupt that a node raised in a turn.
pub fn interrupt(node: &NodeId, turn: u32) -> String {
    format!("{node}#{turn}/interrupt")
}

/// The place where a node was cut off from outside instead of taking this turn.
pub fn cut_off(node: &NodeId, turn: u32) -> String {
    format!("{node}#{turn}/cut_off")
}

/// The place where a turn is counted in which a node ignored an event.
pub fn ignored(node: &NodeId, turn: u32) -> String {
    format!("{node}#{turn}/ignored")
}

/// The place of a try of the call at a place, counted from 1.
pub fn attempt(call: &str, attempt: u32) -> String {
    format!("{call}/attempt/{attempt}")
}

/// The step that a model's call is of, of which there is one in each turn of a node; `None` if it is of none:
/// a review, or the filling in of a request.
pub fn step_of(place: &str) -> Option<&str> {
    let (call, _correction) = place.rsplit_once('/')?;
    let (step, of) = call.rsplit_once('/')?;
    (of == purpose(Purpose::Step)).then_some(step)
}
