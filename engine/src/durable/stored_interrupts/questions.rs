//! A question of a run to people: put into the store, shown, answered here or in another process, withdrawn. The first
//! decision wins.

use std::sync::Arc;

use interrupt_router::review::{Answer, Answerer, Question, Reviewer};
use interrupt_router::{
    DecisionId, InterruptId, InterruptType, NodeId, Outcome, StopMode, StopReason, StopScope,
    StopSource,
};
use interrupts::life::{
    Actor, Admission, Choosing, ExpiryOutcome, Interrupt, Judge, Recurrence, Refusal, Role, Scope,
    State, USUAL_ATTEMPTS, Verdict, WithdrawCause,
};
use interrupts::policy::Policy;
use interrupts::store::{ChangeError, Deciders, Intent, PutQuestion, RaisedQuestion};
use interrupts::{ActorName, Digest, KindName, RouteName};

use super::{MOST_AT_ONCE, StoredInterrupts, machinery, missing, shortened, sweep_due};
use crate::durable::decisions::name_of;
use journal::error::KeepError;

/// A question that is new to the store.
pub struct NewQuestion<'a> {
    /// Its interrupt.
    pub interrupt: InterruptId,
    /// Who asks.
    pub node: &'a NodeId,
    /// The name of that node's kind.
    pub kind: &'a str,
    /// Where it was asked.
    pub origin: &'a str,
    /// Of which type it is.
    pub interrupt_type: InterruptType,
    /// Its source: the run's machinery asks in the name of the system.
    pub source: StopSource,
    /// Why it is asked.
    pub reason: &'a str,
    /// What is asked, as JSON.
    pub content: String,
    /// Names it within its run, and is the same whenever it is asked again.
    pub key: &'a str,
    /// What may be decided.
    pub allowed: &'a [Verdict],
    /// Which later questions ask the same.
    pub recurrence: Recurrence,
}

/// What one attempt to get an answer came to.
pub enum Heard {
    /// The question has ended, with a decision or without one.
    Ended(Box<Interrupt>),
    /// It was answered here, and that is not recorded yet.
    Here(Answer),
    /// The agent is to stop; the question stays open.
    Stopped(StopReason),
    /// There is no reviewer here; the question stays open.
    NoReviewer,
}

impl StoredInterrupts {
    /// The question as it is admitted. Its answer may go to its own route alone; add other routes if there are any.
    pub fn admission(&self, new: NewQuestion<'_>) -> Result<Admission, KeepError> {
        let requested_by = match new.source {
            StopSource::System => machinery()?,
            StopSource::User | StopSource::Programmatic => Actor {
                name: ActorName::new(new.node.as_str())?,
                role: Role::Requester,
            },
        };
        let origin = RouteName::new(new.origin)?;
        Ok(Admission {
            id: new.interrupt,
            run: self.record.run,
            node: new.node.clone(),
            kind: KindName::new(new.kind)?,
            origin: origin.clone(),
            routes: vec![origin],
            interrupt_type: new.interrupt_type,
            source: new.source,
            requested_by,
            mode: StopMode::Graceful,
            scope: Scope::Agent,
            reason: shortened(new.reason),
            content: new.content,
            key: self.record.key(new.key)?,
            allowed: new.allowed.to_vec(),
            patience: None,
            on_expiry: ExpiryOutcome::Reject,
            most_attempts: USUAL_ATTEMPTS,
            recurrence: new.recurrence,
            reroute: None,
        })
    }

    /// Those who decide before anyone is asked: a standing rule, then the policy.
    pub fn deciders(&self) -> Deciders {
        let policy = &self.record.kept.policy;
        Deciders {
            rules: true,
            policy: (**policy != Policy::default()).then(|| Arc::clone(policy)),
            shown: None,
        }
    }

    /// Puts a question into the store, where it is taken for its run at once, and asks those who may decide it.
    pub async fn put(
        &self,
        admission: Admission,
        deciders: Deciders,
    ) -> Result<Interrupt, KeepError> {
        let raised = self.raised(admission, deciders);
        Ok(self.record.store().raise(raised).await?.into_interrupt())
    }

    /// The same, with the intent to ask.
    pub async fn put_at(
        &self,
        intent: Intent,
        admission: Admission,
        deciders: Deciders,
    ) -> Result<Interrupt, KeepError> {
        let question = PutQuestion {
            raised: self.raised(admission, deciders),
            epoch: self.record.epoch()?,
            intent,
        };
        Ok(self.record.store().put_question(question).await?)
    }

