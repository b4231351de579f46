//! The window of one run, opened by Esc where the run is shown as lines. The screens go when the window is done with.

use std::io;
use std::sync::Arc;

use jiff::Timestamp;
use routing_core::RunId;

use super::desk::Follower;
use super::draw::Look;
use super::key::escape;
use super::state::{Overlay, Screen, State};
use super::{Screens, Wanted};
use crate::exit::Failure;
use crate::installation::Installation;
use crate::palette::Palette;

/// Which run is interrupted, and how its window is opened.
pub(crate) struct Visit {
    /// The run.
    pub(crate) run: RunId,
    /// What was written before and not sent.
    pub(crate) draft: String,
    /// Whether nothing is coloured.
    pub(crate) no_color: bool,
    /// Whether this process goes on with the run.
    pub(crate) goes_on_here: bool,
}

/// What is left when the window has gone.
pub(crate) struct Left {
    /// What was written and not sent.
    pub(crate) draft: String,
    /// The last that was said.
    pub(crate) said: Option<String>,
}

impl Visit {
    /// Interrupts the run at once, and shows its window until it is done with. Blocks.
    ///
    /// # Errors
    ///
    /// Where the installation cannot be opened or read, or the terminal is gone.
    pub(crate) fn pay<Opened>(self, open: impl FnOnce() -> Opened + Send) -> anyhow::Result<Left>
    where
        Opened: Future<Output = Result<Arc<dyn Installation>, Failure>>,
    {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        let tasks = tokio::task::LocalSet::new();
        let left = tasks.block_on(&runtime, async { self.perform(open().await?).await });
        // A thread that reads the terminal cannot be joined.
        runtime.shutdown_background();
        left
    }

    async fn perform(self, installation: Arc<dyn Installation>) -> anyhow::Result<Left> {
        let follower = if self.goes_on_here {
            Follower::ThisProcess
        } else {
            Follower::Somebody
        };
        let mut screens = Screens::of(installation, follower, Some(self.run));
        screens.look = Look::new(Palette::for_stream(&io::stdout(), self.no_color));
        let mut state = State::new(Screen::Run(self.run), Timestamp::now());
        state.is_visit = true;
        screens.reading.look_at(Wanted {
            run: Some(self.run),
            followed: Vec::new(),
        });
        let _nothing_is_open = state.refresh(screens.reading.next().await?);
        // The agents are told before the screen changes: some terminals answer late.
        for action in escape(&mut state) {
            screens.desk.begin(action);
        }
        if let Some(Overlay::Modal(modal)) = &mut state.overlay {
            modal.text = self.draft.into();
            screens.show(&mut state).await?;
            state.keep_open_words();
        } else {
            state.write_on(&self.draft);
        }
        Ok(Left {
            draft: state.composer.value().to_owned(),
            said: state.note.take().map(|note| note.text),
        })
    }
}

impl State {
    /// What stands in a window that is left open.
    fn keep_open_words(&mut self) {
        let words = self.modal_mut().map(|modal| modal.text.clone());
        if let Some(words) = words {
            self.keep_words(&words);
        }
    }
}
