//! A section that must not be interrupted.

use std::fmt::{self, Debug};
use std::sync::Arc;

use super::ControllerInner;
use super::state::ControllerState;

/// Requests to interrupt wait until this is dropped; sections may overlap.
#[must_use = "the section ends as soon as this is dropped"]
pub struct NonInterruptible {
    shared: Arc<ControllerInner>,
}

impl NonInterruptible {
    pub(super) fn begin(shared: &Arc<ControllerInner>) -> Self {
        shared.change(ControllerState::begin_section);
        Self {
            shared: Arc::clone(shared),
        }
    }
}

impl Drop for NonInterruptible {
    fn drop(&mut self) {
        if let Some(reason) = self.shared.change(ControllerState::end_section) {
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
