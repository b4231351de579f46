//! A section that must not be interrupted.

use std::fmt::{self, Debug};
use std::sync::Arc;

use super::Shared;
use super::state::State;

/// Requests to interrupt wait until this is dropped; sections may overlap.
#[must_use = "the section ends as soon as this is dropped"]
pub struct NonInterruptible {
    shared: Arc<Shared>,
}

impl NonInterruptible {
    pub(super) fn begin(shared: &Arc<Shared>) -> Self {
        shared.change(State::begin_section);
        Self {
            shared: Arc::clone(shared),
        }
    }
}

impl Drop for NonInterruptible {
    fn drop(&mut self) {
        if let Some(reason) = self.shared.change(State::end_section) {
            self.shared.request(reason);
        }
    }
}

impl Debug for NonInterruptible {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("NonInterruptible")
            .finish_non_exhaustive()
    }
}
