//! Decisions: what was decided is what the journal says was carried out.

use std::collections::BTreeMap;

use interrupts::life::{Family, Interrupt, RunState, State, Verdict};
use interrupts::store::{Store, StoreError};
use serde_json::Value;

use super::journal::Journal;
use super::lives::all;
use super::{Finding, Report};

pub(super) async fn check(
    store: &dyn Store,
    journals: &[Journal],
    report: &mut Report,
) -> Result<(), StoreError> {
    for interrupt in all(store).await? {
        let is_answered = matches!(interrupt.state, State::Resolved | State::Rerouted);
        let journal = journals
            .iter()
            .find(|journal| journal.run.id == interrupt.run);
        if let (true, Family::Question, Some(journal)) = (is_answered, interrupt.family(), journal)
            && let Some(detail) = difference(&interrupt, journal)
        {
            report.findings.push(Finding::NotCarriedOut {
                interrupt: interrupt.id,
                detail,
            });
        }
    }
    Ok(())
}

/// What came of each interrupt of a run that was handled, by its id.
fn outcomes(journal: &Journal) -> BTreeMap<String, Value> {
    let handled = journal
        .entries
        .iter()
        .filter(|entry| entry.intent.kind.as_str() == "interrupt");
    let outcome = |entry: &interrupts::store::JournalEntry| {
        let intent: Value = serde_json::from_str(&entry.intent.content).ok()?;
        let result = entry.result.as_ref()?;
        let outcome = serde_json::from_str(&result.content).ok()?;
        Some((intent.get("interrupt")?.as_str()?.to_owned(), outcome))
    };
    handled.filter_map(outcome).collect()
}

fn difference(interrupt: &Interrupt, journal: &Journal) -> Option<String> {
    let decision = interrupt.decision.as_ref()?;
    let content: Value = serde_json::from_str(&interrupt.content).unwrap_or_default();
    let fills = content.get("fills").and_then(Value::as_str);
    let id = fills.map_or_else(|| interrupt.id.to_string(), str::to_owned);
    let outcomes = outcomes(journal);
    let Some(outcome) = outcomes.get(&id) else {
        // A run that was cancelled carries nothing out any more, one that goes on may still do so.
        let is_over = journal.run.state == RunState::Completed;
        return is_over.then(|| format!("nothing came of {:?}", decision.verdict));
    };
    if outcome["outcome"] != "routed" {
        return None;
    }
    if outcome["target"] != decision.target.as_str() {
        return Some(format!("sent to {}: {outcome}", decision.target));
    }
    let given: Value = decision
        .content
        .as_deref()
        .and_then(|content| serde_json::from_str(content).ok())
        .unwrap_or_default();
    match fills {
        Some(_) if outcome["answer"]["editedRequest"] != given["editedRequest"] => {
            Some(format!("filled in otherwise: {outcome}"))
        }
        None if outcome["decision"] != decision.id.to_string() => {
            Some(format!("another decision was carried out: {outcome}"))
        }
        None if decision.verdict == Verdict::Respond
            && outcome["answer"]["text"] != given["text"] =>
        {
            Some(format!("other words were carried out: {outcome}"))
        }
        Some(_) | None => None,
    }
}
