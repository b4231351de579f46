//! Reroutes and decisions in the memory of one process.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use jiff::Timestamp;

use crate::agent_type::AgentType;
use crate::bus::{Admission, BusEvent, NodeStatus, PublishRefusal};
use crate::event::InterruptRequestEvent;
use crate::handler::{DecisionError, DecisionPart, Decisions, Proposal, RecordedDecision};
use crate::ids::{EventId, InterruptId, NodeId, RunId};
use crate::model::Message;
use crate::reroute::{CancelCause, RerouteChange, RerouteLimits, RerouteState};

/// The agents at work, to whom supervisors publish events.
///
/// An event names a node and no run, so a node's id must be unique among all runs.
#[async_trait]
pub trait RunningAgents<K: AgentType>: Send + Sync {
    /// What the node is and does; `None` if there is no such node.
    fn find(&self, node: &NodeId) -> Option<NodeStatus<K>>;

    /// Gives the node a message, which it reads at the start of its next turn. Says whether it will: not if it has ended.
    ///
    /// # Cancel safety
    ///
    /// Must be safe: the message is delivered whole or not at all.
    async fn send(&self, run: RunId, node: &NodeId, message: Message) -> bool;
}

/// Keeps reroutes and decisions in the memory of one process. Each operation is atomic.
///
/// At most one reroute is pending and at most one is bound for each node of a run.
pub struct InMemoryRouter<K: AgentType> {
    agents: Option<Arc<dyn RunningAgents<K>>>,
    limits: RerouteLimits,
    now: Arc<Now>,
    kept: Mutex<Kept<K>>,
}

type Now = dyn Fn() -> Timestamp + Send + Sync;

struct Kept<K: AgentType> {
    reroutes: HashMap<EventId, Reroute<K>>,
    decisions: HashMap<(InterruptId, DecisionPart), RecordedDecision<K::Route>>,
}

struct Reroute<K: AgentType> {
    event: InterruptRequestEvent<K>,
    run: RunId,
    state: RerouteState,
    expires_at: Timestamp,
    ignored_turns: u32,
    /// Whether its agent has the message: publishing it again tries again until then.
    delivered: bool,
}

impl<K: AgentType> Reroute<K> {
    fn is_of(&self, run: RunId, node: &NodeId) -> bool {
        self.run == run && self.event.node_id == *node
    }

    fn is_pending_of(&self, run: RunId, node: &NodeId) -> bool {
        self.is_of(run, node) && self.state == RerouteState::Pending
    }

    fn is_bound_to(&self, of: InterruptId) -> bool {
        self.state == RerouteState::Bound { interrupt: of }
    }

    /// Whether it belongs to the interrupt, bound or consumed.
    fn is_of_interrupt(&self, of: InterruptId) -> bool {
        matches!(
            self.state,
            RerouteState::Bound { interrupt } | RerouteState::Consumed { interrupt, .. }
                if interrupt == of
        )
    }

    /// Says whether the state allowed the change.
    fn change(&mut self, change: RerouteChange) -> bool {
        let after = self.state.after(change);
        let is_allowed = after.is_some();
        self.state = after.unwrap_or_else(|| self.state.clone());
        is_allowed
    }

    fn expire_if_due(&mut self, now: Timestamp) -> bool {
        self.expires_at <= now && self.change(RerouteChange::Expire)
    }
}

impl<K: AgentType> Default for InMemoryRouter<K> {
    /// For runs to which no supervisor publishes.
    fn default() -> Self {
        Self {
            agents: None,
            limits: RerouteLimits::default(),
            now: Arc::new(Timestamp::now),
            kept: Mutex::new(Kept {
                reroutes: HashMap::new(),
                decisions: HashMap::new(),
            }),
        }
    }
}

impl<K: AgentType> InMemoryRouter<K> {
    /// For these agents.
    pub fn new(agents: Arc<dyn RunningAgents<K>>) -> Self {
        Self {
            agents: Some(agents),
            ..Self::default()
        }
    }

    /// The same, with other limits of waiting.
    #[must_use]
    pub fn with_limits(self, limits: RerouteLimits) -> Self {
        Self { limits, ..self }
    }

    /// The same, with another source of the time than the machine's clock.
    #[must_use]
    pub fn with_time(self, now: impl Fn() -> Timestamp + Send + Sync + 'static) -> Self {
        let now = Arc::new(now);
        Self { now, ..self }
    }

