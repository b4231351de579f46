//! What was asked of agents, and is settled though nobody carries it out.

use routing_core::NodeId;

use super::engine::Engine;
use super::failure::FlowError;

impl Engine {
    /// A node has ended: what was asked of it alone and has not taken hold never will, and whoever asked is told.
    pub(crate) async fn settle_stops_of(&self, node: &NodeId) -> Result<(), FlowError> {
        if let Some(control) = self.control() {
            if self.scope_of(node).is_stopping() {
                // Whoever asked looks at the agent to see why.
                self.keep_nodes().await?;
            }
            control.has_ended(node).await;
        }
        Ok(())
    }
}
