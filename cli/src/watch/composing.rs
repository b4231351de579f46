//! The line in which a message is written. It is for the agent for which it was begun, even if something else is marked meanwhile.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "every key that does nothing else here is one of the text"
)]

use crossterm::event::{Event, KeyCode, KeyEvent, KeyModifiers};
use routing_core::{NodeId, RunId};
use tui_input::backend::crossterm::EventHandler;

use super::action::Action;
use super::key::interrupt;
use super::state::ScreenState;
use crate::address::full;

impl ScreenState {
    /// Begins a message, for what is marked.
    pub(super) fn begin_message(&mut self) {
        self.is_composing = true;
        self.addressee = self.focused().filter(|_marked| self.mark_is_seen());
    }

    /// Whom the message is for: the agent for which it was begun; before that, the one that is marked.
    pub(super) fn addressee(&self) -> Option<(RunId, Option<NodeId>)> {
        if self.is_composing {
            self.addressee.clone()
        } else {
            self.focused()
        }
    }

    /// Whether an agent takes no messages any more: it has ended, or its run has.
    pub(super) fn is_over(&self, run: RunId, node: &NodeId) -> bool {
        match self.snapshot.run(run) {
            Some(view) => {
                let row = view.nodes.iter().find(|row| row.node == *node);
                row.is_some_and(|row| row.activity.is_final())
            }
            // A question may be of a run that is missing in the lists, which are limited.
            None => !self.snapshot.interrupts.iter().any(|it| it.run == run),
        }
    }

    /// The agent of the message reads nothing any more: the words are kept for another one.
    fn keeps_the_words(&mut self, run: RunId, node: &NodeId) {
        let gone = full(run, node);
        self.warn(format!(
            "Not sent, it stays here: {gone} has ended. Tab, mark another agent, Tab."
        ));
    }
}

/// What a key does in the line.
pub(super) fn in_composer(state: &mut ScreenState, key: KeyEvent) -> Vec<Action> {
    match key.code {
        KeyCode::Tab => {
            state.is_composing = false;
            Vec::new()
        }
        KeyCode::Up => state.edit_queue(),
        // Terminals that cannot report the first can report the second.
        KeyCode::Enter
            if key
                .modifiers
                .intersects(KeyModifiers::CONTROL | KeyModifiers::ALT) =>
        {
            interrupt_and_send(state)
        }
        KeyCode::Enter => send(state),
        _ => {
            let _changed = state.composer.handle_event(&Event::Key(key));
            Vec::new()
        }
    }
}

fn send(state: &mut ScreenState) -> Vec<Action> {
    let text = state.composer.value().trim().to_owned();
    let Some((run, Some(node))) = state.addressee() else {
        state.warn("Choose an agent first: Tab, then ↑ and ↓, then Tab.");
        return Vec::new();
    };
    if text.is_empty() {
        return Vec::new();
    }
    if state.is_over(run, &node) {
        state.keeps_the_words(run, &node);
        return Vec::new();
    }
    state.composer.reset();
    vec![Action::Send { run, node, text }]
}

/// Interrupts the agent, and continues it with what is written.
fn interrupt_and_send(state: &mut ScreenState) -> Vec<Action> {
    if state.composer.value().trim().is_empty() {
        return Vec::new();
    }
    let addressee = state.addressee();
    if let Some((run, Some(node))) = &addressee
        && state.is_over(*run, node)
    {
        state.keeps_the_words(*run, node);
        return Vec::new();
    }
    let Some((run, node)) = addressee.and_then(|(run, node)| state.interruptible(run, node)) else {
        state.warn("Nothing runs here.");
        return Vec::new();
    };
    let words = std::mem::take(&mut state.composer);
    state.is_composing = false;
    interrupt(state, run, node, Some(words))
}