    /// The state of an event's reroute; `None` if it was never stored.
    pub fn state(&self, event: &EventId) -> Option<RerouteState> {
        let kept = self.lock();
        Some(kept.reroutes.get(event)?.state.clone())
    }

    /// Lets go of the reroute that is bound to an interrupt which ended without a decision: it is pending again, unless
    /// a newer one waits in its place, which then supersedes it.
    pub fn release(&self, interrupt: InterruptId) {
        let mut kept = self.lock();
        let bound = kept.reroutes.values();
        let mut bound = bound.filter(|it| it.is_bound_to(interrupt));
        let Some((run, event)) = bound.next().map(|it| (it.run, it.event.clone())) else {
            return;
        };
        let newer = kept.reroutes.values();
        let mut newer = newer.filter(|it| it.is_pending_of(run, &event.node_id));
        let newer = newer.next().map(|it| it.event.event_id.clone());
        if let Some(row) = kept.reroutes.get_mut(&event.event_id) {
            row.change(RerouteChange::Release);
            if let Some(newer) = newer {
                row.change(RerouteChange::Supersede(newer));
            }
        }
    }

    /// The node took a turn without raising the interrupt. Returns the event that is given up, once the limit of ignored
    /// turns is reached.
    pub fn turn_ignored(&self, run: RunId, node: &NodeId) -> Option<EventId> {
        let mut kept = self.lock();
        let mut waiting = kept.reroutes.values_mut();
        let row = waiting.find(|it| it.is_pending_of(run, node))?;
        row.ignored_turns += 1;
        let is_over = row.ignored_turns >= self.limits.ignored_turns
            && row.change(RerouteChange::Cancel(CancelCause::Ignored));
        is_over.then(|| row.event.event_id.clone())
    }

    /// The node has ended: its pending reroutes are cancelled. Returns them.
    pub fn node_ended(&self, run: RunId, node: &NodeId) -> Vec<EventId> {
        self.end(|row| {
            row.is_of(run, node) && row.change(RerouteChange::Cancel(CancelCause::NodeEnded))
        })
    }

    /// Expires what has waited too long. Returns it.
    pub fn expire(&self) -> Vec<EventId> {
        let now = (self.now)();
        self.end(|row| row.expire_if_due(now))
    }

    fn end(&self, ends: impl Fn(&mut Reroute<K>) -> bool) -> Vec<EventId> {
        let mut kept = self.lock();
        let rows = kept.reroutes.iter_mut();
        let ended = rows.filter_map(|(id, row)| ends(row).then(|| id.clone()));
        ended.collect()
    }

    /// Stores an event that was checked. A newer one replaces an older one that is still pending, which is returned;
    /// while one is bound, the new one waits beside it.
    fn store(&self, run: RunId, event: &InterruptRequestEvent<K>) -> Option<EventId> {
        let now = (self.now)();
        let id = &event.event_id;
        let mut kept = self.lock();
        let mut superseded = None;
        for (older, row) in &mut kept.reroutes {
            let is_replaced = !row.expire_if_due(now)
                && row.is_pending_of(run, &event.node_id)
                && row.change(RerouteChange::Supersede(id.clone()));
            if is_replaced {
                superseded = Some(older.clone());
            }
        }
        let expires_at = now.checked_add(self.limits.lifetime);
        let stored = Reroute {
            event: event.clone(),
            run,
            state: RerouteState::Pending,
            expires_at: expires_at.unwrap_or(Timestamp::MAX),
            ignored_turns: 0,
            delivered: false,
        };
        kept.reroutes.insert(id.clone(), stored);
        superseded
    }

    /// Tells the agent of a stored event.
    async fn deliver(
        &self,
        agents: &dyn RunningAgents<K>,
        run: RunId,
        event: &InterruptRequestEvent<K>,
    ) -> Result<(), PublishRefusal> {
        let node = &event.node_id;
        if !agents.send(run, node, event.message()).await {
            self.node_ended(run, node);
            // An interrupt that the node raised before it ended may have taken the event already: then it was accepted,
            // and what follows from it is kept.
            let is_taken = matches!(
                self.state(&event.event_id),
                Some(RerouteState::Bound { .. } | RerouteState::Consumed { .. })
            );
            if !is_taken {
                return Err(PublishRefusal::NotRunning {
                    node: node.clone(),
                    status: "ended",
                });
            }
        }
        if let Some(row) = self.lock().reroutes.get_mut(&event.event_id) {
            row.delivered = true;
        }
        Ok(())
    }

