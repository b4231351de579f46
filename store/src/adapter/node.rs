//! The ports of nodes and of messages to them.

use async_trait::async_trait;
use interrupts::IdempotencyKey;
use interrupts::life::Actor;
use interrupts::store::{
    Intent, JournalEntry, JournalError, MessageError, Messages, NewMessage, NodeRow, Nodes, Page,
    RunError, StoreError, StoredMessage,
};
use routing_core::{NodeId, RunId};

use super::Adapter;
use crate::operation::{KeepReading, PutNodes, ReadMessages, SendMessage, WithdrawMessage};
use crate::relational::{Reads, Relational};

#[async_trait]
impl<B: Relational> Nodes for Adapter<B> {
    async fn put_nodes(&self, run: RunId, epoch: u64, nodes: Vec<NodeRow>) -> Result<(), RunError> {
        self.backend.submit(PutNodes { run, epoch, nodes }).await
    }

    async fn node(&self, run: RunId, node: &NodeId) -> Result<Option<NodeRow>, StoreError> {
        self.backend.node(run, node).await
    }

    async fn nodes(
        &self,
        run: Option<RunId>,
        page: Page,
    ) -> Result<Vec<(u64, NodeRow)>, StoreError> {
        self.backend.nodes(run, page).await
    }
}

#[async_trait]
impl<B: Relational> Messages for Adapter<B> {
    async fn send_message(&self, message: NewMessage) -> Result<StoredMessage, MessageError> {
        self.backend.submit(SendMessage { message }).await
    }

    async fn messages(&self, run: RunId, page: Page) -> Result<Vec<StoredMessage>, StoreError> {
        self.backend.messages(run, page).await
    }

    async fn withdraw_message(
        &self,
        run: RunId,
        message: u64,
        by: Actor,
    ) -> Result<StoredMessage, MessageError> {
        let found = message_at(&self.backend, run, message).await?;
        let unknown = MessageError::UnknownMessage { run, message };
        let key = found.ok_or(unknown)?.message.key;
        let operation = WithdrawMessage {
            key,
            message,
            run,
            by,
        };
        self.backend.submit(operation).await
    }

    async fn read_messages(
        &self,
        run: RunId,
        epoch: u64,
        messages: &[u64],
    ) -> Result<Vec<u64>, RunError> {
        let keys = keys_of(&self.backend, run, messages).await?;
        let operation = ReadMessages { run, epoch, keys };
        self.backend.submit(operation).await
    }

    async fn keep_reading(
        &self,
        epoch: u64,
        reading: Intent,
        messages: &[u64],
    ) -> Result<Option<JournalEntry>, JournalError> {
        let keys = keys_of(&self.backend, reading.run, messages).await?;
        if keys.len() < messages.len() {
            return Ok(None);
        }
        let operation = KeepReading {
            epoch,
            reading,
            keys,
        };
        self.backend.submit(operation).await
    }
}

/// The keys by which messages are kept. What is found here is looked at again in the transaction.
async fn keys_of<B: Relational>(
    backend: &B,
    run: RunId,
    messages: &[u64],
) -> Result<Vec<IdempotencyKey>, StoreError> {
    let mut keys = Vec::new();
    for message in messages {
        let found = message_at(backend, run, *message).await?;
        keys.extend(found.map(|stored| stored.message.key));
    }
    Ok(keys)
}

/// The message of a run at this place among all.
async fn message_at<B: Relational>(
    backend: &B,
    run: RunId,
    position: u64,
) -> Result<Option<StoredMessage>, StoreError> {
    let Some(after) = position.checked_sub(1) else {
        return Ok(None);
    };
    let found = backend.messages(run, Page { after, limit: 1 }).await?;
    Ok(found.into_iter().find(|it| it.position == position))
}
