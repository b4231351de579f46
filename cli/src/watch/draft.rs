//! The answer to a question while it is being made. Nothing of it is sent before it is submitted.

use std::collections::BTreeSet;

use routing_core::review::{Answer, Question};
use tui_input::Input;

/// A choice, or a text, of a review that is not submitted yet.
#[derive(Debug, Clone, Default)]
pub(super) struct AnswerDraft {
    chosen: BTreeSet<usize>,
    /// What it was before each change, the last one last.
    before: Vec<BTreeSet<usize>>,
    /// The answer in words, as far as it is written.
    pub(super) words: Input,
    /// The change of the plan, as far as it is written.
    pub(super) change: Input,
}

impl AnswerDraft {
    /// Chooses the choice of this number, from 0, or takes it back.
    pub(super) fn toggle(&mut self, index: usize) {
        self.before.push(self.chosen.clone());
        if !self.chosen.remove(&index) {
            self.chosen.insert(index);
        }
    }

    /// Takes the last change back; returns whether there was one.
    pub(super) fn undo(&mut self) -> bool {
        match self.before.pop() {
            Some(before) => {
                self.chosen = before;
                true
            }
            None => false,
        }
    }

    pub(super) fn is_chosen(&self, index: usize) -> bool {
        self.chosen.contains(&index)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.chosen.is_empty()
    }

    /// The answer: what was chosen, all confirmations as `confirmed`, and the text.
    pub(super) fn answer(
        &self,
        question: &Question,
        confirmed: bool,
        text: Option<String>,
    ) -> Answer {
        let choices = &question.details.choices;
        Answer {
            selected_choices: self
                .chosen
                .iter()
                .filter_map(|index| choices.get(*index))
                .map(|choice| choice.value.clone())
                .collect(),
            text: text.filter(|text| !text.trim().is_empty()),
            confirmations: question
                .details
                .confirmation_items
                .iter()
                .map(|item| (item.id.clone(), confirmed))
                .collect(),
            edited_request: None,
            reroute_to: None,
            verdict: None,
        }
    }
}
