//! The ports of nodes and of messages to them.

use async_trait::async_trait;
use interrupts::store::{
    MessageError, Messages, NewMessage, NodeRow, Nodes, Page, RunError, StoreError, StoredMessage,
};
use routing_core::{NodeId, RunId};

use super::Adapter;
use crate::operation::{PutNodes, SendMessage};
use crate::query::Backend;

#[async_trait]
impl<B: Backend> Nodes for Adapter<B> {
    async fn put_nodes(&self, run: RunId, epoch: u64, nodes: Vec<NodeRow>) -> Result<(), RunError> {
        self.backend.execute(PutNodes { run, epoch, nodes }).await
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
impl<B: Backend> Messages for Adapter<B> {
    async fn send_message(&self, message: NewMessage) -> Result<StoredMessage, MessageError> {
        self.backend.execute(SendMessage { message }).await
    }

    async fn messages(&self, run: RunId, page: Page) -> Result<Vec<StoredMessage>, StoreError> {
        self.backend.messages(run, page).await
    }
}
