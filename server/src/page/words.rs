//! What happened, in words for people. An event without such words is named as programs name it.

use crate::wire::label;

/// The text for an event of the feed; `kind` is its type without prefix and version.
pub(super) fn event(kind: &str) -> String {
    match kind {
        "llm.call_started" => "asks its model",
        "llm.call_finished" => "is done asking its model",
        "llm.call_cancelled" => "was stopped while it asked its model",
        "tool.started" => "uses a tool",
        "tool.finished" => "has a tool's result",
        "tool.interrupted" => "was stopped while it used a tool",
        "tool.skipped" => "may not use a tool",
        "effect.started" => "begins a step",
        "effect.finished" => "has done a step",
        "agent.status_changed" => "is now",
        "agent.finished" => "has ended:",
        "agent.message_added" => "gets a message",
        "checkpoint.saved" => "A checkpoint is saved",
        "interrupt.requested" => "An interrupt is asked for",
        "interrupt.delivered" => "It is delivered",
        "interrupt.acknowledged" => "The agent has acknowledged it",
        "interrupt.opened" => "A person is asked",
        "interrupt.claimed" => "Claimed by a reviewer",
        "interrupt.released" => "It is given back",
        "interrupt.held" => "It waits until another interrupt is decided",
        "interrupt.updated" => "Its review has changed",
        "interrupt.mode_raised" => "It is to happen at once",
        "interrupt.asked" => "It is requested once more",
        "interrupt.taken_back" => "A request for it was withdrawn",
        "interrupt.resolved" => "It is decided",
        "interrupt.rerouted" => "It is decided, and the answer goes elsewhere",
        "interrupt.expired" => "Not answered in time",
        "interrupt.cancelled" => "It was taken back",
        "interrupt.dead_lettered" => "It could not be delivered",
        "interrupt.redriven" => "It is tried again",
        "run.created" | "run.running" | "run.stopping" | "run.paused" | "run.waiting"
        | "run.completed" | "run.failed" | "run.cancelled" => "The run is now",
        "rule.created" => "A standing rule is made",
        "rule.used" => "A standing rule has answered",
        "rule.expired" => "A standing rule has ended",
        _ => return label(&kind.replace('.', " ")),
    }
    .to_owned()
}

/// The text for a row of the audit: what it is about, and its event.
pub(super) fn audited(about: &str, event: &str) -> String {
    match (about, event) {
        ("run", "create") => "Run created",
        ("run", "own") => "Run taken by a process",
        ("run", "release") => "Run let go by its process",
        ("run", "change") => "Run is now",
        ("run", "catalogue") => "Run goes on under a catalogue",
        ("interrupt", "admit") => "Interrupt asked for",
        ("interrupt", "take") => "Interrupt delivered to the run's process",
        ("interrupt", "acknowledge") => "Interrupt has taken hold",
        ("interrupt", "require_review") => "A person is asked",
        ("interrupt", "ask_again") => "Asked again",
        ("interrupt", "decide") => "Decided",
        _ => return label(format!("{about} {event}").trim()),
    }
    .to_owned()
}

#[cfg(test)]
mod tests {
    use super::{audited, event};

    #[test]
    fn what_has_no_words_is_named_as_programs_name_it() {
        assert_eq!(event("run.paused"), "The run is now");
        assert_eq!(event("reroute.bound"), "Reroute bound");
        assert_eq!(audited("run", "own"), "Run taken by a process");
        assert_eq!(audited("token", "created"), "Token created");
        assert_eq!(audited("checkpoint", ""), "Checkpoint");
    }
}
