//! What the handler keeps of one interrupt, so that handling it again repeats nothing.

use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::OnceCell;

use super::decisions::Proposal;
use super::resolution::Resolution;
use crate::ids::{DecisionId, EventId};
use crate::routing::InterruptRoutes;

/// One interrupt, from its first handling on.
pub(super) struct Slot<R: InterruptRoutes> {
    /// Fixed before anything is decided: if the interrupt is handled again while it is not known whether its decision
    /// was recorded, the same decision is proposed.
    pub(super) decision: DecisionId,
    pub(super) resolution: OnceCell<Resolution<R>>,
    proposal: Mutex<Option<Proposal<R::AgentType>>>,
}

impl<R: InterruptRoutes> Slot<R> {
    /// What was to be recorded when the handling was cut off, if it was made under this reroute: with another one
    /// bound, it is another question.
    pub(super) fn proposal(&self, bound: Option<&EventId>) -> Option<Proposal<R::AgentType>> {
        self.lock()
            .as_ref()
            .filter(|proposal| proposal.bound.as_ref() == bound)
            .cloned()
    }

    /// Keeps what is about to be recorded, so that a question that was answered is not asked again.
    pub(super) fn keep(&self, proposal: &Proposal<R::AgentType>) {
        *self.lock() = Some(proposal.clone());
    }

    fn lock(&self) -> MutexGuard<'_, Option<Proposal<R::AgentType>>> {
        // A whole value is put in its place, so a panic elsewhere leaves it whole.
        self.proposal.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<R: InterruptRoutes> Default for Slot<R> {
    fn default() -> Self {
        Self {
            decision: DecisionId::generate(),
            resolution: OnceCell::new(),
            proposal: Mutex::new(None),
        }
    }
}
