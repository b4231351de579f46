//! Where a reviewer's answers come from.

use std::io;
use std::sync::Arc;

use super::lines::{Lines, NoLine};
use crate::keyboard::{Keyboard, PromptSession};

/// A terminal's keyboard, or the lines of a program.
pub(crate) enum Typing {
    /// A person types.
    Keyboard(Arc<Keyboard>),
    /// A program writes into a pipe; it may write ahead.
    Lines(Lines),
}

impl Typing {
    /// Standard input, with the keyboard of this process if it is a terminal.
    ///
    /// # Errors
    ///
    /// If the system gives no thread.
    pub(crate) fn of(keyboard: Option<Arc<Keyboard>>) -> io::Result<Self> {
        Ok(match keyboard {
            Some(keyboard) => Self::Keyboard(keyboard),
            None => Self::Lines(Lines::of_standard_input()?),
        })
    }

    /// The keyboard, if a person types.
    pub(super) fn keyboard(&self) -> Option<&Keyboard> {
        match self {
            Self::Keyboard(keyboard) => Some(keyboard),
            Self::Lines(_) => None,
        }
    }

    /// Begins a prompt, which lasts while the returned value is alive.
    ///
    /// # Cancel safety
    ///
    /// Safe: dropped, no prompt is open.
    pub(super) async fn begin(&self) -> Turn<'_> {
        match self {
            Self::Keyboard(keyboard) => Turn::Keyboard(keyboard.ask().await),
            Self::Lines(lines) => Turn::Lines(lines),
        }
    }
}

/// A prompt that is open.
pub(super) enum Turn<'t> {
    Keyboard(PromptSession),
    Lines(&'t Lines),
}

impl Turn<'_> {
    /// What was typed before the next question answers nothing; what a program has written ahead is kept, for its
    /// sender means it.
    ///
    /// # Cancel safety
    ///
    /// Safe: dropped, it is discarded or not.
    pub(super) async fn forget(&self) {
        if let Self::Keyboard(asking) = self {
            asking.forget().await;
        }
    }

    /// The next line.
    ///
    /// # Errors
    ///
    /// [`NoLine`].
    ///
    /// # Cancel safety
    ///
    /// Safe: of a pipe, a line that comes after the future was dropped is the next one.
    pub(super) async fn line(&self) -> Result<String, NoLine> {
        match self {
            Self::Keyboard(asking) => asking.line().await,
            Self::Lines(lines) => lines.next().await,
        }
    }
}
