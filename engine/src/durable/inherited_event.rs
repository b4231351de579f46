//! Supervisors' events that no answer had used up in the run that this one was forked off: kept in its journal from its
//! beginning, and published in it under an id of its own, so that each run uses its own one once.

use interrupts::life::Interrupt;
use interrupts::store::{CheckpointId, KnownEffect, Run, Store, StoreError};
use interrupts::{Digest, KindName};
use jiff::Timestamp;
use routing_core::reroute::RerouteState;
use routing_core::{EventId, RunId};
use serde::{Deserialize, Serialize};

use super::kinds::NamedEvent;
use super::stored_interrupts::{StoredInterrupts, event_key, is_other_content, published};
use journal::error::KeepError;

/// The kind of the journal's entries with such an event.
pub const EVENT: &str = "event";

/// An event of the run that this one was forked off.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct InheritedEvent {
    /// As it was published first.
    event: NamedEvent,
    /// Its ids in the runs before: an agent that has read it there has read it.
    known_as: Vec<EventId>,
    /// When it would have expired there; absent if a question had taken it, which keeps it from expiring.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    until: Option<Timestamp>,
}

/// The id of an event in a run that inherits it: different in each run, and always the same within one.
fn id_in(run: RunId, original: &EventId) -> Option<EventId> {
    let plain = format!("{original}@{run}");
    let short = || format!("{}@{run}", Digest::of(original.as_str().as_bytes()));
    EventId::try_from(plain)
        .or_else(|_too_long| EventId::try_from(short()))
        .ok()
}

impl InheritedEvent {
    /// An event of a run as it goes with a fork of it. `before` is what had come to that run itself in this way.
    pub async fn of(
        store: &dyn Store,
        run: &Run,
        id: &EventId,
        until: Option<Timestamp>,
        before: &[Self],
    ) -> Result<Option<Self>, StoreError> {
        if let Some(known) = before.iter().find(|it| it.is(run.id, id)) {
            let mut again = known.clone();
            again.known_as.push(id.clone());
            again.until = until;
            return Ok(Some(again));
        }
        let event = published(store, run.id, id).await?;
        Ok(event.map(|event| Self {
            event,
            known_as: vec![id.clone()],
            until,
        }))
    }

    /// Reads the content of an entry of the journal.
    pub fn read(content: &str) -> serde_json::Result<Self> {
        serde_json::from_str(content)
    }

    /// Whether this is its id in a run.
    pub fn is(&self, run: RunId, id: &EventId) -> bool {
        id_in(run, &self.event.event_id).as_ref() == Some(id)
    }

    /// Its ids in the runs before.
    pub fn known_as(&self) -> &[EventId] {
        &self.known_as
    }

    /// Whether it was published in a run.
    pub async fn is_in(&self, store: &dyn Store, run: RunId) -> Result<bool, KeepError> {
        let Some(id) = id_in(run, &self.event.event_id) else {
            return Ok(false);
        };
        Ok(store.interrupt_of(&event_key(&id)?).await?.is_some())
    }

    /// Whether one of these interrupts of a run was published with it.
    pub fn is_among(&self, run: RunId, interrupts: &[Interrupt]) -> bool {
        let id = id_in(run, &self.event.event_id);
        id.is_some_and(|id| interrupts.iter().any(|it| it.key.as_str() == id.as_str()))
    }

    /// The entry of a run that is forked off at a checkpoint.
    pub fn effect(&self, from: CheckpointId) -> Option<KnownEffect> {
        Some(KnownEffect {
            node: self.event.node_id.clone(),
            kind: KindName::new(EVENT).ok()?,
            place: format!("{}{}", before(from), self.event.event_id),
            content: serde_json::to_string(self).ok()?,
            result: "{}".to_owned(),
        })
    }

    fn in_run(&self, run: RunId) -> Option<NamedEvent> {
        let mut event = self.event.clone();
        event.event_id = id_in(run, &event.event_id)?;
        Some(event)
    }
}

/// Whether it came with the fork at this checkpoint, by the place of its entry.
pub fn came_with(from: CheckpointId, place: &str) -> bool {
    place.starts_with(&before(from))
}

fn before(from: CheckpointId) -> String {
    format!("{EVENT}/{from}/")
}

impl StoredInterrupts {
    /// Publishes in this run what supervisors had asked of its agents before it was forked off. An event that waits
    /// behind one that an agent's question takes is published after that, as in the other run: otherwise it would
    /// replace it.
    pub async fn publish_handed(
        &self,
        events: &[InheritedEvent],
        now: Timestamp,
    ) -> Result<(), KeepError> {
        let (waiting, taken): (Vec<_>, Vec<_>) = events.iter().partition(|it| it.until.is_some());
        for handed in taken.iter().chain(&waiting) {
            let Some(event) = handed.in_run(self.record.run) else {
                continue;
            };
            let is_there = handed.is_in(self.record.store(), self.record.run).await?;
            if !is_there && handed.until.is_some_and(|until| until <= now) {
                tracing::info!(event = %event.event_id, "the reroute has expired before its run began");
                continue;
            }
            if !is_there && handed.until.is_some() && self.is_next(&taken, handed).await? {
                self.put_off(event);
                continue;
            }
            self.publish(&event).await?;
        }
        Ok(())
    }

    /// Publishes what was put off for a node, now that its question has taken what came before.
    pub async fn publish_put_off(&self, node: &routing_core::NodeId) -> Result<(), KeepError> {
        for event in self.take_put_off(node) {
            self.publish(&event).await?;
        }
        Ok(())
    }

    async fn publish(&self, event: &NamedEvent) -> Result<(), KeepError> {
        match self.admit_event(event).await {
            Err(error) if is_other_content(&error) => {
                tracing::warn!(event = %event.event_id, "its id was used for something else");
                Ok(())
            }
            admitted => admitted.map(drop),
        }
    }

    /// Whether another event of the same node is yet to be taken by a question.
    async fn is_next(
        &self,
        taken: &[&InheritedEvent],
        behind: &InheritedEvent,
    ) -> Result<bool, KeepError> {
        let own = taken
            .iter()
            .filter(|it| it.event.node_id == behind.event.node_id);
        for handed in own {
            let Some(id) = id_in(self.record.run, &handed.event.event_id) else {
                continue;
            };
            let row = self.record.store().reroute(&id).await?;
            if row.is_some_and(|row| row.state == RerouteState::Pending) {
                return Ok(true);
            }
        }
        Ok(false)
    }
}
