//! What was chosen about agents that have not stopped yet. It is carried out when they have, also where its window
//! was closed meanwhile; whoever leaves before that is told what stays undone.

use super::action::Action;
use super::modal::Modal;
use super::state::{Overlay, State};
use crate::keep::has_process;

/// Windows that were closed before what was chosen in them could be carried out.
#[derive(Debug, Default)]
pub(super) struct GoingOn {
    closed: Vec<Modal>,
}

impl State {
    /// Closes a window in which the interrupt was taken back after its agent had been told.
    pub(super) fn goes_on_later(&mut self, modal: Modal) {
        self.going_on.closed.push(modal);
        self.tell("It stops first, and goes on unchanged as soon as it has stopped.");
    }

    /// What a choice asks for as its interrupt stands; `None` while it has to wait.
    pub(super) fn wanted(&self, modal: &Modal) -> Option<Action> {
        let interrupt = self.snapshot.interrupt(modal.interrupt?)?;
        let view = self.snapshot.run(modal.run);
        modal.carry_out(interrupt, view.is_some_and(|view| has_process(&view.run)))
    }

    /// Carries out what was chosen in windows that are closed.
    pub(super) fn follow_closed(&mut self) -> Vec<Action> {
        let mut actions = Vec::new();
        for modal in std::mem::take(&mut self.going_on.closed) {
            let stands = modal
                .interrupt
                .is_some_and(|id| self.snapshot.interrupt(id).is_some());
            match self.wanted(&modal) {
                Some(action) => actions.push(action),
                None if stands => self.going_on.closed.push(modal),
                // It has ended: somebody else was first.
                None => {}
            }
        }
        actions
    }

    /// Leaves; not without a question where what was chosen would stay undone.
    pub(super) fn quit(&mut self) -> Vec<Action> {
        if let Some(Overlay::Modal(modal)) = &self.overlay
            && modal.chosen.is_some()
            && modal.interrupt.is_some()
        {
            self.going_on.closed.push((**modal).clone());
            self.overlay = None;
        }
        let undone = self.going_on.closed.iter().map(|modal| modal.run);
        let runs: Vec<String> = undone.map(|run| run.to_string()).collect();
        if runs.is_empty() {
            return vec![Action::Quit];
        }
        self.overlay = Some(Overlay::Confirm {
            question: format!(
                "Leave before it has stopped? What you chose is not carried out then: it stays paused.\n{}",
                runs.join("\n")
            ),
            actions: vec![Action::Quit],
        });
        Vec::new()
    }
}
