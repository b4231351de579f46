//! The interrupts of the run's nodes in the store: admitted, delivered, raised, withdrawn.

mod events;
mod leaving;
mod questions;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use interrupt_router::{DecisionId, EventId, InterruptDetails, InterruptId, NodeId, StopSource};
use interrupts::life::{
    Actor, Admission, Evidence, Interrupt, Judge, Recurrence, Refusal, Role, State,
};
use interrupts::policy::{Automatic, Policy};
use interrupts::store::{AdmitError, ChangeError, Delivery, Intent, StoreError};
use interrupts::{ActorName, Digest};
use jiff::Timestamp;
use serde_json::Value;

use super::kinds::NamedEvent;
use super::record::RunRecord;
use journal::error::KeepError;
use journal::place;

pub use events::{event_key, published};
pub use questions::{Heard, NewQuestion};

/// How many interrupts a look at the deadlines ends at most.
pub const MOST_AT_ONCE: u32 = 100;

/// The most bytes of a reason; a longer one is kept whole in the content.
const LONGEST_REASON: usize = 16 << 10;

/// The interrupts of the run in its store.
pub struct StoredInterrupts {
    pub record: Arc<RunRecord>,
    /// The events that came while this process had the run. In the store, an event is replaced by the agent's request
    /// once there is one.
    events: Mutex<HashMap<EventId, NamedEvent>>,
}

/// An interrupt that an agent raises.
pub struct Raising<'a> {
    pub interrupt: InterruptId,
    pub node: &'a NodeId,
    pub turn: u32,
    pub kind: &'static str,
    pub details: &'a InterruptDetails,
    pub request: &'a Value,
}

/// The part of the machinery that acts here.
pub fn machinery() -> Result<Actor, KeepError> {
    Ok(Actor {
        name: ActorName::new("workflow")?,
        role: Role::System,
    })
}

pub fn shortened(reason: &str) -> String {
    let end = reason.floor_char_boundary(LONGEST_REASON);
    reason.get(..end).unwrap_or_default().to_owned()
}

impl StoredInterrupts {
    pub fn new(record: Arc<RunRecord>) -> Self {
        Self {
            record,
            events: Mutex::default(),
        }
    }

