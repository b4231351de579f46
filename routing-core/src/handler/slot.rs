//! What the handler keeps of one interrupt, so that handling it again repeats nothing.

use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::OnceCell;

use super::resolution::{DecidedBy, FilledBy, Resolution};
use crate::ids::DecisionId;
use crate::review::Answer;
use crate::route::RouteId;
use crate::routing::Routing;

/// A decision: the target is fixed, its request may be still to fill.
#[derive(Clone)]
pub(super) struct Decided<R: Routing> {
    pub(super) answer: Answer,
    pub(super) decided_by: DecidedBy,
    /// The target that the person chose, where they chose one.
    pub(super) chosen: Option<RouteId<R>>,
    pub(super) filled: Option<(R, FilledBy)>,
}

/// One interrupt, from its first handling on.
pub(super) struct Slot<R: Routing> {
    /// Fixed before anything is decided: whoever handles the interrupt again after a reroute was
    /// consumed, and before its resolution was made, consumes it as the same decision.
    pub(super) decision: DecisionId,
    pub(super) resolution: OnceCell<Resolution<R>>,
    decided: Mutex<Option<Kept<R>>>,
}

/// A decision, and the reroute that it was made under: with another one bound, it is another question.
struct Kept<R: Routing> {
    reroute: Option<RouteId<R>>,
    decided: Decided<R>,
}

impl<R: Routing> Slot<R> {
    /// The decision that was made under this reroute, where one was.
    pub(super) fn decided(&self, reroute: Option<RouteId<R>>) -> Option<Decided<R>> {
        self.lock()
            .as_ref()
            .filter(|kept| kept.reroute == reroute)
            .map(|kept| kept.decided.clone())
    }

    /// Keeps a decision: what somebody has answered is not asked again.
    pub(super) fn keep(&self, reroute: Option<RouteId<R>>, decided: &Decided<R>) {
        let decided = decided.clone();
        *self.lock() = Some(Kept { reroute, decided });
    }

    fn lock(&self) -> MutexGuard<'_, Option<Kept<R>>> {
        // A whole value is put in its place, so a panic elsewhere leaves it whole.
        self.decided.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<R: Routing> Default for Slot<R> {
    fn default() -> Self {
        Self {
            decision: DecisionId::generate(),
            resolution: OnceCell::new(),
            decided: Mutex::new(None),
        }
    }
}
