//! Supervisors' events as interrupts in the store: admitted, looked for, superseded and read again.

use interrupt_router::reroute::RerouteState;
use interrupt_router::{EventId, InterruptId, InterruptType, NodeId, RunId, StopMode, StopSource};
use interrupts::life::{
    Actor, Admission, ExpiryOutcome, Interrupt, Recurrence, Role, Scope, State, USUAL_ATTEMPTS,
    WithdrawCause,
};
use interrupts::store::{Admitted, ChangeError, Filter, Pages, Store, StoreError};
use interrupts::{ActorName, IdempotencyKey, RouteName};

use super::{StoredInterrupts, machinery, set_terms, shortened};
use crate::durable::kinds::NamedEvent;
use crate::durable::undelivered::event_of;
use journal::entry::InterruptIntent;
use journal::error::KeepError;
use journal::kind::INTERRUPT;

/// How many interrupts of a node are looked at together.
const PAGE: u32 = 100;

/// How many entries of the journal are looked at together.
const ENTRIES: u32 = 1_000;

impl StoredInterrupts {
    /// Admits a supervisor's event. In the store it is a question, no matter which type it asks for: it stops nothing
    /// until the agent itself raises the request.
    pub async fn admit_event(&self, event: &NamedEvent) -> Result<Admitted, KeepError> {
        let interrupt_type = match event.interrupt_type {
            InterruptType::AgentReview => InterruptType::AgentReview,
            InterruptType::HumanReview
            | InterruptType::Pause
            | InterruptType::Stop
            | InterruptType::Prune
            | InterruptType::Branch => InterruptType::HumanReview,
        };
        let (kinds, kind) = (&self.record.kinds, &event.source_agent_type);
        let mut admission = Admission {
            id: InterruptId::generate(),
            run: self.record.run,
            node: event.node_id.clone(),
            kind: kind.clone(),
            origin: RouteName::new(kinds.origin_of(kind.as_str()))?,
            routes: kinds.routes()?,
            interrupt_type,
            source: StopSource::Programmatic,
            requested_by: Actor {
                name: ActorName::new("supervisor")?,
                role: Role::Supervisor,
            },
            mode: StopMode::Graceful,
            scope: Scope::Agent,
            reason: shortened(&event.reason),
            content: serde_json::to_string(event)?,
            key: event_key(&event.event_id)?,
            allowed: Vec::new(),
            patience: None,
            on_expiry: ExpiryOutcome::Reject,
            most_attempts: USUAL_ATTEMPTS,
            recurrence: Recurrence::Verbatim,
            reroute: Some(kinds.target_of(event)?),
        };
        set_terms(&self.record, &mut admission).await?;
        let admitted = self.record.store().admit(admission).await?;
        self.record.event_came();
        self.events()
            .entry(event.event_id.clone())
            .or_insert_with(|| event.clone());
        Ok(admitted)
    }

    /// The interrupt that an event of a node asks for, as long as the node has not raised it.
    pub async fn waiting(&self, node: &NodeId) -> Result<Option<Interrupt>, KeepError> {
        if !self.record.has_events() {
            return Ok(None);
        }
        let filter = Filter {
            run: Some(self.record.run),
            node: Some(node.clone()),
            states: vec![State::Requested, State::Delivered],
        };
        let store = self.record.store();
        let mut pages = Pages::of(PAGE);
        while let Some(found) = pages.next(|page| store.interrupts(&filter, page)).await? {
            for (_, interrupt) in found {
                let Some(event) = event_of(&interrupt) else {
                    continue;
                };
                let reroute = store.reroute(&event.event_id).await?;
                if reroute.is_some_and(|row| row.state == RerouteState::Pending) {
                    return Ok(Some(interrupt));
                }
            }
        }
        Ok(None)
    }

    /// Ends the interrupt that an event asked for and no node has raised.
    pub async fn withdraw_event(
        &self,
        event: &EventId,
        cause: WithdrawCause,
    ) -> Result<(), KeepError> {
        let store = self.record.store();
        let Some(interrupt) = store.interrupt_of(&event_key(event)?).await? else {
            return Ok(());
        };
        if !matches!(interrupt.state, State::Requested | State::Delivered) {
            return Ok(());
        }
        match store.withdraw(interrupt.id, machinery()?, cause).await {
            // Another caller has ended it.
            Ok(_) | Err(ChangeError::Refused(_)) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// An event that came to the run, as it was published.
    pub async fn event(&self, event: &EventId) -> Result<Option<NamedEvent>, KeepError> {
        if let Some(known) = self.events().get(event) {
            return Ok(Some(known.clone()));
        }
        Ok(published(self.record.store(), self.record.run, event).await?)
    }
}

/// An event of a run, as it was published.
pub async fn published(
    store: &dyn Store,
    run: RunId,
    event: &EventId,
) -> Result<Option<NamedEvent>, StoreError> {
    // Nothing was admitted under an invalid key.
    let Ok(key) = IdempotencyKey::new(event.as_str()) else {
        return Ok(None);
    };
    let Some(interrupt) = store.interrupt_of(&key).await? else {
        return Ok(None);
    };
    if let Some(event) = event_of(&interrupt) {
        return Ok(Some(event));
    }
    // Its agent has raised it, and its entry has the event: the agent's request has replaced the content.
    journalled(store, run, event).await
}

/// An event whose interrupt its node has raised, as the journal keeps it.
async fn journalled(
    store: &dyn Store,
    run: RunId,
    event: &EventId,
) -> Result<Option<NamedEvent>, StoreError> {
    let mut pages = Pages::of(ENTRIES);
    while let Some(entries) = pages.next(|page| store.journal(run, page)).await? {
        let raised = entries
            .iter()
            .filter(|entry| entry.intent.kind.as_str() == INTERRUPT);
        for entry in raised {
            let published = published_with(&entry.intent.content);
            let published = published.map_err(|error| StoreError::Corrupt {
                detail: format!("{}: {error}", entry.intent.effect),
            })?;
            if published.as_ref().is_some_and(|it| it.event_id == *event) {
                return Ok(published);
            }
        }
    }
    Ok(None)
}

/// The event that had asked for an interrupt, as the interrupt's entry keeps it.
fn published_with(content: &str) -> serde_json::Result<Option<NamedEvent>> {
    let intent: InterruptIntent = serde_json::from_str(content)?;
    intent.event.map(serde_json::from_value).transpose()
}

/// The key under which an event's interrupt was admitted.
pub fn event_key(event: &EventId) -> Result<IdempotencyKey, KeepError> {
    Ok(IdempotencyKey::new(event.as_str())?)
}
