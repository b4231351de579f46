//! The events of one run, for a process that has its store open.

use std::sync::Arc;

use interrupt_router::{NodeId, RunId};
use interrupts::life::RunState;
use interrupts::store::{Notification, OutboxRow, Page, PageBack, Store, StoreError};
use jiff::Timestamp;
use serde_json::Value;
use uuid::Uuid;

use super::EventRenderer;
use super::envelope::{source_of, transient_event};

/// How many rows are read from the store at once.
const CHUNK: u32 = 256;
/// The server's name in the sources of events, as for a server without a name.
const INSTANCE: &str = "local";

/// The events of one run, read from its store: the bytes that the live feed of a server has for them.
pub struct RunEvents {
    store: Arc<dyn Store>,
    renderer: EventRenderer,
    run: RunId,
    position: u64,
}

impl RunEvents {
    /// The events of a run from now on. For a run that has not begun yet, these are all.
    ///
    /// # Errors
    ///
    /// If the store cannot be read.
    ///
    /// # Cancel safety
    ///
    /// Safe: it only reads.
    pub async fn from_now(store: Arc<dyn Store>, run: RunId) -> Result<Self, StoreError> {
        let found = store.run(run).await?;
        let has_begun = found.is_some_and(|run| run.state != RunState::Created);
        let last = PageBack {
            before: None,
            limit: 1,
        };
        let last = match has_begun {
            true => store.last_outbox_of(run, last).await?,
            false => Vec::new(),
        };
        Ok(Self {
            position: last.first().map_or(0, |row| row.position),
            renderer: EventRenderer::new(Arc::clone(&store), INSTANCE.to_owned()),
            store,
            run,
        })
    }

    /// The next events that exist by now, each a line of JSON without its end; empty if all were returned. That the run
    /// rests, and what follows, is returned only if `has_ended`: a transient event may still come before it.
    ///
    /// # Errors
    ///
    /// If the store cannot be read. Nothing is skipped then: the next call begins at the same position.
    ///
    /// # Cancel safety
    ///
    /// Safe: the next call returns what was not returned.
    pub async fn next(&mut self, has_ended: bool) -> Result<Vec<String>, StoreError> {
        let page = Page {
            after: self.position,
            limit: CHUNK,
        };
        let mut rows = self.store.outbox_of(self.run, page).await?;
        if !has_ended && let Some(rest) = rest_of(&rows) {
            rows.truncate(rest);
        }
        let events = self.renderer.events_of(&rows).await;
        if let Some(last) = rows.last() {
            self.position = last.position;
        }
        Ok(events.iter().map(|event| event.json.clone()).collect())
    }

    /// A transient event of the run or one of its agents: no store has it, and it has no position among the others.
    pub fn transient(
        &self,
        topic: &str,
        node: Option<&NodeId>,
        (at, mut data): (Timestamp, Value),
    ) -> String {
        let origin = (
            source_of(INSTANCE, Some(self.run)),
            format!("transient-{}", Uuid::now_v7()),
        );
        let agent = node.map(|node| format!("{}/{node}", self.run));
        if let (Value::Object(data), Some(agent)) = (&mut data, &agent) {
            data.insert("agent_id".to_owned(), agent.as_str().into());
        }
        let subject = agent.map(|agent| format!("agents/{agent}"));
        transient_event(origin, topic, subject, (at, &data))
    }
}

/// Where rows say that the run has come to rest, and not that it has gone on since.
fn rest_of(rows: &[OutboxRow]) -> Option<usize> {
    let mut states = rows.iter().enumerate().rev().filter_map(|(at, row)| {
        let Notification::Run { state, .. } = row.notification else {
            return None;
        };
        Some((at, state))
    });
    let (at, state) = states.next()?;
    let rests = state.is_final() || matches!(state, RunState::Paused | RunState::Waiting);
    rests.then_some(at)
}
