//! What was said, and what of it goes into the next call.

use interrupt_router::model::Message;

use super::validity::{is_blank, repaired};

/// What was said in a conversation, in order.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct History {
    entries: Vec<HistoryEntry>,
}

/// One thing that was said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HistoryEntry {
    /// Who said it, and what. Only a tool says nothing.
    pub message: Message,
    /// Whether all of it is there.
    pub completeness: Completeness,
}

/// Whether all of a message is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Completeness {
    /// All of it.
    Whole,
    /// The answer was interrupted here.
    Interrupted,
    /// The provider cut the answer off at its length limit.
    CutOff,
}

impl History {
    /// A history that starts with these instructions.
    pub(crate) fn with_system(system: Option<String>) -> Self {
        let mut history = Self::default();
        if let Some(system) = system {
            history.add(Message::system(system), Completeness::Whole);
        }
        history
    }

    /// What was said.
    pub fn entries(&self) -> &[HistoryEntry] {
        &self.entries
    }

    /// The messages of the next call: they obey the rules of all providers, however the calls before
    /// ended.
    pub fn for_next_call(&self) -> Vec<Message> {
        repaired(self.entries.iter().map(|entry| entry.message.clone()))
    }

    /// Adds what was said; nothing where nothing was.
    pub(crate) fn add(&mut self, message: Message, completeness: Completeness) {
        if !is_blank(&message) {
            self.entries.push(HistoryEntry {
                message,
                completeness,
            });
        }
    }
}
