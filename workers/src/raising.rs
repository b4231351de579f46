//! Raising a question: first the intent, which names its interrupt, then that. Any worker goes on after a death in between.

use interrupts::life::{
    Actor, Admission, Choosing, ExpiryOutcome, Interrupt, Judge, Recurrence, Refusal, Scope, State,
    USUAL_ATTEMPTS, Verdict, WithdrawCause,
};
use interrupts::policy::{Automatic, Policy};
use interrupts::store::{
    AdmitError, Begun, ChangeError, Intent, JournalError, RaisedQuestion, Repeating,
};
use interrupts::{Digest, EffectId, IdempotencyKey, KindName, RouteName};
use jiff::SignedDuration;
use journal::entry::InterruptIntent;
use journal::kind::INTERRUPT;
use routing_core::{DecisionId, InterruptId, InterruptType, NodeId, StopMode, StopSource};
use serde_json::Value;

use crate::error::{LONGEST_REASON, WorkError};
use crate::key::WorkKey;
use crate::owned::Owned;

/// What admits a question, before it has an id.
pub(crate) struct Raise {
    pub(crate) row: (NodeId, KindName),
    pub(crate) ways: (RouteName, Vec<RouteName>),
    pub(crate) reason: String,
    pub(crate) content: Value,
    pub(crate) source: StopSource,
    pub(crate) by: Actor,
    pub(crate) allowed: Vec<Verdict>,
    pub(crate) patience: Option<SignedDuration>,
}

