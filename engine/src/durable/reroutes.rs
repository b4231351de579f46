//! The reroutes of a run in its store, as far as no interrupt has taken them.

use std::sync::Arc;

use interrupt_router::{EventId, NodeId, RunId};
use interrupts::store::RerouteRow;

use super::stored_interrupts::StoredInterrupts;
use journal::error::KeepError;

/// How many reroutes are expired together.
const MOST_AT_ONCE: u32 = 100;

/// The reroutes of a run in its store.
pub struct StoreReroutes {
    pub stored_interrupts: Arc<StoredInterrupts>,
}

impl StoreReroutes {
    /// The event whose reroute was given up, if it is one of this run.
    fn given_up(&self, row: Option<RerouteRow>) -> Option<EventId> {
        row.filter(|row| row.run == self.stored_interrupts.record.run)
            .map(|row| row.event)
    }

    /// A turn of a node went by in which it ignored its event; the event, if it is given up by that.
    pub async fn turn_ignored(
        &self,
        run: RunId,
        node: &NodeId,
    ) -> Result<Option<EventId>, KeepError> {
        let row = self
            .stored_interrupts
            .record
            .store()
            .turn_ignored(run, node)
            .await;
        Ok(self.given_up(row?))
    }

    /// A node has ended: the events that are given up with it.
    pub async fn node_ended(&self, run: RunId, node: &NodeId) -> Result<Vec<EventId>, KeepError> {
        if !self.stored_interrupts.record.has_events() {
            return Ok(Vec::new());
        }
        let row = self
            .stored_interrupts
            .record
            .store()
            .node_ended(run, node)
            .await;
        Ok(self.given_up(row?).into_iter().collect())
    }

    /// Gives up the events that have waited too long.
    pub async fn expire(&self) -> Result<Vec<EventId>, KeepError> {
        if !self.stored_interrupts.record.has_events() {
            return Ok(Vec::new());
        }
        let store = self.stored_interrupts.record.store();
        let rows = store.expire_reroutes(MOST_AT_ONCE).await;
        let ended = rows?.into_iter().map(Some);
        Ok(ended.filter_map(|row| self.given_up(row)).collect())
    }

    /// What became of an event.
    pub async fn state_of(&self, event: &EventId) -> Result<Option<RerouteRow>, KeepError> {
        let row = self.stored_interrupts.record.store().reroute(event).await;
        Ok(row?)
    }
}
