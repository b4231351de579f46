//! Reroute events as the run sees them: admitted, reported to the observer, and found again by their node.

use std::sync::Arc;

use async_trait::async_trait;
use interrupt_router::bus::{Admission, BusEvent, NodeStatus, PublishRefusal};
use interrupt_router::event::InterruptRequestEvent;
use interrupt_router::reroute::{CancelCause, RerouteState};
use interrupt_router::{AgentType, EventId, NodeId};
use interrupts::life::State;
use interrupts::store::Admitted;

use super::event::RunEvent;
use super::nodes::NodeDirectory;
use super::recorder::Recorder;
use crate::durable::journal::RunJournal;
use crate::durable::kinds::{NamedEvent, named};
use crate::durable::reroutes::StoreReroutes;
use crate::durable::stored_interrupts::{StoredInterrupts, event_key, in_words, is_other_content};
use crate::durable::undelivered::{event_message, event_of};
use journal::error::KeepError;

/// Admits events, and notifies the observer of each. An event is stored before its agent learns of it.
pub struct RerouteLog {
    pub stored_interrupts: Arc<StoredInterrupts>,
    pub journal: Arc<RunJournal>,
    pub nodes: Arc<NodeDirectory>,
    pub reroutes: Arc<StoreReroutes>,
    pub recorder: Arc<Recorder>,
    /// Locked while an event is admitted and announced, and while a node opens its messages: the observer gets the event
    /// before it gets the message.
    pub gate: tokio::sync::Mutex<()>,
}

fn unavailable(error: &KeepError) -> PublishRefusal {
    PublishRefusal::Store {
        detail: in_words(error),
    }
}

impl RerouteLog {
    /// The events of a run with this journal.
    pub fn over(
        journal: &Arc<RunJournal>,
        stored_interrupts: &Arc<StoredInterrupts>,
        nodes: &Arc<NodeDirectory>,
        recorder: &Arc<Recorder>,
    ) -> Self {
        Self {
            stored_interrupts: Arc::clone(stored_interrupts),
            journal: Arc::clone(journal),
            nodes: Arc::clone(nodes),
            reroutes: Arc::new(StoreReroutes {
                stored_interrupts: Arc::clone(stored_interrupts),
            }),
            recorder: Arc::clone(recorder),
            gate: tokio::sync::Mutex::new(()),
        }
    }

