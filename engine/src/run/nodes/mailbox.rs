//! The mailboxes of a run's nodes: what was put into them, and whether it will be read.

use interrupt_router::NodeId;

use super::{Mailbox, NodeDirectory, Nodes};
use journal::message::{AgentMessage, Origin};

/// The node ended before the message reached it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the node has ended")]
pub struct NodeEnded;

impl NodeDirectory {
    /// Letters with these origins were read already.
    pub fn were_read(&self, origins: &[Origin]) {
        self.lock().seen.extend(origins.iter().cloned());
    }

    /// Keeps a message until its node has caught up.
    pub fn keep_undelivered(&self, id: &NodeId, letter: AgentMessage) {
        let mut nodes = self.lock();
        if nodes.seen.insert(letter.origin.clone()) {
            nodes.waiting.entry(id.clone()).or_default().push(letter);
        }
    }

    /// The node has caught up: puts what was kept for it into its mailbox.
    pub fn restore_messages(&self, id: &NodeId) {
        let mut nodes = self.lock();
        if !nodes.waiting.contains_key(id) {
            return;
        }
        let Nodes {
            entries, waiting, ..
        } = &mut *nodes;
        if let Some(Mailbox::Open(letters)) = entries.get_mut(id).map(|it| &mut it.letters)
            && let Some(kept) = waiting.remove(id)
        {
            letters.splice(0..0, kept);
        }
    }

    /// Puts a message into a node's mailbox; one with the same origin changes nothing. Returns whether it is new.
    pub fn put(&self, id: &NodeId, letter: AgentMessage) -> Result<bool, NodeEnded> {
        let mut nodes = self.lock();
        let Nodes { entries, seen, .. } = &mut *nodes;
        if seen.contains(&letter.origin) {
            return Ok(false);
        }
        match entries.get_mut(id).map(|it| &mut it.letters) {
            Some(Mailbox::Open(letters)) => {
                seen.insert(letter.origin.clone());
                letters.push(letter);
                Ok(true)
            }
            Some(Mailbox::Closed) | None => Err(NodeEnded),
        }
    }

    /// Opens a node's mailbox, if it is closed.
    pub fn open(&self, id: &NodeId) {
        self.change(id, |entry| {
            if matches!(entry.letters, Mailbox::Closed) {
                entry.letters = Mailbox::Open(Vec::new());
            }
        });
    }

    /// What is in a node's mailbox, taken out of it.
    pub fn take_messages(&self, id: &NodeId) -> Vec<AgentMessage> {
        match self.lock().entries.get_mut(id).map(|it| &mut it.letters) {
            Some(Mailbox::Open(letters)) => std::mem::take(letters),
            Some(Mailbox::Closed) | None => Vec::new(),
        }
    }

    /// The messages in a node's mailbox, by their places among all messages.
    pub fn messages_for(&self, id: &NodeId) -> Vec<u64> {
        match self.lock().entries.get(id).map(|it| &it.letters) {
            Some(Mailbox::Open(letters)) => letters
                .iter()
                .filter_map(AgentMessage::message_place)
                .collect(),
            Some(Mailbox::Closed) | None => Vec::new(),
        }
    }

    /// Takes messages out of a node's mailbox that must not be read.
    pub fn drop_messages(&self, id: &NodeId, messages: &[u64]) {
        if let Some(Mailbox::Open(letters)) =
            self.lock().entries.get_mut(id).map(|it| &mut it.letters)
        {
            letters.retain(|letter| {
                letter
                    .message_place()
                    .is_none_or(|place| !messages.contains(&place))
            });
        }
    }

    /// Closes a node's mailbox, unless there is something in it; returns whether it is closed now.
    ///
    /// One step, so that nothing is put in between the check and the closing.
    pub fn close_if_empty(&self, id: &NodeId) -> bool {
        self.change(id, |entry| match &entry.letters {
            Mailbox::Open(letters) if !letters.is_empty() => false,
            Mailbox::Open(_) | Mailbox::Closed => {
                entry.letters = Mailbox::Closed;
                true
            }
        })
        .unwrap_or(true)
    }

    /// Closes a node's mailbox, no matter what is in it.
    pub fn close(&self, id: &NodeId) {
        self.change(id, |entry| entry.letters = Mailbox::Closed);
    }
}

#[cfg(test)]
mod tests {
    use interrupt_router::{NodeId, RunId};

    use super::{AgentMessage, NodeDirectory, NodeEnded, Origin};

    fn letter(position: u64) -> AgentMessage {
        AgentMessage {
            origin: Origin::Message { position },
            text: "hello".to_owned(),
        }
    }

    #[test]
    fn a_box_is_not_closed_while_something_is_in_it() {
        let nodes = NodeDirectory::new(RunId::generate());
        let node = NodeId::new("orchestrator").unwrap();
        nodes.add(&node, "ORCHESTRATOR");
        assert_eq!(
            nodes.put(&node, letter(1)),
            Err(NodeEnded),
            "it has no request yet"
        );
        nodes.open(&node);
        assert_eq!(nodes.put(&node, letter(1)), Ok(true));
        assert_eq!(
            nodes.put(&node, letter(1)),
            Ok(false),
            "it is the same letter"
        );
        assert!(!nodes.close_if_empty(&node));
        assert_eq!(nodes.take_messages(&node).len(), 1);
        assert!(nodes.close_if_empty(&node));
        assert_eq!(nodes.put(&node, letter(2)), Err(NodeEnded));
        assert!(!nodes.all()[0].takes_messages);
    }
}
