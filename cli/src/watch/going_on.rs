//! What was chosen about agents that have not stopped yet. It is carried out when they have, even if its window was
//! closed meanwhile; a user who leaves before that learns what stays undone.

use interrupt_router::{InterruptId, RunId};
use interrupts::life::State;
use tui_input::Input;

use super::action::Action;
use super::modal::{Chosen, Modal};
use super::overlay::Overlay;
use super::state::ScreenState;
use crate::run_owner::has_process;

/// Windows that were closed before what was chosen in them could be carried out.
#[derive(Debug, Default)]
pub(super) struct GoingOn {
    closed: Vec<Modal>,
}

impl GoingOn {
    /// Whether nothing waits to be carried out.
    pub(super) const fn is_empty(&self) -> bool {
        self.closed.is_empty()
    }
}

impl ScreenState {
    /// Closes a window whose interrupt was taken back after its agent had received it.
    pub(super) fn goes_on_later(&mut self, modal: Modal) {
        self.keep_words(modal.run, &modal.text);
        self.going_on.closed.push(modal);
        self.tell("It stops first, and goes on unchanged as soon as it has stopped.");
    }

    /// What a choice asks for in the present state of its interrupt; `None` while it has to wait.
    pub(super) fn wanted(&self, modal: &Modal) -> Option<Action> {
        let interrupt = self.snapshot.interrupt(modal.interrupt?)?;
        let view = self.snapshot.run(modal.run);
        modal.carry_out(interrupt, view.is_some_and(|view| has_process(&view.run)))
    }

    /// Whether a process is still stopping for this window, so that nothing can be resumed yet.
    pub(super) fn is_stopping(&self, modal: &Modal) -> bool {
        let Some(interrupt) = modal.interrupt.and_then(|id| self.snapshot.interrupt(id)) else {
            return modal.interrupt.is_some();
        };
        let view = self.snapshot.run(modal.run);
        let stops = matches!(
            interrupt.state,
            State::Requested | State::Delivered | State::Acknowledged
        );
        stops && view.is_some_and(|view| has_process(&view.run))
    }

    /// Carries out what was chosen in windows that are closed.
    pub(super) fn follow_closed(&mut self) -> Vec<Action> {
        let mut actions = Vec::new();
        for modal in std::mem::take(&mut self.going_on.closed) {
            let has_ended = modal.interrupt.is_none_or(|id| self.snapshot.has_ended(id));
            match self.wanted(&modal) {
                Some(action) => actions.push(action),
                None if !has_ended => self.going_on.closed.push(modal),
                // Someone else was first.
                None if modal.chosen == Some(Chosen::ResumeUnchanged) => {}
                None => self.keep_words(modal.run, &modal.text),
            }
        }
        actions
    }

    /// The interrupts whose ends are waited for, however late the lists name them.
    pub(super) fn followed(&self) -> Vec<InterruptId> {
        let open = self.overlay.as_ref().and_then(Overlay::modal);
        let open = open.and_then(|modal| modal.interrupt);
        let closed = self.going_on.closed.iter();
        open.into_iter()
            .chain(closed.filter_map(|modal| modal.interrupt))
            .collect()
    }

    /// The window of an interrupt, also while it asks something.
    pub(super) fn modal_mut(&mut self) -> Option<&mut Modal> {
        self.overlay.as_mut().and_then(Overlay::modal_mut)
    }

    /// The words of a closed window are kept for the next one of its run, after the words that were there before.
    pub(super) fn keep_words(&mut self, run: RunId, words: &Input) {
        if words.value().trim().is_empty() {
            return;
        }
        let kept = self.kept.entry(run).or_default();
        *kept = match kept.value().trim_end() {
            "" => words.clone(),
            before => format!("{before} {}", words.value().trim()).into(),
        };
    }

    /// The words that were kept of the windows of a run; they are kept no more.
    pub(super) fn take_words(&mut self, run: RunId) -> Input {
        self.kept.remove(&run).unwrap_or_default()
    }

    /// Leaves; asks first if what was chosen would stay undone.
    pub(super) fn quit(&mut self) -> Vec<Action> {
        let mut over = self.overlay.take().and_then(Overlay::into_modal);
        if let Some(modal) =
            over.take_if(|modal| modal.chosen.is_some() && modal.interrupt.is_some())
        {
            if modal.chosen == Some(Chosen::ResumeUnchanged) {
                self.keep_words(modal.run, &modal.text);
            }
            self.going_on.closed.push(*modal);
        }
        let undone = self.going_on.closed.iter().map(|modal| modal.run);
        let runs: Vec<String> = undone.map(|run| run.to_string()).collect();
        if runs.is_empty() {
            if let Some(modal) = over {
                self.keep_words(modal.run, &modal.text);
            }
            return vec![Action::Quit];
        }
        self.overlay = Some(Overlay::Confirm {
            question: format!(
                "Leave before it has stopped? What you chose is not carried out then: it stays paused.\n{}",
                runs.join("\n")
            ),
            actions: vec![Action::Quit],
            over,
        });
        Vec::new()
    }
}