    /// Waits until no event is being admitted, and blocks further ones.
    pub async fn hold(&self) -> tokio::sync::MutexGuard<'_, ()> {
        self.gate.lock().await
    }

    /// The event that waits for an interrupt of this node.
    pub async fn pending(&self, node: &NodeId) -> Result<Option<NamedEvent>, KeepError> {
        let waiting = self.stored_interrupts.waiting(node).await?;
        Ok(waiting.as_ref().and_then(event_of))
    }

    /// Whether an event has been published before.
    pub async fn knows(&self, event: &EventId) -> Result<bool, KeepError> {
        let key = event_key(event)?;
        let known = self
            .stored_interrupts
            .record
            .store()
            .interrupt_of(&key)
            .await?;
        Ok(known.is_some())
    }

    /// Reports what became of an older event that was replaced by one which then came too late.
    async fn tell_if_ended<K: AgentType>(
        &self,
        older: Option<&NamedEvent>,
    ) -> Result<Option<BusEvent<K>>, KeepError> {
        let Some(older) = older else {
            return Ok(None);
        };
        let event = older.event_id.clone();
        let Some(stored) = self.reroutes.state_of(&event).await? else {
            return Ok(None);
        };
        if !stored.state.is_final() {
            return Ok(None);
        }
        self.recorder.record(RunEvent::EventEnded {
            event: event.clone(),
            state: words(&stored.state),
        });
        let state = stored.state;
        Ok(Some(BusEvent::RerouteChanged { event, state }))
    }

    /// Admits an event that was checked, and notifies its node.
    async fn accept<K: AgentType>(
        &self,
        event: &NamedEvent,
        older: Option<&NamedEvent>,
    ) -> Result<Vec<BusEvent<K>>, PublishRefusal> {
        let admitted = match self.stored_interrupts.admit_event(event).await {
            Ok(admitted) => admitted,
            Err(error) if is_other_content(&error) => {
                return Err(PublishRefusal::OtherContent {
                    event: event.event_id.clone(),
                });
            }
            Err(error) => return Err(unavailable(&error)),
        };
        let is_new = matches!(admitted, Admitted::New(_));
        let interrupt = admitted.into_interrupt();
        let delivered = match interrupt.state {
            State::Requested | State::Delivered => self.stored_interrupts.deliver(&interrupt).await,
            State::Acknowledged
            | State::AwaitingReview
            | State::Resolved
            | State::Rerouted
            | State::Expired
            | State::Cancelled
            | State::DeadLettered => Ok(false),
        }
        .map_err(|error| unavailable(&error))?;
        if delivered
            && self
                .nodes
                .put(&event.node_id, event_message(event))
                .is_err()
        {
            self.come_too_late(event).await?;
        }
        let replaced = if is_new {
            self.replaced(event, older).await?
        } else {
            None
        };
        Ok(replaced.into_iter().collect())
    }

    /// The node ended while the event was admitted.
    async fn come_too_late(&self, event: &NamedEvent) -> Result<(), PublishRefusal> {
        let node = &event.node_id;
        let run = self.stored_interrupts.record.run;
        let ended = async {
            self.reroutes.node_ended(run, node).await?;
            self.reroutes.state_of(&event.event_id).await
        };
        let state = ended.await.map_err(|error| unavailable(&error))?;
        // An interrupt that the node raised before it ended may have taken the event already: then the event was
        // accepted, and its consequences remain.
        let is_taken = matches!(
            state.map(|stored| stored.state),
            Some(RerouteState::Bound { .. } | RerouteState::Consumed { .. })
        );
        if is_taken {
            return Ok(());
        }
        Err(PublishRefusal::NotRunning {
            node: node.clone(),
            status: "ended",
        })
    }

    /// The older event of the node, whose place the new one has taken.
    async fn replaced<K: AgentType>(
        &self,
        event: &NamedEvent,
        older: Option<&NamedEvent>,
    ) -> Result<Option<BusEvent<K>>, PublishRefusal> {
        let older = older.filter(|older| older.event_id != event.event_id);
        let told = self.tell_if_ended(older).await;
        told.map_err(|error| unavailable(&error))
    }
}

#[async_trait]
impl<K: AgentType> Admission<K> for RerouteLog {
    async fn admit(
        &self,
        event: &InterruptRequestEvent<K>,
    ) -> Result<Vec<BusEvent<K>>, PublishRefusal> {
        // A resumed run has its nodes again once it has caught up.
        self.journal.until_live().await;
        let _held = self.gate.lock().await;
        let known = self.knows(&event.event_id).await;
        let known = known.map_err(|error| unavailable(&error))?;
        let older = self.pending(&event.node_id).await;
        let older = older.map_err(|error| unavailable(&error))?;
        let told = named(event.clone()).map_err(|error| unavailable(&error.into()))?;
        let admitted = async {
            if !known {
                NodeStatus::check(self.nodes.status(&event.node_id), event)?;
            }
            self.accept(&told, older.as_ref()).await
        };
        match admitted.await {
            Ok(changes) => {
                if !known {
                    self.recorder
                        .record(RunEvent::EventPublished { event: told });
                }
                Ok(changes)
            }
            Err(refusal) => {
                self.recorder.record(RunEvent::EventRefused {
                    event: event.event_id.clone(),
                    reason: refusal.to_string(),
                });
                if known {
                    return Err(refusal);
                }
                let told = self.tell_if_ended::<K>(older.as_ref()).await;
                told.map_err(|error| unavailable(&error))?;
                Err(refusal)
            }
        }
    }
}

/// A reroute's state in words.
pub fn words(state: &RerouteState) -> String {
    match state {
        RerouteState::Pending => "pending".to_owned(),
        RerouteState::Bound { interrupt } => format!("bound to {interrupt}"),
        RerouteState::Consumed { interrupt, .. } => format!("used by {interrupt}"),
        RerouteState::Expired => "expired".to_owned(),
        RerouteState::Superseded { by } => format!("superseded by {by}"),
        RerouteState::Cancelled {
            cause: CancelCause::NodeEnded,
        } => "cancelled: its node ended first".to_owned(),
        RerouteState::Cancelled {
            cause: CancelCause::Ignored,
        } => "cancelled: its node ignored it".to_owned(),
        RerouteState::Cancelled {
            cause: CancelCause::InterruptEnded,
        } => "cancelled: its interrupt has ended".to_owned(),
    }
}
