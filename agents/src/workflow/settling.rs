//! What was asked of agents, or by them, and is settled though nobody carries it out.

use interrupts::store::{JournalEntry, Page};
use routing_core::{InterruptId, NodeId};
use serde::Deserialize;

use super::engine::Engine;
use super::failure::FlowError;
use crate::durable::error::KeepError;
use crate::durable::journal::DISPATCH;
use crate::run::InterruptResult;

/// How many entries of the journal are looked at together.
const PAGE: u32 = 100;

/// What the journal says of a dispatch, as far as it is needed here.
#[derive(Deserialize)]
struct Dispatch {
    interrupt: InterruptId,
}

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
    /// What a node and those below it had asked and somebody has decided is not carried out: they are left out, for this
    /// reason. The decisions stand.
    pub(crate) async fn leave_decisions_out(
        &self,
        within: &NodeId,
        reason: &str,
    ) -> Result<(), KeepError> {
        let record = &self.journal.record;
        if record.is_watched_only() {
            return Ok(());
        }
        let mut after = 0;
        loop {
            let page = Page { after, limit: PAGE };
            let open = record.store().unknown_effects(record.run, page).await?;
            let Some(last) = open.last() else {
                return Ok(());
            };
            after = last.position;
            for JournalEntry { intent, .. } in &open {
                if intent.kind.as_str() != DISPATCH || !intent.node.is_within(within) {
                    continue;
                }
                let dispatch: Dispatch = serde_json::from_str(&intent.content)?;
                let asked = record.store().interrupt(dispatch.interrupt).await?;
                // A stop from outside is carried out: it is why they are left out, or goes on to hold.
                if asked.is_some_and(|asked| asked.is_waited_on()) {
                    self.journal.not_dispatched(intent.effect, reason).await?;
                }
            }
        }
    }
}
