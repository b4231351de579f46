//! What is drawn over the screen and has the keys.

use interrupt_router::{ConfirmationItem, InterruptId};
use interrupts::RouteName;
use interrupts::life::Verdict;
use tui_input::Input;

use super::action::Action;
use super::modal::Modal;

/// What a line of text is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    Respond(InterruptId),
    ModifyPlan(InterruptId),
}

/// What is drawn over the screen.
#[derive(Debug, Clone)]
pub(super) enum Overlay {
    /// An agent was interrupted.
    Modal(Box<Modal>),
    /// Something that cannot be undone asks once.
    Confirm {
        question: String,
        actions: Vec<Action>,
        /// The window that it was asked from, which is there again if the answer is no.
        over: Option<Box<Modal>>,
    },
    /// Something that an answer has to confirm or refuse.
    Item {
        interrupt: InterruptId,
        verdict: Verdict,
        text: Option<String>,
        item: Box<ConfirmationItem>,
    },
    /// The targets that an answer may be sent to.
    Routes {
        interrupt: InterruptId,
        routes: Vec<RouteName>,
        at: usize,
    },
    /// A line of text is wanted.
    Prompt {
        label: &'static str,
        text: Input,
        purpose: Purpose,
    },
}

impl Overlay {
    /// The window of an interrupt, also while it asks something.
    pub(super) fn modal(&self) -> Option<&Modal> {
        match self {
            Self::Modal(modal)
            | Self::Confirm {
                over: Some(modal), ..
            } => Some(modal),
            Self::Confirm { over: None, .. }
            | Self::Item { .. }
            | Self::Routes { .. }
            | Self::Prompt { .. } => None,
        }
    }

    /// The same, to be changed.
    pub(super) fn modal_mut(&mut self) -> Option<&mut Modal> {
        match self {
            Self::Modal(modal)
            | Self::Confirm {
                over: Some(modal), ..
            } => Some(modal),
            Self::Confirm { over: None, .. }
            | Self::Item { .. }
            | Self::Routes { .. }
            | Self::Prompt { .. } => None,
        }
    }

    /// The same, without what is drawn over the screen.
    pub(super) fn into_modal(self) -> Option<Box<Modal>> {
        match self {
            Self::Modal(modal)
            | Self::Confirm {
                over: Some(modal), ..
            } => Some(modal),
            Self::Confirm { over: None, .. }
            | Self::Item { .. }
            | Self::Routes { .. }
            | Self::Prompt { .. } => None,
        }
    }
}
