//! Events of a store, as CloudEvents: one form for the live feed, for the broker, and for `irq run --json`.
//!
//! An event contains what a row of the outbox says, and the immutable parts of the records that the row names. So each
//! process renders the same bytes for it, at any time.

mod content;
mod envelope;
mod event_catalogue;
mod known;
mod model_call;
mod records;
mod run_events;

use std::sync::Arc;

use interrupts::store::{OutboxRow, Store};

pub(crate) use envelope::{FeedEvent, event_type, position_text, reset_event, source_of};
pub(crate) use event_catalogue::TOLD;
pub(crate) use known::Interrupts;
pub(crate) use records::{EventRecords, StoredEffect, goal_of};
pub use run_events::RunEvents;

use known::KnownInterrupts;

/// Renders the events of a store.
pub(crate) struct EventRenderer {
    store: Arc<dyn Store>,
    instance: String,
    known: KnownInterrupts,
}

impl EventRenderer {
    /// For events of this store, with the name of this server in their sources.
    pub(crate) fn new(store: Arc<dyn Store>, instance: String) -> Self {
        Self {
            store,
            instance,
            known: KnownInterrupts::default(),
        }
    }

    /// What these rows are about.
    pub(crate) async fn records_of(&self, rows: &[OutboxRow]) -> EventRecords {
        let interrupts = self.known.of(&*self.store, rows).await;
        EventRecords::of(&*self.store, rows, interrupts).await
    }

    /// The event of a row.
    pub(crate) fn event_of(&self, row: &OutboxRow, records: &EventRecords) -> Arc<FeedEvent> {
        Arc::new(FeedEvent::of(&self.instance, row, records))
    }

    /// The events of some rows.
    pub(crate) async fn events_of(&self, rows: &[OutboxRow]) -> Vec<Arc<FeedEvent>> {
        let records = self.records_of(rows).await;
        let event = |row| self.event_of(row, &records);
        rows.iter().map(event).collect()
    }
}
