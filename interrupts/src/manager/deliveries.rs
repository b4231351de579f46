//! What a workflow implements to receive questions and messages for its nodes.

use async_trait::async_trait;
use interrupt_router::NodeId;

use crate::life::Interrupt;
use crate::store::StoredMessage;

/// Why a question could not be given to its node.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Undeliverable {
    /// The node has ended: the question is withdrawn, and its author is told.
    #[error("the node has ended")]
    NodeEnded,
    /// The delivery failed this time: it is retried, as often as its interrupt allows.
    #[error("{reason}")]
    NotNow {
        /// Why.
        reason: String,
    },
}

/// Takes what is delivered to the nodes of a run.
///
/// All methods only look, or put something into a mailbox and return; a call that takes longer than a delivery may
/// counts as failed. When a run gets a new owner, what was delivered to the last one and not finished is delivered again.
#[async_trait]
pub trait Deliveries: Send + Sync {
    /// Puts a supervisor's question into its node's mailbox, so that the node interrupts itself.
    ///
    /// # Errors
    ///
    /// [`Undeliverable`].
    ///
    /// # Cancel safety
    ///
    /// If dropped, the node may have it or not. It is delivered again then.
    async fn question(&self, interrupt: &Interrupt) -> Result<(), Undeliverable>;

    /// Whether a node has ended: a stop of it alone can no longer take effect, and is withdrawn. This is called after the
    /// stop was put in force, so the workflow reports a node that ends later to [`OwnedRun`](super::OwnedRun::has_ended).
    fn has_ended(&self, _node: &NodeId) -> bool {
        false
    }

    /// Puts a message into its node's mailbox.
    ///
    /// # Cancel safety
    ///
    /// If dropped, the node may have it or not. It is not delivered again in this process.
    async fn message(&self, message: &StoredMessage);
}

/// For workflows whose nodes take neither questions nor messages.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoDeliveries;

#[async_trait]
impl Deliveries for NoDeliveries {
    async fn question(&self, _interrupt: &Interrupt) -> Result<(), Undeliverable> {
        Err(Undeliverable::NotNow {
            reason: "this workflow's nodes take no questions".to_owned(),
        })
    }

    async fn message(&self, message: &StoredMessage) {
        tracing::warn!(
            position = message.position,
            "this workflow's nodes take no messages"
        );
    }
}
