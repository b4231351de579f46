//! The answer to a question while it is being made. Nothing of it is sent before it is submitted.

use std::collections::{BTreeMap, BTreeSet};

use interrupt_router::review::{Answer, Question};
use interrupt_router::{AnswerForm, ConfirmationItem};
use tui_input::Input;

/// A choice, or a text, of a review that is not submitted yet.
#[derive(Debug, Clone, Default)]
pub(super) struct AnswerDraft {
    chosen: BTreeSet<usize>,
    /// What was confirmed or refused, by the ids of the items.
    said: BTreeMap<String, bool>,
    /// What it was before each change, the last one last.
    before: Vec<BTreeSet<usize>>,
    /// The answer in words, as far as it is written.
    pub(super) words: Input,
    /// The change of the plan, as far as it is written.
    pub(super) change: Input,
}

impl AnswerDraft {
    /// Chooses the choice of this number, from 0, or takes it back. Where exactly one is wanted, the others are taken back.
    pub(super) fn toggle(&mut self, index: usize, form: Option<AnswerForm>) {
        self.before.push(self.chosen.clone());
        if self.chosen.remove(&index) {
            return;
        }
        if form == Some(AnswerForm::OneOf) {
            self.chosen.clear();
        }
        self.chosen.insert(index);
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

    /// Confirms or refuses an item.
    pub(super) fn say(&mut self, item: &str, confirmed: bool) {
        self.said.insert(item.to_owned(), confirmed);
    }

    /// What was said to an item.
    pub(super) fn said(&self, item: &str) -> Option<bool> {
        self.said.get(item).copied()
    }

    /// Takes back all that was confirmed or refused.
    pub(super) fn unsay(&mut self) {
        self.said.clear();
    }

    /// The first item that is neither confirmed nor refused.
    pub(super) fn unsaid(&self, question: &Question) -> Option<ConfirmationItem> {
        let mut items = question.details.confirmation_items.iter();
        items
            .find(|item| !self.said.contains_key(&item.id))
            .cloned()
    }

    /// The answer: what was chosen, what was confirmed or refused, and the text.
    pub(super) fn answer(&self, question: &Question, text: Option<String>) -> Answer {
        let choices = &question.details.choices;
        Answer {
            selected_choices: self
                .chosen
                .iter()
                .filter_map(|index| choices.get(*index))
                .map(|choice| choice.value.clone())
                .collect(),
            text: text.filter(|text| !text.trim().is_empty()),
            confirmations: self.said.clone(),
            edited_request: None,
            reroute_to: None,
            verdict: None,
        }
    }
}