    fn events(&self) -> MutexGuard<'_, HashMap<EventId, NamedEvent>> {
        // Only insertions, so a panic elsewhere leaves the table whole.
        self.events.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes an event's interrupt for its node; returns whether the node may learn of it.
    pub async fn deliver(&self, interrupt: &Interrupt) -> Result<bool, KeepError> {
        match interrupt.state {
            State::Requested => {}
            State::Delivered if self.is_mine(interrupt) => return Ok(true),
            State::Delivered => {}
            State::Acknowledged
            | State::AwaitingReview
            | State::Resolved
            | State::Rerouted
            | State::Expired
            | State::Cancelled
            | State::DeadLettered => return Ok(false),
        }
        match self.take(interrupt).await {
            Ok(taken) => Ok(taken.state == State::Delivered),
            // It ended meanwhile, or another part of this process was faster.
            Err(ChangeError::Refused(Refusal::Leased { owner, .. })) => {
                Ok(owner == self.record.kept.owner)
            }
            Err(ChangeError::Refused(_)) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    fn is_mine(&self, interrupt: &Interrupt) -> bool {
        let lease = interrupt.lease.as_ref();
        lease.is_some_and(|lease| lease.owner == self.record.kept.owner)
    }

    /// Its previous owner has lost the run, and with it everything delivered there.
    fn delivery_of(&self, interrupt: &Interrupt) -> Delivery {
        let holder = interrupt.lease.as_ref().map(|lease| lease.owner.clone());
        self.record.delivery(holder)
    }

    async fn take(&self, interrupt: &Interrupt) -> Result<Interrupt, ChangeError> {
        let delivery = self.delivery_of(interrupt);
        self.record.store().deliver(interrupt.id, delivery).await
    }

    /// The id that the interrupt of a node's turn gets: that of the event which asked for it, or one made
    /// of its place and of when the answer was recorded that raised it. With the event, if there is one.
    pub async fn id_for(
        &self,
        node: &NodeId,
        turn: u32,
        at: Timestamp,
    ) -> Result<(InterruptId, Option<Value>), KeepError> {
        Ok(match self.waiting(node).await? {
            Some(interrupt) => (interrupt.id, serde_json::from_str(&interrupt.content).ok()),
            None => {
                let place = place::interrupt(node, turn);
                (self.record.interrupt_at(&place, at), None)
            }
        })
    }

    /// Whether an interrupt has been decided.
    pub async fn is_decided(&self, interrupt: InterruptId) -> Result<bool, KeepError> {
        let row = self.record.store().interrupt(interrupt).await?;
        Ok(row.is_some_and(|row| matches!(row.state, State::Resolved | State::Rerouted)))
    }

    /// Records an agent's interrupt, and the intent to raise it, where that is not recorded yet: the one that an event asked
    /// for is acknowledged, another one is raised.
    pub async fn raise(
        &self,
        raising: &Raising<'_>,
        intent: Option<Intent>,
    ) -> Result<(), KeepError> {
        let store = self.record.store();
        let content = serde_json::to_string(raising.request)?;
        let deciders = self.deciders();
        match store.interrupt(raising.interrupt).await? {
            Some(asked_for) => {
                if let Some(intent) = intent {
                    store.begin(self.record.epoch()?, intent).await?;
                }
                let form = raising.details.form();
                let evidence = Evidence::Request { content, form };
                self.acknowledge(asked_for, evidence).await?;
                let row = self.row(raising.interrupt).await?;
                self.consult(row, deciders).await?;
            }
            None => {
                let kinds = &self.record.kinds;
                let mut admission = self.admission(NewQuestion {
                    interrupt: raising.interrupt,
                    node: raising.node,
                    kind: raising.kind,
                    origin: kinds.origin_of(raising.kind),
                    interrupt_type: raising.details.r#type,
                    source: StopSource::Programmatic,
                    reason: &raising.details.reason,
                    content,
                    key: &format!("{}#{}", raising.node, raising.turn),
                    allowed: &[],
                    recurrence: Recurrence::Verbatim,
                })?;
                admission.routes = kinds.routes()?;
                let mut admission = admission.answered_in(raising.details.form());
                set_terms(&self.record, &mut admission).await?;
                match intent {
                    Some(intent) => self.put_at(intent, admission, deciders).await?,
                    None => self.put(admission, deciders).await?,
                };
            }
        }
        Ok(())
    }

    /// Ends a pause that a person is asked about, if the policy says that it ends by itself after this wait.
    pub async fn end_pause(
        &self,
        interrupt: InterruptId,
        waited: Duration,
    ) -> Result<(), KeepError> {
        let policy = &self.record.kept.policy;
        if **policy == Policy::default() {
            return Ok(());
        }
        let (store, row) = (self.record.store(), self.row(interrupt).await?);
        let (State::AwaitingReview, Some(review)) = (row.state, &row.review) else {
            return Ok(());
        };
        let id = DecisionId::from_uuid(row.id.uuid());
        let choosing = match policy.decide(&row, id) {
            Automatic::Decide { choosing, after } if waited >= after.unsigned_abs() => choosing,
            Automatic::Decide { .. } | Automatic::Ask { .. } => return Ok(()),
        };
        let judge = Judge::PolicyLater {
            actor: Actor {
                name: ActorName::new("policy")?,
                role: Role::System,
            },
            version: row.version,
            shown: review.shown,
        };
        match store.decide(row.id, judge, choosing).await {
            // If another caller was faster, its decision won.
            Ok(_) | Err(ChangeError::Refused(_)) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Records what the agent asks. If another part of this process, which handles its owner's deliveries, takes the
    /// interrupt at the same moment, it is read again: it is ours all the same.
    async fn acknowledge(&self, interrupt: Interrupt, evidence: Evidence) -> Result<(), KeepError> {
        let id = interrupt.id;
        let mut interrupt = interrupt;
        loop {
            match self.try_acknowledge(interrupt, &evidence).await {
                Err(KeepError::Change(ChangeError::Refused(refusal))) => {
                    interrupt = self.taken_by_us(id, refusal).await?;
                }
                done => return done,
            }
        }
    }

    async fn try_acknowledge(
        &self,
        interrupt: Interrupt,
        evidence: &Evidence,
    ) -> Result<(), KeepError> {
        let delivered = match interrupt.state {
            State::Requested => self.take(&interrupt).await?,
            State::Delivered if self.is_mine(&interrupt) => interrupt,
            State::Delivered => self.take(&interrupt).await?,
            // It was acknowledged before this process had the run: its previous owner is fenced off.
            State::Acknowledged if !self.is_mine(&interrupt) => {
                self.take(&interrupt).await?;
                return Ok(());
            }
            // The code that looks for its decision reads its state.
            State::Acknowledged
            | State::AwaitingReview
            | State::Resolved
            | State::Rerouted
            | State::Expired
            | State::Cancelled
            | State::DeadLettered => return Ok(()),
        };
        let (store, epoch) = (self.record.store(), delivered.epoch);
        store
            .acknowledge(delivered.id, epoch, evidence.clone())
            .await?;
        Ok(())
    }

    /// The interrupt as another part of this process has taken it, if that is why a change was refused.
    ///
    /// # Errors
    ///
    /// The refusal, if it has another reason.
    pub async fn taken_by_us(
        &self,
        interrupt: InterruptId,
        refusal: Refusal,
    ) -> Result<Interrupt, KeepError> {
        let is_race = matches!(refusal, Refusal::Leased { .. } | Refusal::Fenced { .. });
        let row = self.record.store().interrupt(interrupt).await?;
        match row.filter(|row| is_race && self.is_mine(row)) {
            Some(row) => Ok(row),
            None => Err(ChangeError::Refused(refusal).into()),
        }
    }
}

/// Sets the policy's terms for how long a question may wait. A request that was made before keeps the terms of that
/// time, even if the policy has changed: it is the same request.
pub async fn set_terms(record: &RunRecord, admission: &mut Admission) -> Result<(), KeepError> {
    match record.store().interrupt_of(&admission.key).await? {
        Some(first) => first.keep_terms(admission),
        None => record.kept.policy.apply(admission),
    }
    Ok(())
}

/// Ends interrupts that have waited too long, if this one may be among them.
pub async fn sweep_due(record: &RunRecord, interrupt: InterruptId) -> Result<(), KeepError> {
    let row = record.store().interrupt(interrupt).await?;
    if row.is_some_and(|row| row.state.is_live() && row.deadline.is_some()) {
        record.store().sweep(MOST_AT_ONCE).await?;
    }
    Ok(())
}

/// The digest of what people are shown of a question.
pub fn digest_of(question: &impl serde::Serialize) -> Result<Digest, KeepError> {
    Ok(Digest::of(&serde_json::to_vec(question)?))
}

/// Whether an event was refused because its id was used for something else.
pub fn is_other_content(error: &KeepError) -> bool {
    matches!(error, KeepError::Admit(AdmitError::OtherContent { .. }))
}

/// A failure of the store itself, for ports that have no words for more.
pub fn in_words(error: &KeepError) -> String {
    let mut text = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(error) = cause {
        text.push_str(": ");
        text.push_str(&error.to_string());
        cause = error.source();
    }
    text
}

/// Whether the store has the interrupt at all.
pub fn missing(interrupt: InterruptId) -> KeepError {
    KeepError::Store(StoreError::Corrupt {
        detail: format!("{interrupt} is in the journal and not among the interrupts"),
    })
}
