//! Reroutes kept in the memory of one process.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use jiff::{SignedDuration, Timestamp};

use super::{
    CancelCause, ConsumeError, IllegalReroute, PendingReroutes, RerouteChange, RerouteState,
    StoreError, Stored, StoredReroute,
};
use crate::agent_type::AgentType;
use crate::event::InterruptRequestEvent;
use crate::ids::{DecisionId, EventId, InterruptId, NodeId, RunId};

/// How long a reroute waits for its interrupt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RerouteLimits {
    /// How long it may be pending.
    pub lifetime: SignedDuration,
    /// How many turns its node may take without raising the interrupt.
    pub ignored_turns: u32,
}

impl Default for RerouteLimits {
    /// One hour, and three turns.
    fn default() -> Self {
        Self {
            lifetime: SignedDuration::from_hours(1),
            ignored_turns: 3,
        }
    }
}

/// Reroutes kept in the memory of one process. Each operation is atomic.
#[derive(Debug)]
pub struct InMemoryReroutes<K: AgentType> {
    limits: RerouteLimits,
    table: Mutex<HashMap<EventId, RerouteEntry<K>>>,
}

#[derive(Debug)]
struct RerouteEntry<K: AgentType> {
    reroute: StoredReroute<K>,
    expires_at: Timestamp,
    ignored_turns: u32,
}

impl<K: AgentType> RerouteEntry<K> {
    fn is_pending_of(&self, run: RunId, node: &NodeId) -> bool {
        self.reroute.run == run
            && self.reroute.event.node_id == *node
            && self.reroute.state == RerouteState::Pending
    }

    fn bound_interrupt(&self) -> Option<InterruptId> {
        match self.reroute.state {
            RerouteState::Bound { interrupt } => Some(interrupt),
            RerouteState::Pending
            | RerouteState::Consumed { .. }
            | RerouteState::Expired
            | RerouteState::Superseded { .. }
            | RerouteState::Cancelled { .. } => None,
        }
    }

    fn change(&mut self, change: RerouteChange) -> Result<(), StoreError> {
        self.reroute.state = self.reroute.state.after(change).map_err(broken)?;
        Ok(())
    }

    fn expire_if_due(&mut self, now: Timestamp) -> Result<bool, StoreError> {
        let due = self.reroute.state == RerouteState::Pending && self.expires_at <= now;
        if due {
            self.change(RerouteChange::Expire)?;
        }
        Ok(due)
    }
}

// Every caller looks at the state before it changes it, under the same lock.
fn broken(illegal: IllegalReroute) -> StoreError {
    StoreError::Unavailable {
        detail: illegal.to_string(),
    }
}

