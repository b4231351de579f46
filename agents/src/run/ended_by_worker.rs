//! Runs that one of their workers has ended: a fork from there reads no further input.

use std::collections::HashMap;

use interrupt_router::NodeId;
use interrupts::KindName;
use interrupts::store::{Checkpoint, JournalEntry, Pages, Store, StoreError};

use crate::agent_kind::AgentKind;
use journal::RunSnapshot;
use journal::entry::{InterruptEnd, InterruptOutcome};
use journal::kind::{INTERRUPT, MODEL_CALL};
use journal::place;

/// How many journal entries are read at a time.
const PAGE: u32 = 500;

/// The worker, or the agent below it, whose recorded answer by this checkpoint was the STOP that ended the whole run;
/// `None` if none had. Its siblings and the nodes that waited for it ended with it, so no turn follows in a run forked
/// there, even if more input comes.
///
/// # Errors
///
/// [`StoreError`].
///
/// # Cancel safety
///
/// Safe: it only reads.
pub async fn ended_by_worker(
    store: &dyn Store,
    checkpoint: &Checkpoint,
) -> Result<Option<NodeId>, StoreError> {
    // A process that resumes from it refuses a checkpoint that it cannot read whole.
    let Ok(snapshot) = RunSnapshot::of(checkpoint) else {
        return Ok(None);
    };
    let is_worker = |kind: &KindName| {
        let kind = kind.as_str().parse::<AgentKind>();
        kind.is_ok_and(AgentKind::is_worker)
    };
    let workers = snapshot.nodes.iter().filter(|it| is_worker(&it.kind));
    let workers: Vec<&NodeId> = workers.map(|it| &it.node).collect();
    let (mut answered, mut ended) = (HashMap::new(), Vec::new());
    if workers.is_empty() {
        return Ok(None);
    }
    let mut pages = Pages::of(PAGE);
    let read = |page| store.journal(checkpoint.id.run, page);
    while let Some(entries) = pages.next(read).await? {
        for entry in entries {
            let node = &entry.intent.node;
            if !workers.iter().any(|worker| node.is_within(worker)) {
                continue;
            }
            if let Some((turn, count)) = answer_of(&entry) {
                answered.insert(turn, count);
            }
            ended.extend(ended_the_run(&entry).map(|turn| (turn, entry.intent.node)));
        }
    }
    let is_by_then = |turn: &String| {
        let count = answered.get(turn);
        count.is_some_and(|count| *count <= checkpoint.journal)
    };
    let mut ended = ended.into_iter();
    Ok(ended.find_map(|(turn, node)| is_by_then(&turn).then_some(node)))
}

/// The turn of a model's recorded answer, and when it was recorded. If a turn has several, the last one counts.
fn answer_of(entry: &JournalEntry) -> Option<(String, u64)> {
    if entry.intent.kind.as_str() != MODEL_CALL {
        return None;
    }
    let turn = place::step_of(entry.intent.place.as_deref()?)?;
    Some((turn.to_owned(), entry.result.as_ref()?.count))
}

/// The turn with whose answer an agent ended the run. A fork that has the answer ends the same way, even if its outcome
/// was not recorded by then.
fn ended_the_run(entry: &JournalEntry) -> Option<String> {
    if entry.intent.kind.as_str() != INTERRUPT {
        return None;
    }
    let outcome: InterruptOutcome = serde_json::from_str(&entry.result.as_ref()?.content).ok()?;
    let (turn, _interrupt) = entry.intent.place.as_deref()?.rsplit_once('/')?;
    matches!(outcome.end, InterruptEnd::Stopped { .. }).then(|| turn.to_owned())
}
