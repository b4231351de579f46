//! What a BRANCH leaves: the run that it has stopped, and the one that it has forked off. Both wait for a person.

use std::collections::HashSet;

use interrupt_router::InterruptType;
use interrupts::EffectId;
use interrupts::life::{Interrupt, RunState, State, Verdict};
use interrupts::store::{Filter, JournalEntry, Pages, Run, Store, StoreError};

use crate::listing::interrupts_in;

/// How many entries one look reads.
const PAGE: u32 = 500;

/// The kind of the journal's entries that say that a process has begun to work on a run.
const WORK: &str = "work";

/// Whether a run is as a BRANCH has left it, and no one has asked it to continue since.
///
/// # Errors
///
/// If the store cannot be read.
///
/// # Cancel safety
///
/// Safe: it only reads.
pub(crate) async fn is_left_by_branch(store: &dyn Store, run: &Run) -> Result<bool, StoreError> {
    match run.state {
        RunState::Created => is_forked_off(store, run).await,
        // It waits if a pause that came after the BRANCH was given up.
        RunState::Stopping | RunState::Paused | RunState::Waiting => {
            is_stopped_for_branch(store, run).await
        }
        RunState::Running | RunState::Completed | RunState::Failed | RunState::Cancelled => {
            Ok(false)
        }
    }
}

/// A fork that a user has ordered has an order of its own; what a BRANCH forks off has that of the run it leaves.
async fn is_forked_off(store: &dyn Store, run: &Run) -> Result<bool, StoreError> {
    let Some(from) = run.forked_from else {
        return Ok(false);
    };
    let left = store.run(from.run).await?;
    Ok(left.is_none_or(|left| left.content == run.content))
}

/// Whether a BRANCH came last in a run: no process has worked on it since, and no pause was decided. The journal gives
/// that order; clocks may jump.
async fn is_stopped_for_branch(store: &dyn Store, run: &Run) -> Result<bool, StoreError> {
    let filter = Filter {
        run: Some(run.id),
        node: None,
        states: vec![State::Resolved, State::Rerouted],
    };
    let decided = interrupts_in(store, &filter).await?;
    let branches = dispatches(&decided, is_applied_branch);
    if branches.is_empty() {
        return Ok(false);
    }
    let pauses = dispatches(&decided, |it| it.interrupt_type == InterruptType::Pause);
    let (mut pages, mut is_left) = (Pages::of(PAGE), false);
    while let Some(entries) = pages.next(|page| store.journal(run.id, page)).await? {
        for JournalEntry { intent, .. } in &entries {
            if branches.contains(&intent.effect) {
                is_left = true;
            } else if intent.kind.as_str() == WORK || pauses.contains(&intent.effect) {
                is_left = false;
            }
        }
    }
    Ok(is_left)
}

/// One that an agent asks for is a question: its run continues with the answer.
fn is_applied_branch(interrupt: &Interrupt) -> bool {
    let decision = interrupt.decision.as_ref();
    interrupt.interrupt_type == InterruptType::Branch
        && !interrupt.is_raised_by_agent()
        && decision.is_some_and(|decision| decision.verdict == Verdict::Applied)
}

fn dispatches(decided: &[Interrupt], of: impl Fn(&Interrupt) -> bool) -> HashSet<EffectId> {
    let decided = decided.iter().filter(|interrupt| of(interrupt));
    let decisions = decided.filter_map(|interrupt| interrupt.decision.as_ref());
    decisions.map(|decision| decision.effect).collect()
}
