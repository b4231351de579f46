//! Whether a run can go on, and whether what holds it is only that a server was stopped.

use interrupts::life::{Interrupt, Role, RunState, State};
use interrupts::manager::{StopCause, StopNote};
use interrupts::store::{Filter, Pages, Run, Store, StoreError};
use routing_core::InterruptType;

use crate::branched::is_left_by_branch;

/// How many interrupts one look reads.
const PAGE: u32 = 200;

/// What keeps a run from going on, the stronger the later.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Hindrance {
    /// Nothing does.
    None,
    /// A server of an earlier version was stopped, which paused its runs: whoever comes after it goes on.
    Shutdown,
    /// A BRANCH has stopped it or forked it off: it goes on where a person says so.
    Branched,
    /// Somebody has paused it, and only he or another person resumes it.
    Paused,
}

/// What keeps a run from going on.
///
/// # Errors
///
/// Where the store cannot be read.
///
/// # Cancel safety
///
/// Safe: it only reads.
pub(super) async fn hindrance(store: &dyn Store, run: &Run) -> Result<Hindrance, StoreError> {
    let filter = Filter {
        run: Some(run.id),
        node: None,
        states: vec![State::AwaitingReview],
    };
    let mut found = if is_left_by_branch(store, run).await? {
        Hindrance::Branched
    } else {
        Hindrance::None
    };
    let mut pages = Pages::of(PAGE);
    while let Some(waiting) = pages.next(|page| store.interrupts(&filter, page)).await? {
        for (_position, interrupt) in &waiting {
            found = found.max(hindrance_by(interrupt));
        }
    }
    Ok(found)
}

fn hindrance_by(interrupt: &Interrupt) -> Hindrance {
    match note(interrupt) {
        None => Hindrance::None,
        Some(note) if is_of_a_server(interrupt, &note) => Hindrance::Shutdown,
        Some(_) => Hindrance::Paused,
    }
}

/// What a pause from outside says of itself; an agent's own is a question, on which its run waits.
fn note(interrupt: &Interrupt) -> Option<StopNote> {
    if interrupt.interrupt_type != InterruptType::Pause {
        return None;
    }
    serde_json::from_str(&interrupt.content).ok()
}

fn is_of_a_server(pause: &Interrupt, note: &StopNote) -> bool {
    note.cause == StopCause::Shutdown && pause.requested_by.role == Role::System
}

/// Whether it was begun and has not ended.
pub(super) fn is_live(run: &Run) -> bool {
    match run.state {
        RunState::Created
        | RunState::Running
        | RunState::Stopping
        | RunState::Paused
        | RunState::Waiting => true,
        RunState::Completed | RunState::Failed | RunState::Cancelled => false,
    }
}
