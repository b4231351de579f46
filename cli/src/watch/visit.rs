//! The window of one run, opened by Esc while the run is shown as lines. The screens go when the window is done.

use std::io;
use std::sync::Arc;

use interrupt_router::RunId;
use jiff::Timestamp;

use super::draw::Theme;
use super::key::escape;
use super::modal::{Modal, end_of};
use super::overlay::Overlay;
use super::state::{Screen, ScreenState};
use super::tasks::Follower;
use super::{Screens, SnapshotRequest};
use crate::backend::Backend;
use crate::exit::Failure;
use crate::palette::Palette;
use crate::time::Grace;

/// Which run is interrupted, and how its window is opened.
pub(crate) struct Visit {
    /// The run.
    pub(crate) run: RunId,
    /// What was written before and not sent.
    pub(crate) draft: String,
    /// Whether nothing is coloured.
    pub(crate) no_color: bool,
    /// Whether this process continues the run.
    pub(crate) goes_on_here: bool,
    /// How long the stop may be graceful.
    pub(crate) grace: Grace,
}

/// What is left when the window has gone.
pub(crate) struct Left {
    /// What was written and not sent.
    pub(crate) draft: String,
    /// The last message.
    pub(crate) said: Option<String>,
}

impl Visit {
    /// Interrupts the run at once, and shows its window until it is done. Blocks.
    ///
    /// # Errors
    ///
    /// If the backend cannot be opened or read, or the terminal is gone.
    pub(crate) fn pay<Opened>(self, open: impl FnOnce() -> Opened + Send) -> anyhow::Result<Left>
    where
        Opened: Future<Output = Result<Arc<dyn Backend>, Failure>>,
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

    async fn perform(self, backend: Arc<dyn Backend>) -> anyhow::Result<Left> {
        let follower = if self.goes_on_here {
            Follower::ThisProcess
        } else {
            Follower::Somebody
        };
        let mut screens = Screens::of(backend, follower, Some(self.run));
        screens.look = Theme::new(Palette::for_stream(&io::stdout(), self.no_color));
        let mut state = ScreenState::new(Screen::Run(self.run), Timestamp::now());
        state.is_visit = true;
        state.grace = self.grace;
        screens.reading.look_at(SnapshotRequest {
            run: Some(self.run),
            followed: Vec::new(),
        });
        let _nothing_is_open = state.refresh(screens.reading.next().await?);
        state.keep_words(self.run, &self.draft.into());
        // The agents are notified while the terminal is asked what it can: some answer late.
        for action in escape(&mut state, false) {
            screens.tasks.begin(action);
        }
        if state.overlay.is_some() {
            screens.show(&mut state).await?;
            state.keep_open_words();
        }
        Ok(Left {
            draft: state.take_words(self.run).value().to_owned(),
            said: state.note.take().map(|note| note.text),
        })
    }
}

impl ScreenState {
    /// Whether the window for which the screens were opened is done.
    pub(super) fn visit_is_over(&self) -> bool {
        self.is_visit && self.overlay.is_none() && self.going_on.is_empty()
    }

    /// Something was refused. If nothing was accepted, the window would wait for ever; its text goes back.
    pub(super) fn refused(&mut self) {
        if let Some(modal) = self.modal_mut()
            && modal.interrupt.is_none()
        {
            let (run, words) = (modal.run, modal.text.clone());
            self.overlay = None;
            self.keep_words(run, &words);
        } else if self.overlay.is_none() {
            let _is_visit = self.opens_again();
        }
    }

    /// Closes a window whose interrupt is over: the run has ended, or someone else was first. A note says so.
    pub(super) fn was_too_late(&mut self, modal: &Modal) {
        self.overlay = None;
        self.keep_words(modal.run, &modal.text);
        let over = modal.interrupt.and_then(|id| self.snapshot.interrupt(id));
        let how = over.map_or_else(|| "gone".to_owned(), end_of);
        self.tell(format!("The pause is over ({how}); nothing more was done."));
    }

    /// Opens the window of a visit again, if what was chosen in it was refused; returns whether there is one.
    pub(super) fn opens_again(&mut self) -> bool {
        let over = |modal: &Modal| modal.interrupt.is_none_or(|id| self.snapshot.has_ended(id));
        let Some(mut modal) = self.visited.take().filter(|modal| !over(modal)) else {
            return false;
        };
        modal.chosen = None;
        self.overlay = Some(Overlay::Modal(modal));
        true
    }

    /// Keeps the words of a window that is left open.
    fn keep_open_words(&mut self) {
        let words = self
            .modal_mut()
            .map(|modal| (modal.run, modal.text.clone()));
        if let Some((run, words)) = words {
            self.keep_words(run, &words);
        }
    }
}