impl Owned<'_> {
    /// Raises a question under a key: first the intent, which names its interrupt, then that. A reroute that waits for
    /// the agent is bound to it by the store.
    pub(crate) async fn raise(&self, key: &WorkKey, raise: Raise) -> Result<(), WorkError> {
        let (node, _kind) = &raise.row;
        let intent = InterruptIntent {
            interrupt: InterruptId::generate(),
            request: raise.content.clone(),
            event: None,
        };
        let intent = self.intended(key, node, intent).await?;
        let raised = match self.store().interrupt(intent.interrupt).await? {
            Some(raised) => raised,
            None => {
                let content = intent.request.to_string();
                let admission = self.admission(key, intent.interrupt, content, &raise)?;
                self.admitted(admission).await?
            }
        };
        self.put_to_people(raised).await
    }

    /// The intent to raise a question: the one that was recorded first, whatever a worker says later.
    async fn intended(
        &self,
        key: &WorkKey,
        node: &NodeId,
        intent: InterruptIntent,
    ) -> Result<InterruptIntent, WorkError> {
        let place = key.question();
        let begun = self.store().begin(
            self.epoch(),
            Intent {
                effect: EffectId::in_run(self.run.id, &place),
                run: self.run.id,
                node: node.clone(),
                kind: KindName::new(INTERRUPT).map_err(WorkError::name("/key"))?,
                repeating: Repeating::Idempotent,
                content: serde_json::to_string(&intent)?,
                place: Some(place),
            },
        );
        let entry = match begun.await {
            Ok(Begun::New(_)) => return Ok(intent),
            // A worker died before it was raised, or the same was asked at the same moment.
            Ok(Begun::Known(entry)) => Some(entry),
            Err(JournalError::OtherIntent { effect }) => self.store().effect(effect).await?,
            Err(error) => return Err(error.into()),
        };
        let entry = entry.ok_or_else(|| WorkError::UnknownQuestion { key: key.clone() })?;
        if entry.intent.node != *node {
            return Err(WorkError::OtherQuestion {
                key: key.clone(),
                node: entry.intent.node,
            });
        }
        Ok(serde_json::from_str(&entry.intent.content)?)
    }

    async fn admitted(&self, mut admission: Admission) -> Result<Interrupt, WorkError> {
        self.set_terms(&mut admission).await?;
        let question = RaisedQuestion {
            admission,
            delivery: self.delivery(None),
        };
        match self.store().raise(question).await {
            Ok(admitted) => Ok(admitted.into_interrupt()),
            // It was asked at the same moment with other words: those stand.
            Err(AdmitError::OtherContent { interrupt, key }) => {
                let first = self.store().interrupt(interrupt).await?;
                first.ok_or_else(|| AdmitError::OtherContent { interrupt, key }.into())
            }
            Err(error) => Err(error.into()),
        }
    }

    fn admission(
        &self,
        key: &WorkKey,
        id: InterruptId,
        content: String,
        raise: &Raise,
    ) -> Result<Admission, WorkError> {
        let (origin, routes) = raise.ways.clone();
        let end = raise.reason.floor_char_boundary(LONGEST_REASON);
        Ok(Admission {
            id,
            run: self.run.id,
            node: raise.row.0.clone(),
            kind: raise.row.1.clone(),
            origin,
            routes,
            interrupt_type: InterruptType::HumanReview,
            source: raise.source,
            requested_by: raise.by.clone(),
            mode: StopMode::Graceful,
            scope: Scope::Agent,
            reason: raise.reason.get(..end).unwrap_or_default().to_owned(),
            content,
            key: self.key(key.as_str())?,
            allowed: raise.allowed.clone(),
            patience: raise.patience,
            on_expiry: ExpiryOutcome::Reject,
            most_attempts: USUAL_ATTEMPTS,
            recurrence: Recurrence::Verbatim,
            reroute: None,
        })
    }

    /// How long it may wait: as it was said first, else as the policy says.
    async fn set_terms(&self, admission: &mut Admission) -> Result<(), WorkError> {
        match self.store().interrupt_of(&admission.key).await? {
            Some(first) => first.keep_terms(admission),
            None => self.protocol.policy.apply(admission),
        }
        Ok(())
    }

    /// An event whose reroute has gone to another question asks for nothing any more.
    async fn supersede(&self, raised: &Interrupt) -> Result<(), WorkError> {
        let Some(bound) = &raised.bound else {
            return Ok(());
        };
        let key = IdempotencyKey::new(bound.event.as_str());
        let key = key.map_err(WorkError::name("/key"))?;
        let Some(asked) = self.store().interrupt_of(&key).await? else {
            return Ok(());
        };
        let by = asked.requested_by.clone();
        let cause = WithdrawCause::Superseded { by: raised.id };
        match self.store().withdraw(asked.id, by, cause).await {
            Ok(_) | Err(ChangeError::Refused(_)) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// What follows once a question is raised: the event whose reroute it has asks for nothing any more, and a standing
    /// rule or the policy decides it; else a person is asked.
    pub(crate) async fn put_to_people(&self, raised: Interrupt) -> Result<(), WorkError> {
        if raised.state != State::Acknowledged {
            return Ok(());
        }
        self.supersede(&raised).await?;
        let mut row = raised;
        // It may have been taken by a worker before this one.
        if self.run.lease.as_ref().map(|it| &it.owner) != row.lease.as_ref().map(|it| &it.owner) {
            let delivery = self.delivery(row.lease.as_ref());
            row = self.store().deliver(row.id, delivery).await?;
        }
        match self.store().apply_rule(row.id, row.epoch).await {
            Ok(None) => {}
            Ok(Some(_)) | Err(ChangeError::Refused(_)) => return Ok(()),
            Err(error) => return Err(error.into()),
        }
        if self.decided_by_policy(&row).await? {
            return Ok(());
        }
        let shown = Digest::of(row.content.as_bytes());
        match self.store().require_review(row.id, row.epoch, shown).await {
            Ok(_) | Err(ChangeError::Refused(Refusal::Ended { .. } | Refusal::Illegal { .. })) => {
                Ok(())
            }
            Err(error) => Err(error.into()),
        }
    }

    async fn decided_by_policy(&self, row: &Interrupt) -> Result<bool, WorkError> {
        let policy = self.protocol.policy;
        if *policy == Policy::default() {
            return Ok(false);
        }
        // An interrupt has one decision at most, so its own bits name it.
        let Automatic::Decide { choosing, after } =
            policy.decide(row, DecisionId::from_uuid(row.id.uuid()))
        else {
            return Ok(false);
        };
        if !after.is_zero() {
            return Ok(false);
        }
        self.decide(row, choosing).await
    }

    pub(crate) async fn decide(
        &self,
        row: &Interrupt,
        choosing: Choosing,
    ) -> Result<bool, WorkError> {
        let judge = Judge::Policy { epoch: row.epoch };
        match self.store().decide(row.id, judge, choosing).await {
            Ok(_) => Ok(true),
            Err(ChangeError::Refused(_)) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }
}
