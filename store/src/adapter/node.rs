//! The ports of nodes and of messages to them.

use async_trait::async_trait;
use interrupt_router::{NodeId, RunId};
use interrupts::IdempotencyKey;
use interrupts::life::Actor;
use interrupts::store::{
    Intent, JournalEntry, JournalError, MessageError, Messages, NewMessage, NodeRow, Nodes, Page,
    RunError, StoreError, StoredMessage,
};

use super::Adapter;
use crate::operation::{KeepReading, PutNodes, ReadMessages, SendMessage, WithdrawMessage};
use crate::relational::{Cell, Relational, Rows as _, body, columns, numbered, sealed};
use crate::tables::PlacedNode;

#[async_trait]
impl<B: Relational> Nodes for Adapter<B> {
    async fn put_nodes(&self, run: RunId, epoch: u64, nodes: Vec<NodeRow>) -> Result<(), RunError> {
        self.backend.submit(PutNodes { run, epoch, nodes }).await
    }

    async fn node(&self, run: RunId, node: &NodeId) -> Result<Option<NodeRow>, StoreError> {
        self.backend
            .record::<PlacedNode>(&(run, node.clone()))
            .await
    }

    async fn nodes(
        &self,
        run: Option<RunId>,
        page: Page,
    ) -> Result<Vec<(u64, NodeRow)>, StoreError> {
        let after = Cell::position(page.after)?;
        // Two statements, so that each has its index.
        match run {
            Some(run) => {
                let sql = concat!(
                    "SELECT ",
                    columns!(nodes),
                    " FROM nodes WHERE run = ? AND position > ? \
                     ORDER BY position LIMIT ?"
                );
                self.backend
                    .rows(
                        sql,
                        [Cell::made(&run), after, Cell::limit(page.limit)],
                        |row| numbered(row, &sealed::NODES),
                    )
                    .await
            }
            None => {
                let sql = concat!(
                    "SELECT ",
                    columns!(nodes),
                    " FROM nodes WHERE position > ? \
                     ORDER BY position LIMIT ?"
                );
                self.backend
                    .rows(sql, [after, Cell::limit(page.limit)], |row| {
                        numbered(row, &sealed::NODES)
                    })
                    .await
            }
        }
    }
}

#[async_trait]
impl<B: Relational> Messages for Adapter<B> {
    async fn send_message(&self, message: NewMessage) -> Result<StoredMessage, MessageError> {
        self.backend.submit(SendMessage { message }).await
    }

    async fn messages(&self, run: RunId, page: Page) -> Result<Vec<StoredMessage>, StoreError> {
        let sql = concat!(
            "SELECT ",
            columns!(messages),
            " FROM messages WHERE run = ? AND position > ? \
             ORDER BY position LIMIT ?"
        );
        let values = [
            Cell::made(&run),
            Cell::position(page.after)?,
            Cell::limit(page.limit),
        ];
        self.backend
            .rows(sql, values, |row| body(row, &sealed::MESSAGES))
            .await
    }

    async fn withdraw_message(
        &self,
        run: RunId,
        message: u64,
        by: Actor,
    ) -> Result<StoredMessage, MessageError> {
        let found = message_at(self, run, message).await?;
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
        let keys = keys_of(self, run, messages).await?;
        let operation = ReadMessages { run, epoch, keys };
        self.backend.submit(operation).await
    }

    async fn keep_reading(
        &self,
        epoch: u64,
        reading: Intent,
        messages: &[u64],
    ) -> Result<Option<JournalEntry>, JournalError> {
        let keys = keys_of(self, reading.run, messages).await?;
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
    store: &Adapter<B>,
    run: RunId,
    messages: &[u64],
) -> Result<Vec<IdempotencyKey>, StoreError> {
    let mut keys = Vec::new();
    for message in messages {
        let found = message_at(store, run, *message).await?;
        keys.extend(found.map(|stored| stored.message.key));
    }
    Ok(keys)
}

/// The message of a run at this place among all.
async fn message_at<B: Relational>(
    store: &Adapter<B>,
    run: RunId,
    position: u64,
) -> Result<Option<StoredMessage>, StoreError> {
    let Some(after) = position.checked_sub(1) else {
        return Ok(None);
    };
    let found = store.messages(run, Page { after, limit: 1 }).await?;
    Ok(found.into_iter().find(|it| it.position == position))
}
