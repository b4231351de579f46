//! Raising a question: first the intent that names its interrupt, then the interrupt. After a crash in between any worker goes on.

use std::sync::Arc;

use interrupt_router::{InterruptId, InterruptType, NodeId, StopMode, StopSource};
use interrupts::life::{
    Actor, Admission, Choosing, ExpiryOutcome, Interrupt, Judge, Recurrence, Refusal, Scope, State,
    USUAL_ATTEMPTS, Verdict,
};
use interrupts::policy::Policy;
use interrupts::store::{
    AdmitError, ChangeError, Deciders, Intent, JournalError, PutQuestion, PutQuestionError,
    RaisedQuestion, Repeating,
};
use interrupts::{Digest, EffectId, KindName, RouteName};
use jiff::SignedDuration;
use journal::entry::InterruptIntent;
use journal::kind::INTERRUPT;
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
    /// Raises a question under a key, together with the intent that names its interrupt. What was recorded first wins,
    /// whatever a worker says later. The store binds a reroute that waits for the agent to the question.
    pub(crate) async fn raise(&self, key: &WorkKey, raise: Raise) -> Result<(), WorkError> {
        let effect = EffectId::in_run(self.run.id, &key.question());
        let intent = match self.store().effect(effect).await? {
            Some(known) => known.intent,
            None => self.intent(effect, key, &raise)?,
        };
        let (node, _kind) = &raise.row;
        if intent.node != *node {
            return Err(WorkError::OtherContent {
                key: key.clone(),
                differs: vec!["agent_id".to_owned()],
            });
        }
        let question = self.question(key, intent, &raise)?;
        let raised = match self.store().put_question(question).await {
            Ok(raised) => raised,
            // The same question was asked concurrently, perhaps in other words: those win.
            Err(
                PutQuestionError::Journal(JournalError::OtherIntent { .. })
                | PutQuestionError::Admit(AdmitError::OtherContent { .. }),
            ) => self.protocol.question(&self.run, key).await?.interrupt,
            Err(error) => return Err(error.into()),
        };
        self.put_to_people(raised).await
    }

    fn intent(&self, effect: EffectId, key: &WorkKey, raise: &Raise) -> Result<Intent, WorkError> {
        let (node, _kind) = &raise.row;
        let content = InterruptIntent {
            interrupt: InterruptId::generate(),
            request: raise.content.clone(),
            event: None,
        };
        Ok(Intent {
            effect,
            run: self.run.id,
            node: node.clone(),
            kind: KindName::new(INTERRUPT).map_err(WorkError::name("/key"))?,
            repeating: Repeating::Idempotent,
            content: serde_json::to_string(&content)?,
            place: Some(key.question()),
        })
    }

    fn question(
        &self,
        key: &WorkKey,
        intent: Intent,
        raise: &Raise,
    ) -> Result<PutQuestion, WorkError> {
        let named: InterruptIntent = serde_json::from_str(&intent.content)?;
        let content = named.request.to_string();
        let deciders = self.deciders(&content);
        let mut admission = self.admission(key, named.interrupt, content, raise)?;
        self.protocol.policy.apply(&mut admission);
        Ok(PutQuestion {
            raised: RaisedQuestion {
                admission,
                delivery: self.delivery(None),
                deciders,
            },
            epoch: self.epoch(),
            intent,
        })
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

    /// Asks again those who may decide a question that was raised before: its worker may have died since.
    pub(crate) async fn put_to_people(&self, raised: Interrupt) -> Result<(), WorkError> {
        if raised.state != State::Acknowledged {
            return Ok(());
        }
        let mut row = raised;
        // Another worker may have taken it before.
        if self.run.lease.as_ref().map(|it| &it.owner) != row.lease.as_ref().map(|it| &it.owner) {
            let delivery = self.delivery(row.lease.as_ref());
            row = self.store().deliver(row.id, delivery).await?;
        }
        let deciders = self.deciders(&row.content);
        match self.store().consult(row.id, row.epoch, deciders).await {
            Ok(_) | Err(ChangeError::Refused(Refusal::Ended { .. } | Refusal::Illegal { .. })) => {
                Ok(())
            }
            Err(error) => Err(error.into()),
        }
    }

    fn deciders(&self, content: &str) -> Deciders {
        let policy = self.protocol.policy;
        Deciders {
            rules: true,
            policy: (**policy != Policy::default()).then(|| Arc::clone(policy)),
            shown: Some(Digest::of(content.as_bytes())),
        }
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
