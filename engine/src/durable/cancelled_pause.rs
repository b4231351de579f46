//! Pauses whose decision is that the run shall not go on.

use interrupt_router::InterruptType;
use interrupts::life::{Decider, Decision, Interrupt, Verdict};
use serde_json::Value;

/// Why a run ends that was given up while it was paused, in words; `None` if the interrupt's decision does not give it
/// up, or there is no decision.
///
/// `cancel` gives up what waits for an interrupt. For a question that is one matter, which its agent then gives up; for
/// a pause it is the run.
pub fn given_up_because(interrupt: &Interrupt) -> Option<String> {
    if interrupt.interrupt_type != InterruptType::Pause {
        return None;
    }
    let decision = interrupt.decision.as_ref()?;
    if decision.verdict != Verdict::Cancel {
        return None;
    }
    let who = match &decision.by {
        Decider::Person { name } | Decider::Rule { name, .. } => name.as_str(),
        Decider::Policy => "the policy",
        // No one has decided, so no one has given it up.
        Decider::Deadline => return None,
    };
    Some(match reason_of(decision) {
        Some(words) => format!("{who} cancelled it: {words}"),
        None => format!("{who} cancelled it while it was paused"),
    })
}

/// What was said with a decision.
fn reason_of(decision: &Decision) -> Option<String> {
    let content: Value = serde_json::from_str(decision.content.as_deref()?).ok()?;
    ["input", "text"]
        .into_iter()
        .find_map(|field| content.get(field)?.as_str())
        .map(|words| words.trim().to_owned())
        .filter(|words| !words.is_empty())
}
