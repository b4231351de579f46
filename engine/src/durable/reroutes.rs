//! The core's reroutes, over the store: bound by acknowledging, consumed by deciding.

use std::sync::Arc;

use async_trait::async_trait;
use interrupt_router::event::InterruptRequestEvent;
use interrupt_router::reroute::{ConsumeError, PendingReroutes, StoreError, Stored, StoredReroute};
use interrupt_router::{AgentType, DecisionId, EventId, InterruptId, NodeId, RunId};
use interrupts::life::WithdrawCause;
use interrupts::store::{Admitted, RerouteRow};
use jiff::Timestamp;

use super::kinds::{NamedEvent, named, typed};
use super::stored_interrupts::{StoredInterrupts, in_words, is_other_content, machinery};
use journal::error::KeepError;

/// How many reroutes are expired together.
const MOST_AT_ONCE: u32 = 100;

/// The reroutes of a run in its store.
pub struct StoreReroutes {
    pub stored_interrupts: Arc<StoredInterrupts>,
}

fn unavailable(error: &KeepError) -> StoreError {
    StoreError::Unavailable {
        detail: in_words(error),
    }
}

/// The event with the types of the orchestrator that asks for it.
fn known<K: AgentType>(event: NamedEvent) -> Result<InterruptRequestEvent<K>, StoreError> {
    typed(event).map_err(|error| StoreError::Unavailable {
        detail: error.to_string(),
    })
}

impl StoreReroutes {
    /// The event whose reroute was given up, if it is one of this run.
    fn given_up(&self, row: Option<RerouteRow>) -> Option<EventId> {
        row.filter(|row| row.run == self.stored_interrupts.record.run)
            .map(|row| row.event)
    }

    async fn bound(&self, interrupt: InterruptId) -> Result<Option<NamedEvent>, KeepError> {
        let row = self
            .stored_interrupts
            .record
            .store()
            .interrupt(interrupt)
            .await?;
        match row.and_then(|row| row.bound) {
            Some(bound) => self.stored_interrupts.event(&bound.event).await,
            None => Ok(None),
        }
    }

    /// A turn of a node went by in which it ignored its event; the event, if it is given up by that.
    pub async fn turn_ignored(
        &self,
        run: RunId,
        node: &NodeId,
    ) -> Result<Option<EventId>, StoreError> {
        let row = self
            .stored_interrupts
            .record
            .store()
            .turn_ignored(run, node)
            .await;
        let row = row.map_err(|error| unavailable(&error.into()))?;
        Ok(self.given_up(row))
    }

    /// A node has ended: the events that are given up with it.
    pub async fn node_ended(&self, run: RunId, node: &NodeId) -> Result<Vec<EventId>, StoreError> {
        if !self.stored_interrupts.record.has_events() {
            return Ok(Vec::new());
        }
        let row = self
            .stored_interrupts
            .record
            .store()
            .node_ended(run, node)
            .await;
        let row = row.map_err(|error| unavailable(&error.into()))?;
        Ok(self.given_up(row).into_iter().collect())
    }

    /// Gives up the events that have waited too long.
    pub async fn expire(&self) -> Result<Vec<EventId>, StoreError> {
        if !self.stored_interrupts.record.has_events() {
            return Ok(Vec::new());
        }
        let store = self.stored_interrupts.record.store();
        let rows = store.expire_reroutes(MOST_AT_ONCE).await;
        let rows = rows.map_err(|error| unavailable(&error.into()))?;
        let ended = rows.into_iter().map(Some);
        Ok(ended.filter_map(|row| self.given_up(row)).collect())
    }

    /// What became of an event.
    pub async fn state_of(&self, event: &EventId) -> Result<Option<RerouteRow>, StoreError> {
        let row = self.stored_interrupts.record.store().reroute(event).await;
        row.map_err(|error| unavailable(&error.into()))
    }

    async fn consumed(
        &self,
        interrupt: InterruptId,
        decision: DecisionId,
    ) -> Result<EventId, ConsumeError> {
        let row = self
            .stored_interrupts
            .record
            .store()
            .interrupt(interrupt)
            .await;
        let row = row.map_err(|error| unavailable(&error.into()))?;
        let (bound, decided) = row.map_or((None, None), |row| (row.bound, row.decision));
        match (bound, decided) {
            (Some(bound), Some(decided)) if decided.id == decision => Ok(bound.event),
            (Some(_), Some(decided)) => Err(ConsumeError::AlreadyConsumed {
                interrupt,
                decision: decided.id,
            }),
            _ => Err(ConsumeError::NotBound { interrupt }),
        }
    }

    async fn release_bound(&self, interrupt: InterruptId) -> Result<(), KeepError> {
        use interrupts::store::ChangeError;
        let withdrawn = self
            .stored_interrupts
            .record
            .store()
            .withdraw(interrupt, machinery()?, WithdrawCause::Withdrawn)
            .await;
        match withdrawn {
            // It had ended already.
            Ok(_) | Err(ChangeError::Refused(_)) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
}

#[async_trait]
impl<K: AgentType> PendingReroutes<K> for StoreReroutes {
    async fn store(
        &self,
        _run: RunId,
        event: InterruptRequestEvent<K>,
        _now: Timestamp,
    ) -> Result<Stored, StoreError> {
        let named = named(event).map_err(|error| unavailable(&error.into()))?;
        match self.stored_interrupts.admit_event(&named).await {
            Ok(Admitted::New(_)) => Ok(Stored::Pending { superseded: None }),
            Ok(Admitted::Known(_)) => Ok(Stored::AlreadyThere),
            Err(error) if is_other_content(&error) => {
                let event = named.event_id;
                Err(StoreError::OtherContent { event })
            }
            Err(error) => Err(unavailable(&error)),
        }
    }

    /// What the store has bound: that happened when the interrupt was raised.
    async fn bind(
        &self,
        _run: RunId,
        _node: &NodeId,
        interrupt: InterruptId,
        _now: Timestamp,
    ) -> Result<Option<InterruptRequestEvent<K>>, StoreError> {
        let bound = self.bound(interrupt).await;
        let bound = bound.map_err(|error| unavailable(&error))?;
        Ok(bound.map(known).transpose()?)
    }

    /// What the decision has consumed: that happened when it was made.
    async fn consume(
        &self,
        interrupt: InterruptId,
        decision: DecisionId,
    ) -> Result<EventId, ConsumeError> {
        self.consumed(interrupt, decision).await
    }

    async fn release(&self, interrupt: InterruptId) -> Result<(), StoreError> {
        let released = self.release_bound(interrupt).await;
        released.map_err(|error| unavailable(&error))
    }

    async fn turn_ignored(&self, run: RunId, node: &NodeId) -> Result<Option<EventId>, StoreError> {
        Self::turn_ignored(self, run, node).await
    }

    async fn node_ended(&self, run: RunId, node: &NodeId) -> Result<Vec<EventId>, StoreError> {
        Self::node_ended(self, run, node).await
    }

    async fn expire(&self, _now: Timestamp) -> Result<Vec<EventId>, StoreError> {
        Self::expire(self).await
    }

    async fn fate(&self, event: &EventId) -> Result<Option<StoredReroute<K>>, StoreError> {
        let Some(row) = self.state_of(event).await? else {
            return Ok(None);
        };
        let event = self.stored_interrupts.event(event).await;
        let event = event.map_err(|error| unavailable(&error))?;
        let event = event.map(known).transpose()?;
        Ok(event.map(|event| StoredReroute {
            event,
            run: row.run,
            state: row.state,
        }))
    }
}
