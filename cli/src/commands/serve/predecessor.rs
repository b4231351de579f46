//! Whether a run can go on, and whether it is held only because a server was stopped.

use interrupt_router::InterruptType;
use interrupts::life::{Interrupt, Role, RunState, State};
use interrupts::manager::{StopCause, StopNote};
use interrupts::store::{Filter, Pages, Run, Store, StoreError};

use crate::branched::is_left_by_branch;

/// How many interrupts are read at a time.
const PAGE: u32 = 200;

/// What keeps a run from going on, from weak to strong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Hindrance {
    /// Nothing does.
    None,
    /// A server of an earlier version was stopped, which paused its runs: the next server continues them.
    Shutdown,
    /// A BRANCH has stopped it or forked it off: it goes on when a person says so.
    Branched,
    /// A person has paused it, and only a person resumes it.
    Paused,
}

/// What keeps a run from going on.
///
/// # Errors
///
/// If the store cannot be read.
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

/// The note of a pause from outside; an agent's own pause is a question, on which its run waits.
fn note(interrupt: &Interrupt) -> Option<StopNote> {
    if interrupt.interrupt_type != InterruptType::Pause {
        return None;
    }
    serde_json::from_str(&interrupt.content).ok()
}

fn is_of_a_server(pause: &Interrupt, note: &StopNote) -> bool {
    note.cause == StopCause::Shutdown && pause.requested_by.role == Role::System
}

/// Whether it has begun and not ended.
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