    fn raised(&self, admission: Admission, deciders: Deciders) -> RaisedQuestion {
        RaisedQuestion {
            admission,
            delivery: self.record.delivery(None),
            deciders,
        }
    }

    /// An interrupt that is there.
    pub async fn row(&self, id: InterruptId) -> Result<Interrupt, KeepError> {
        let row = self.record.store().interrupt(id).await?;
        row.ok_or_else(|| missing(id))
    }

    /// Asks those who may decide an acknowledged question, and returns its current state.
    pub async fn consult(
        &self,
        mut row: Interrupt,
        deciders: Deciders,
    ) -> Result<Interrupt, KeepError> {
        let (id, store) = (row.id, self.record.store());
        while row.state == State::Acknowledged {
            row = match store.consult(id, row.epoch, deciders.clone()).await {
                // Neither a rule nor the policy decides it, and people are not asked yet.
                Ok(row) if deciders.shown.is_none() => return Ok(row),
                Ok(row) => row,
                Err(ChangeError::Refused(refusal)) => self.taken_by_us(id, refusal).await?,
                Err(error) => return Err(error.into()),
            };
        }
        Ok(row)
    }

    /// Waits for an answer, from the reviewer here or from another process. A stop goes before any answer.
    pub async fn hear(
        &self,
        reviewer: &dyn Reviewer,
        question: &Question,
        scope: &StopScope,
    ) -> Result<Heard, KeepError> {
        let id = question.interrupt;
        let said = tokio::select! {
            biased;
            reason = scope.stopping() => return Ok(Heard::Stopped(reason)),
            row = self.ended(id) => return Ok(Heard::Ended(Box::new(row?))),
            said = reviewer.answer(question, scope) => said,
        };
        Ok(match said {
            Ok(Outcome::Completed(answer)) => Heard::Here(answer),
            Ok(Outcome::Interrupted { reason, .. }) => Heard::Stopped(reason),
            Err(error) => {
                // The reviewer may have left because another process has just recorded an answer.
                let row = self.row(id).await?;
                if !row.state.is_live() {
                    return Ok(Heard::Ended(Box::new(row)));
                }
                tracing::info!(%error, interrupt = %id, "a question waits for an answer");
                scope.reason().map_or(Heard::NoReviewer, Heard::Stopped)
            }
        })
    }

    /// Waits until the question has ended, in any process, or its time is over.
    async fn ended(&self, id: InterruptId) -> Result<Interrupt, KeepError> {
        loop {
            sweep_due(&self.record, id).await?;
            let row = self.row(id).await?;
            if !row.state.is_live() {
                return Ok(row);
            }
            self.news().await;
        }
    }

    /// Waits until something may have changed.
    pub async fn news(&self) {
        let kept = &self.record.kept;
        tokio::select! {
            () = kept.notifier.heard() => {}
            () = tokio::time::sleep(kept.poll) => {}
        }
    }

    /// Records an answer that was given here; if another one was faster, that one wins.
    pub async fn decide(
        &self,
        id: InterruptId,
        verdict: Verdict,
        answer: &Answer,
        answerer: &Answerer,
    ) -> Result<Interrupt, KeepError> {
        let store = self.record.store();
        let choosing = Choosing {
            id: DecisionId::generate(),
            verdict,
            target: None,
            content: Some(serde_json::to_string(answer)?),
        };
        loop {
            let row = self.row(id).await?;
            if !row.state.is_live() {
                return Ok(row);
            }
            let judge = Judge::Person {
                actor: Actor {
                    name: name_of(Some(answerer))?,
                    role: Role::Reviewer,
                },
                version: row.version,
                shown: row.review.map_or(Digest::ZERO, |review| review.shown),
            };
            match store.decide(id, judge, choosing.clone()).await {
                Ok(_)
                | Err(ChangeError::Refused(Refusal::Ended { .. } | Refusal::StaleVersion { .. })) =>
                    {}
                // Another reviewer has claimed it, or a pause goes first: wait for that.
                Err(ChangeError::Refused(Refusal::Claimed { .. } | Refusal::Held { .. })) => {
                    self.news().await;
                }
                Err(ChangeError::Refused(Refusal::DeadlinePassed { .. })) => {
                    store.sweep(MOST_AT_ONCE).await?;
                }
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Ends an interrupt that is not needed any more, unless it has ended already.
    pub async fn withdraw(&self, id: InterruptId, cause: WithdrawCause) -> Result<(), KeepError> {
        let withdrawn = self.record.store().withdraw(id, machinery()?, cause);
        match withdrawn.await {
            Ok(_) | Err(ChangeError::Refused(_)) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
}
