//! Messages that an agent has not read yet: they were sent and can still be taken back.

use std::collections::{HashMap, HashSet};

use interrupts::store::{Pages, StoredMessage};
use routing_core::{NodeId, RunId};

use super::action::Action;
use super::state::ScreenState;
use crate::backend::Backend;
use crate::exit::Failure;

/// How many messages are read together.
const PAGE: u32 = 500;

/// The unread messages of runs, read on from the first of them each time.
#[derive(Debug, Default)]
pub(super) struct Queues {
    /// For each run, after which message its first unread one can come.
    after: HashMap<RunId, u64>,
}

impl Queues {
    /// The messages of a run that wait.
    ///
    /// # Errors
    ///
    /// If the backend cannot be read.
    pub(super) async fn of(
        &mut self,
        from: &dyn Backend,
        run: RunId,
    ) -> Result<Vec<StoredMessage>, Failure> {
        let after = self.after.get(&run).copied().unwrap_or(0);
        let mut waiting: Vec<StoredMessage> = Vec::new();
        let mut pages = Pages::after(after, PAGE);
        while let Some(found) = pages.next(|page| from.messages(run, page)).await? {
            waiting.extend(found.into_iter().filter(|it| it.state.is_waiting()));
        }
        let first = waiting
            .first()
            .map(|first| first.position.saturating_sub(1));
        self.after.insert(run, first.unwrap_or(pages.position()));
        Ok(waiting)
    }

    /// Forgets the runs that are shown no more.
    pub(super) fn retain(&mut self, is_shown: impl Fn(&RunId) -> bool) {
        self.after.retain(|run, _after| is_shown(run));
    }
}

/// The messages that were taken back from here. Each is taken back once, however late the screens learn of it.
#[derive(Debug, Default)]
pub(super) struct TakenBack {
    messages: HashSet<u64>,
}

impl TakenBack {
    /// These could not be taken back: those that are still unread are shown again, and can be tried again.
    pub(super) fn leave(&mut self, messages: &[u64]) {
        self.messages.retain(|message| !messages.contains(message));
    }
}

impl ScreenState {
    /// What waits for an agent; for all agents of its run if none is named.
    fn waiting_for(&self, run: RunId, node: Option<&NodeId>) -> Vec<&StoredMessage> {
        let view = self.snapshot.run(run);
        let waiting = view.map_or(&[][..], |view| &view.queue);
        let is_for = |message: &&StoredMessage| {
            node.is_none_or(|node| message.message.node == *node)
                && !self.taken_back.messages.contains(&message.position)
        };
        waiting.iter().filter(is_for).collect()
    }

    /// What waits for the addressed or marked agent.
    pub(super) fn queue(&self) -> Vec<&StoredMessage> {
        match self.addressee() {
            Some((run, Some(node))) => self.waiting_for(run, Some(&node)),
            Some((_, None)) | None => Vec::new(),
        }
    }

    /// Whether the user at this terminal sent a message.
    pub(super) fn is_mine(&self, message: &StoredMessage) -> bool {
        self.snapshot.me.as_deref() == Some(message.message.from.name.as_str())
    }

    /// Takes back the user's newest message to that agent, to be edited.
    pub(super) fn edit_queue(&mut self) -> Vec<Action> {
        let queue = self.queue();
        let newest = queue.into_iter().rev().find(|it| self.is_mine(it)).cloned();
        match newest {
            Some(message) => self.take_back(vec![message]),
            None => {
                self.tell("Nothing that you wrote waits here.");
                Vec::new()
            }
        }
    }

    /// Takes back all of the user's messages that an interrupted agent has not read.
    pub(super) fn empty_queue(&mut self, run: RunId, node: Option<&NodeId>) -> Vec<Action> {
        let waiting = self.waiting_for(run, node).into_iter();
        let mine = waiting.filter(|it| self.is_mine(it)).cloned().collect();
        self.take_back(mine)
    }

    fn take_back(&mut self, messages: Vec<StoredMessage>) -> Vec<Action> {
        if messages.is_empty() {
            return Vec::new();
        }
        let places = messages.iter().map(|message| message.position);
        self.taken_back.messages.extend(places);
        vec![Action::TakeBack { messages }]
    }

    /// What was taken back goes before what is being written.
    pub(super) fn write_on(&mut self, text: &str) {
        let draft = self.composer.value();
        let whole = if draft.trim().is_empty() {
            text.to_owned()
        } else {
            format!("{text} {draft}")
        };
        self.composer = whole.into();
        // While a window is open, its keys are not for the draft.
        let is_composing = self.overlay.is_none();
        if is_composing && !self.is_composing && self.addressee.is_none() {
            self.begin_message();
        }
        self.is_composing = is_composing;
    }
}
