//! Messages to running nodes: steering, and the input with which a run is resumed.

use async_trait::async_trait;
use jiff::Timestamp;
use routing_core::{NodeId, RunId};
use serde::{Deserialize, Serialize};

use super::error::StoreError;
use super::interrupt::Page;
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
    /// What makes it the same message when it is sent again.
    pub key: IdempotencyKey,
}

/// A message that was accepted. Which turn has read it is said by the run's journal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredMessage {
    /// Its place among all messages: 1 for the first, without gaps.
    pub position: u64,
    /// When it was accepted.
    pub at: Timestamp,
    /// The message.
    #[serde(flatten)]
    pub message: NewMessage,
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
    /// The run has ended, so nobody will read it.
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
    /// The node has ended, so nobody will read it.
    #[error("{node} has ended")]
    NodeEnded {
        /// The node.
        node: NodeId,
    },
    /// The node takes no messages: it has no turn at whose start it could read one.
    #[error("{node} takes no messages")]
    TakesNoMessages {
        /// The node.
        node: NodeId,
    },
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
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Keeps messages.
#[async_trait]
pub trait Messages: Send + Sync {
    /// Accepts a message and tells of it. The same key with the same content gives the stored message.
    ///
    /// # Errors
    ///
    /// [`MessageError`]. Nothing was accepted then.
    ///
    /// # Cancel safety
    ///
    /// Dropped, it was accepted or not. Send it again with the same key to be sure.
    async fn send_message(&self, message: NewMessage) -> Result<StoredMessage, MessageError>;

    /// The messages of a run, in their order; a page goes on after the position of its last one.
    ///
    /// # Errors
    ///
    /// [`StoreError`].
    ///
    /// # Cancel safety
    ///
    /// Safe: it only reads.
    async fn messages(&self, run: RunId, page: Page) -> Result<Vec<StoredMessage>, StoreError>;
}
