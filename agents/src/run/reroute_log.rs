//! Reroute events as the run sees them: admitted, told to the observer, and found again by their node.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use routing_core::bus::{Admission, BusEvent, PublishRefusal, RerouteDesk};
use routing_core::event::InterruptRequestEvent;
use routing_core::reroute::{PendingReroutes, RerouteState, StoreError};
use routing_core::{EventId, NodeId};

use super::event::RunEvent;
use super::recorder::Recorder;
use crate::agent_kind::AgentKind;

/// Admits events through the desk, and tells the observer of each.
pub(crate) struct RerouteLog {
    desk: RerouteDesk<AgentKind>,
    reroutes: Arc<dyn PendingReroutes<AgentKind>>,
    recorder: Arc<Recorder>,
    /// The last accepted event of each node.
    latest: Mutex<HashMap<NodeId, EventId>>,
    /// Held while an event is admitted and told, and while a node opens its letters: the observer
    /// hears of the event before it hears of the message.
    gate: tokio::sync::Mutex<()>,
}

impl RerouteLog {
    pub(crate) fn new(
        desk: RerouteDesk<AgentKind>,
        reroutes: Arc<dyn PendingReroutes<AgentKind>>,
        recorder: Arc<Recorder>,
    ) -> Self {
        Self {
            desk,
            reroutes,
            recorder,
            latest: Mutex::default(),
            gate: tokio::sync::Mutex::new(()),
        }
    }

    /// Waits until no event is being admitted, and holds the next ones back.
    pub(crate) async fn hold(&self) -> tokio::sync::MutexGuard<'_, ()> {
        self.gate.lock().await
    }

    /// The event that waits for an interrupt of this node.
    pub(crate) async fn pending(
        &self,
        node: &NodeId,
    ) -> Result<Option<InterruptRequestEvent<AgentKind>>, StoreError> {
        let latest = self
            .latest
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .get(node)
            .cloned();
        let Some(event) = latest else {
            return Ok(None);
        };
        let stored = self.reroutes.fate(&event).await?;
        Ok(stored
            .filter(|stored| stored.state == RerouteState::Pending)
            .map(|stored| stored.event))
    }

    /// Tells what became of an older event that was replaced by one which then came too late.
    async fn tell_if_ended(
        &self,
        older: Option<InterruptRequestEvent<AgentKind>>,
    ) -> Result<(), StoreError> {
        let Some(older) = older else {
            return Ok(());
        };
        if let Some(stored) = self.reroutes.fate(&older.event_id).await?
            && stored.state.is_final()
        {
            self.recorder.record(RunEvent::EventEnded {
                event: older.event_id,
                state: words(&stored.state),
            });
        }
        Ok(())
    }

    fn accepted(&self, event: &InterruptRequestEvent<AgentKind>) {
        self.latest
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(event.node_id.clone(), event.event_id.clone());
        self.recorder.record(RunEvent::EventPublished {
            event: event.clone(),
        });
    }
}

#[async_trait]
impl Admission<AgentKind> for RerouteLog {
    async fn admit(
        &self,
        event: &InterruptRequestEvent<AgentKind>,
    ) -> Result<Vec<BusEvent<AgentKind>>, PublishRefusal> {
        let _held = self.gate.lock().await;
        let known = self.reroutes.fate(&event.event_id).await?.is_some();
        let older = self.pending(&event.node_id).await?;
        match self.desk.admit(event).await {
            Ok(changes) => {
                for change in &changes {
                    if let BusEvent::RerouteChanged { event, state } = change {
                        self.recorder.record(RunEvent::EventEnded {
                            event: event.clone(),
                            state: words(state),
                        });
                    }
                }
                if !known {
                    self.accepted(event);
                }
                Ok(changes)
            }
            Err(refusal) => {
                self.recorder.record(RunEvent::EventRefused {
                    event: event.event_id.clone(),
                    reason: refusal.to_string(),
                });
                self.tell_if_ended(older).await?;
                Err(refusal)
            }
        }
    }
}

/// A reroute's state in words.
pub(crate) fn words(state: &RerouteState) -> String {
    use routing_core::reroute::CancelCause;
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
    }
}
