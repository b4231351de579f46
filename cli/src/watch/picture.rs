//! What is on the screen, and what should be.

use std::io;

use jiff::Timestamp;

use super::draw::{self, Theme};
use super::screen::TakenScreen;
use super::seen::DecisionSubject;
use super::state::ScreenState;

/// The picture of the state.
pub(super) struct Picture {
    /// Whether the screen is out of date.
    is_stale: bool,
    /// What was drawn, and is not known to be on the terminal.
    drawn: Option<Option<DecisionSubject>>,
}

impl Picture {
    pub(super) const fn new() -> Self {
        Self {
            is_stale: true,
            drawn: None,
        }
    }

    /// Something may have changed.
    pub(super) const fn is_old(&mut self) {
        self.is_stale = true;
    }

    /// Whether there is something to do once the terminal has taken all.
    pub(super) const fn waits(&self) -> bool {
        self.is_stale || self.drawn.is_some()
    }

    /// Draws it anew if it has changed, once the terminal has taken what was drawn before.
    ///
    /// # Errors
    ///
    /// If the terminal is gone.
    pub(super) fn draw(
        &mut self,
        taken: &mut TakenScreen,
        state: &mut ScreenState,
        look: Theme,
    ) -> io::Result<()> {
        if !taken.is_ready() {
            return Ok(());
        }
        if let Some(subject) = self.drawn.take() {
            state.seen.is_on_terminal(subject, Timestamp::now());
        }
        if self.is_stale {
            taken.draw(|frame| draw::draw(frame, state, look))?;
            self.drawn = Some(DecisionSubject::of(state));
            self.is_stale = false;
        }
        Ok(())
    }
}
