//! Messages to running nodes: steering, and the input with which a run is resumed.

use std::collections::BTreeMap;

use async_trait::async_trait;
use interrupt_router::{InterruptId, InterruptType, NodeId, RunId};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::error::StoreError;
use super::interrupt::Page;
use super::journal::{Intent, JournalEntry, JournalError};
use super::run::RunError;
use crate::life::{Actor, RunState};
use crate::names::IdempotencyKey;

/// A message that is to be sent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewMessage {
    /// The run.
    pub run: RunId,
    /// The node that shall read it at the start of its next turn.
    pub node: NodeId,
    /// What it says.
    pub text: String,
    /// Who says it.
    pub from: Actor,
    /// What identifies a repeated message.
    pub key: IdempotencyKey,
}

/// What became of a message.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "snake_case")]
pub enum MessageState {
    /// It has not been read: it can be taken back.
    #[default]
    Waiting,
    /// The owner of the run has taken it for the node's next turn.
    Read {
        /// When.
        at: Timestamp,
    },
    /// Its node or its run ended before it was read.
    Unread {
        /// When that ended.
        at: Timestamp,
    },
    /// It was taken back before it was read.
    Withdrawn {
        /// When.
        at: Timestamp,
        /// Who took it back.
        by: Actor,
    },
}

impl MessageState {
    /// Whether it has not been read and can be taken back.
    pub const fn is_waiting(&self) -> bool {
        matches!(self, Self::Waiting)
    }
}

/// A message that was accepted. The run's journal says which turn has read it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredMessage {
    /// Its place among all messages: 1 for the first, without gaps.
    pub position: u64,
    /// When it was accepted.
    pub at: Timestamp,
    /// What became of it. Messages from versions without states count as waiting until their run continues.
    #[serde(default, skip_serializing_if = "MessageState::is_waiting")]
    pub state: MessageState,
    /// The message.
    #[serde(flatten)]
    pub message: NewMessage,
}

/// Messages of a run that wait for its agents. A fork would go on without them.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("what was sent to agents and not read yet would not be read in a fork: {}", list(.0))]
pub struct WaitingMessages(pub BTreeMap<NodeId, usize>);

fn list(waiting: &BTreeMap<NodeId, usize>) -> String {
    let counted = waiting.iter().map(|(node, count)| match count {
        1 => format!("1 message to {node}"),
        count => format!("{count} messages to {node}"),
    });
    counted.collect::<Vec<_>>().join(", ")
}

/// Why a message was not accepted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MessageError {
    /// There is no such run.
    #[error("there is no {run}")]
    UnknownRun {
        /// The run.
        run: RunId,
    },
    /// The run has ended, so the message would not be read.
    #[error("the run is {state}")]
    RunEnded {
        /// How.
        state: RunState,
    },
    /// The run has no such node.
    #[error("{run} has no node {node}")]
    UnknownNode {
        /// The run.
        run: RunId,
        /// The node.
        node: NodeId,
    },
    /// The node has ended, so the message would not be read.
    #[error("{node} has ended")]
    NodeEnded {
        /// The node.
        node: NodeId,
    },
    /// The node ends before its next turn, so the message would not be read.
    #[error("{node} will not read it: {interrupt} ({interrupt_type}) ends it")]
    NodeStops {
        /// The node.
        node: NodeId,
        /// The stop that is under way: of the node, of one above it, or of its run.
        interrupt: InterruptId,
        /// What that does.
        interrupt_type: InterruptType,
        /// Whether it can still be withdrawn.
        is_cancelable: bool,
    },
    /// The node takes no messages: it has no turn at whose start it could read one.
    #[error("{node} takes no messages")]
    TakesNoMessages {
        /// The node.
        node: NodeId,
    },
    /// The text says nothing.
    #[error("the message is empty")]
    Empty,
    /// The text is too large.
    #[error("the text has {given} bytes, and may have {most}")]
    TooLarge {
        /// How large it is.
        given: usize,
        /// How large it may be.
        most: usize,
    },
    /// The key belongs to another message.
    #[error("the key {key:?} belongs to another message")]
    OtherContent {
        /// The key.
        key: IdempotencyKey,
    },
    /// The run has no such message.
    #[error("{run} has no message {message}")]
    UnknownMessage {
        /// The run.
        run: RunId,
        /// The message's place among all messages.
        message: u64,
    },
    /// The message was read, so it cannot be taken back.
    #[error("message {message} was read at {at}")]
    AlreadyRead {
        /// The message's place among all messages.
        message: u64,
        /// When it was read.
        at: Timestamp,
    },
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Keeps messages.
#[async_trait]
pub trait Messages: Send + Sync {
    /// Accepts a message and announces it. The same key with the same content returns the stored message.
    ///
    /// # Errors
    ///
    /// [`MessageError`]. Nothing was accepted then.
    ///
    /// # Cancel safety
    ///
    /// If dropped, it was accepted or not. Send it again with the same key to be sure.
    async fn send_message(&self, message: NewMessage) -> Result<StoredMessage, MessageError>;

    /// The messages of a run, in their order; a page continues after the position of its last one.
    ///
    /// # Errors
    ///
    /// [`StoreError`].
    ///
    /// # Cancel safety
    ///
    /// Safe: it only reads.
    async fn messages(&self, run: RunId, page: Page) -> Result<Vec<StoredMessage>, StoreError>;

    /// Takes back a message that has not been read: no turn reads it from then on. One that was taken back before is
    /// returned as it is.
    ///
    /// # Errors
    ///
    /// [`MessageError::UnknownMessage`], [`MessageError::AlreadyRead`], or a failure of the store.
    ///
    /// # Cancel safety
    ///
    /// If dropped, it was taken back or not. Safe to repeat.
    async fn withdraw_message(
        &self,
        run: RunId,
        message: u64,
        by: Actor,
    ) -> Result<StoredMessage, MessageError>;

    /// Takes messages for a turn that is about to read them, by the run's owner in its epoch. Gives those that may
    /// be read, in the order of `messages`: one that was taken back is missing, and cannot be taken back any more
    /// once it is given here. One that was given before is given again, for its turn may not have been recorded.
    ///
    /// # Errors
    ///
    /// [`RunError`]; fenced if a newer owner has the run.
    ///
    /// # Cancel safety
    ///
    /// If dropped, all were taken or none. Safe to repeat.
    async fn read_messages(
        &self,
        run: RunId,
        epoch: u64,
        messages: &[u64],
    ) -> Result<Vec<u64>, RunError>;

    /// Reads waiting messages, and keeps under an entry of the journal which they are, in one transaction: a reader that
    /// dies afterwards finds them there. `reading` says which they are in its own content; it is begun and finished at
    /// once. If its effect was begun before, that entry is returned as it is, whatever it contains, and nothing is read.
    /// `None` if one of the messages does not wait any more: nothing was written, and the caller looks again.
    ///
    /// # Errors
    ///
    /// [`JournalError`]; fenced if a newer owner has the run.
    ///
    /// # Cancel safety
    ///
    /// If dropped, all of it was done or nothing. Safe to repeat.
    async fn keep_reading(
        &self,
        epoch: u64,
        reading: Intent,
        messages: &[u64],
    ) -> Result<Option<JournalEntry>, JournalError>;
}