    fn lock(&self) -> MutexGuard<'_, Kept<K>> {
        // Every change of a row is one assignment, so a panic elsewhere leaves them whole.
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl<K: AgentType> Admission<K> for InMemoryRouter<K> {
    async fn admit(
        &self,
        event: &InterruptRequestEvent<K>,
    ) -> Result<Vec<BusEvent<K>>, PublishRefusal> {
        let agents = self.agents.as_deref();
        let Some(agents) = agents else {
            let node = event.node_id.clone();
            return Err(PublishRefusal::UnknownNode { node });
        };
        let id = &event.event_id;
        let known =
            (self.lock().reroutes.get(id)).map(|row| (row.event == *event, row.run, row.delivered));
        let superseded = match known {
            Some((false, ..)) => {
                return Err(PublishRefusal::OtherContent { event: id.clone() });
            }
            // The same event again, perhaps after its node ended: what was answered stays.
            Some((true, _run, true)) => None,
            Some((true, run, false)) => {
                self.deliver(agents, run, event).await?;
                None
            }
            None => {
                let run = NodeStatus::check(agents.find(&event.node_id), event)?.run;
                // Stored first: an agent that answers at once finds the reroute.
                let superseded = self.store(run, event);
                self.deliver(agents, run, event).await?;
                superseded
            }
        };
        let changes = superseded
            .into_iter()
            .map(|older| BusEvent::RerouteChanged {
                event: older,
                state: RerouteState::Superseded { by: id.clone() },
            });
        Ok(changes.collect())
    }
}

#[async_trait]
impl<K: AgentType> Decisions<K> for InMemoryRouter<K> {
    async fn bind(
        &self,
        run: RunId,
        node: &NodeId,
        interrupt: InterruptId,
    ) -> Result<Option<InterruptRequestEvent<K>>, DecisionError> {
        let now = (self.now)();
        let mut kept = self.lock();
        let mut rows = kept.reroutes.values();
        if let Some(row) = rows.find(|row| row.is_of_interrupt(interrupt)) {
            return Ok(Some(row.event.clone()));
        }
        // At most one bound reroute for each node: a second interrupt of the node leaves the next one pending.
        let taken = |row: &Reroute<K>| {
            row.is_of(run, node) && matches!(row.state, RerouteState::Bound { .. })
        };
        if kept.reroutes.values().any(taken) {
            return Ok(None);
        }
        let mut rows = kept.reroutes.values_mut();
        let bound = rows.find_map(|row| {
            let binds = !row.expire_if_due(now)
                && row.is_pending_of(run, node)
                && row.change(RerouteChange::Bind(interrupt));
            binds.then(|| row.event.clone())
        });
        Ok(bound)
    }

    async fn recorded(
        &self,
        interrupt: InterruptId,
        matter: DecisionPart,
    ) -> Result<Option<RecordedDecision<K::Route>>, DecisionError> {
        Ok(self.lock().decisions.get(&(interrupt, matter)).cloned())
    }

    async fn decide(
        &self,
        proposal: Proposal<K::Route>,
    ) -> Result<RecordedDecision<K::Route>, DecisionError> {
        let interrupt = proposal.interrupt;
        let key = (interrupt, proposal.matter);
        let mut kept = self.lock();
        if let Some(recorded) = kept.decisions.get(&key) {
            return Ok(recorded.clone());
        }
        if let Some(event) = &proposal.bound {
            let row = kept.reroutes.get_mut(event);
            let consumed = row.is_some_and(|row| {
                row.is_bound_to(interrupt) && row.change(RerouteChange::Consume(proposal.decision))
            });
            if !consumed {
                return Err(DecisionError::RerouteGone { interrupt });
            }
        }
        let decision = RecordedDecision {
            id: proposal.decision,
            verdict: proposal.verdict,
            answer: proposal.answer,
            decided_by: proposal.decided_by,
            target: proposal.target,
            reroute: proposal.bound,
        };
        kept.decisions.insert(key, decision.clone());
        Ok(decision)
    }

    fn forget(&self, interrupt: InterruptId) {
        let mut kept = self.lock();
        kept.decisions.retain(|(of, _matter), _| *of != interrupt);
    }
}
