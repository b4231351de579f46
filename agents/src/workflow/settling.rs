//! What was asked of agents, or by them, and is settled though nobody carries it out.

use routing_core::NodeId;

use super::engine::Engine;
use super::failure::FlowError;
use crate::durable::error::KeepError;
use crate::run::InterruptResult;

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

    /// What the nodes of the run, or those within one, had asked and somebody has decided by now is no open question,
    /// though nobody carries the decision out now, for this reason.
    pub(crate) async fn note_decided(
        &self,
        within: Option<&NodeId>,
        reason: &str,
    ) -> Result<(), KeepError> {
        if self.journal.record.is_watched_only() {
            return Ok(());
        }
        for (interrupt, node) in self.ledger.open_of() {
            if within.is_none_or(|it| node.is_within(it)) && self.desk.is_decided(interrupt).await?
            {
                let reason = reason.to_owned();
                self.ledger
                    .ended(interrupt, InterruptResult::Decided { reason });
            }
        }
        Ok(())
    }
}