impl<K: AgentType> InMemoryReroutes<K> {
    /// An empty store.
    pub fn new(limits: RerouteLimits) -> Self {
        Self {
            limits,
            table: Mutex::new(HashMap::new()),
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<EventId, RerouteEntry<K>>> {
        // Every change is one assignment, so a panic elsewhere leaves the table whole.
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<K: AgentType> Default for InMemoryReroutes<K> {
    fn default() -> Self {
        Self::new(RerouteLimits::default())
    }
}

#[async_trait]
impl<K: AgentType> PendingReroutes<K> for InMemoryReroutes<K> {
    async fn store(
        &self,
        run: RunId,
        event: InterruptRequestEvent<K>,
        now: Timestamp,
    ) -> Result<Stored, StoreError> {
        let mut table = self.lock();
        if let Some(row) = table.get(&event.event_id) {
            return if row.reroute.event == event {
                Ok(Stored::AlreadyThere)
            } else {
                Err(StoreError::OtherContent {
                    event: event.event_id,
                })
            };
        }
        let mut superseded = None;
        for (id, row) in table.iter_mut() {
            if !row.expire_if_due(now)? && row.is_pending_of(run, &event.node_id) {
                row.change(RerouteChange::Supersede(event.event_id.clone()))?;
                superseded = Some(id.clone());
            }
        }
        let expires_at = now
            .checked_add(self.limits.lifetime)
            .unwrap_or(Timestamp::MAX);
        let id = event.event_id.clone();
        let reroute = StoredReroute {
            event,
            run,
            state: RerouteState::Pending,
        };
        table.insert(
            id,
            RerouteEntry {
                reroute,
                expires_at,
                ignored_turns: 0,
            },
        );
        Ok(Stored::Pending { superseded })
    }

    async fn bind(
        &self,
        run: RunId,
        node: &NodeId,
        interrupt: InterruptId,
        now: Timestamp,
    ) -> Result<Option<InterruptRequestEvent<K>>, StoreError> {
        let mut table = self.lock();
        if let Some(row) = table.values().find(|row| of_interrupt(row, interrupt)) {
            return Ok(Some(row.reroute.event.clone()));
        }
        // At most one bound reroute for each node: a second interrupt of the node leaves the next one pending.
        let taken = |row: &RerouteEntry<K>| {
            row.reroute.run == run
                && row.reroute.event.node_id == *node
                && row.bound_interrupt().is_some()
        };
        if table.values().any(taken) {
            return Ok(None);
        }
        for row in table.values_mut() {
            if !row.expire_if_due(now)? && row.is_pending_of(run, node) {
                row.change(RerouteChange::Bind(interrupt))?;
                return Ok(Some(row.reroute.event.clone()));
            }
        }
        Ok(None)
    }

    async fn consume(
        &self,
        interrupt: InterruptId,
        decision: DecisionId,
    ) -> Result<EventId, ConsumeError> {
        let mut table = self.lock();
        let Some((id, row)) = table
            .iter_mut()
            .find(|(_id, row)| of_interrupt(row, interrupt))
        else {
            return Err(ConsumeError::NotBound { interrupt });
        };
        match row.reroute.state {
            RerouteState::Consumed {
                decision: winner, ..
            } if winner == decision => Ok(id.clone()),
            RerouteState::Consumed {
                decision: winner, ..
            } => Err(ConsumeError::AlreadyConsumed {
                interrupt,
                decision: winner,
            }),
            RerouteState::Pending
            | RerouteState::Bound { .. }
            | RerouteState::Expired
            | RerouteState::Superseded { .. }
            | RerouteState::Cancelled { .. } => {
                row.change(RerouteChange::Consume(decision))?;
                Ok(id.clone())
            }
        }
    }

    async fn release(&self, interrupt: InterruptId) -> Result<(), StoreError> {
        let mut table = self.lock();
        let Some(id) = table
            .iter()
            .find(|(_id, row)| row.bound_interrupt() == Some(interrupt))
            .map(|(id, _row)| id.clone())
        else {
            return Ok(());
        };
        let newer = table.get(&id).and_then(|bound| {
            let (run, node) = (bound.reroute.run, &bound.reroute.event.node_id);
            table
                .iter()
                .find(|(_id, row)| row.is_pending_of(run, node))
                .map(|(id, _row)| id.clone())
        });
        if let Some(row) = table.get_mut(&id) {
            row.change(RerouteChange::Release)?;
            if let Some(newer) = newer {
                row.change(RerouteChange::Supersede(newer))?;
            }
        }
        Ok(())
    }

    async fn turn_ignored(&self, run: RunId, node: &NodeId) -> Result<Option<EventId>, StoreError> {
        let mut table = self.lock();
        let Some((id, row)) = table
            .iter_mut()
            .find(|(_id, row)| row.is_pending_of(run, node))
        else {
            return Ok(None);
        };
        row.ignored_turns += 1;
        if row.ignored_turns < self.limits.ignored_turns {
            return Ok(None);
        }
        row.change(RerouteChange::Cancel(CancelCause::Ignored))?;
        Ok(Some(id.clone()))
    }

    async fn node_ended(&self, run: RunId, node: &NodeId) -> Result<Vec<EventId>, StoreError> {
        let mut ended = Vec::new();
        for (id, row) in self.lock().iter_mut() {
            if row.is_pending_of(run, node) {
                row.change(RerouteChange::Cancel(CancelCause::NodeEnded))?;
                ended.push(id.clone());
            }
        }
        Ok(ended)
    }

    async fn expire(&self, now: Timestamp) -> Result<Vec<EventId>, StoreError> {
        let mut expired = Vec::new();
        for (id, row) in self.lock().iter_mut() {
            if row.expire_if_due(now)? {
                expired.push(id.clone());
            }
        }
        Ok(expired)
    }

    async fn fate(&self, event: &EventId) -> Result<Option<StoredReroute<K>>, StoreError> {
        Ok(self.lock().get(event).map(|row| row.reroute.clone()))
    }
}

/// Whether the row's reroute belongs to the interrupt, bound or consumed.
fn of_interrupt<K: AgentType>(row: &RerouteEntry<K>, interrupt: InterruptId) -> bool {
    match row.reroute.state {
        RerouteState::Bound { interrupt: bound }
        | RerouteState::Consumed {
            interrupt: bound, ..
        } => bound == interrupt,
        RerouteState::Pending
        | RerouteState::Expired
        | RerouteState::Superseded { .. }
        | RerouteState::Cancelled { .. } => false,
    }
}
