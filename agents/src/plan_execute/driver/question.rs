//! The plan's questions in the store: raised, shown to people, withdrawn, decided.

use interrupt_router::review::{Question, QuestionKind};
use interrupt_router::{InterruptDetails, InterruptId, InterruptType, StopSource};
use interrupts::life::{Admission, Evidence, Interrupt, Recurrence, State, Verdict, WithdrawCause};
use serde_json::json;

use super::Driver;
use super::nodes::role_of;
use crate::workflow::failure::FlowError;
use engine::durable::stored_interrupts::{NewQuestion, digest_of, set_terms};
use interrupts::store::Deciders;
use journal::error::KeepError;
use planning::{Activity, Cause, Held, OpenQuestion, PLAN_EXECUTE, Phase, PlanStep};

/// The allowed decisions about an agent's question: answers, and none that changes the plan.
const OF_AGENT: [Verdict; 5] = [
    Verdict::Approve,
    Verdict::Respond,
    Verdict::Reject,
    Verdict::Ignore,
    Verdict::Cancel,
];

/// The allowed decisions about the plan's own question: continue, change the plan, or cancel it.
const OF_PLAN: [Verdict; 4] = [
    Verdict::Approve,
    Verdict::Respond,
    Verdict::ModifyPlan,
    Verdict::Cancel,
];

/// A question, and who asks it.
pub(super) struct PlanQuestion {
    kind: &'static str,
    details: InterruptDetails,
    source: StopSource,
    allowed: &'static [Verdict],
}

fn of_agent(activity: &Activity, question: &InterruptDetails) -> PlanQuestion {
    // An agent of a plan can only ask; a supervisor's model reviews nothing here.
    let details = InterruptDetails {
        r#type: InterruptType::HumanReview,
        ..question.clone()
    };
    PlanQuestion {
        kind: role_of(activity).name(),
        details,
        source: StopSource::Programmatic,
        allowed: &OF_AGENT,
    }
}

/// How a question names steps that a model would leave out.
pub(super) fn open_steps(steps: &[PlanStep]) -> String {
    let names: Vec<String> = steps
        .iter()
        .map(|step| format!("“{}”", step.task))
        .collect();
    let them = match names.as_slice() {
        [_] => "a step that was applied is",
        _ => "steps that were applied are",
    };
    format!(
        "The model would end or change the plan, but {them} still open: {}",
        names.join(", ")
    )
}

fn of_open_steps(steps: &[PlanStep]) -> PlanQuestion {
    PlanQuestion {
        kind: PLAN_EXECUTE,
        details: InterruptDetails {
            context_for_decision:
                "Approve to carry them out. To drop them, change the plan. Words let the model \
                                   change it."
                    .to_owned(),
            ..InterruptDetails::new(InterruptType::HumanReview, open_steps(steps))
        },
        source: StopSource::System,
        allowed: &OF_PLAN,
    }
}

fn of_failure(error: &str, attempts: u32) -> PlanQuestion {
    let tries = match attempts {
        1 => "1 try".to_owned(),
        more => format!("{more} tries"),
    };
    PlanQuestion {
        kind: PLAN_EXECUTE,
        details: InterruptDetails {
            context_for_decision: "An answer without words tries again; words change the plan."
                .to_owned(),
            ..InterruptDetails::new(
                InterruptType::HumanReview,
                format!("The plan cannot go on, after {tries}: {error}"),
            )
        },
        source: StopSource::System,
        allowed: &OF_PLAN,
    }
}

impl Driver {
    /// The question that the workflow's state asks.
    pub(super) fn asked_now(&self) -> Option<PlanQuestion> {
        match self.snapshot.state.phase() {
            Phase::Asking { activity, question } => Some(of_agent(activity, question)),
            Phase::Held(held) => {
                let Held {
                    cause,
                    then,
                    question,
                    ..
                } = &**held;
                match (cause, question) {
                    (Cause::SystemError { error, attempts }, _) => {
                        Some(of_failure(error, *attempts))
                    }
                    (Cause::OpenSteps { steps }, _) => Some(of_open_steps(steps)),
                    (Cause::UserEscape { .. }, question) => {
                        question.as_ref().map(|question| of_agent(then, question))
                    }
                }
            }
            Phase::Created | Phase::Working { .. } | Phase::BackingOff { .. } | Phase::Ended(_) => {
                None
            }
        }
    }

    /// Gives a new question its interrupt's id, and ends one that is no longer wanted. Returns whether one is new.
    pub(super) async fn settle_question(&mut self) -> Result<bool, FlowError> {
        if !self.snapshot.wants_question() {
            self.withdraw_open().await?;
            return Ok(false);
        }
        let is_new = self.snapshot.question.is_none();
        if is_new {
            let node = match self.snapshot.state.phase() {
                Phase::Asking { activity, .. } => self.root.child(role_of(activity).segment())?,
                Phase::Held(held) if held.cause.is_question() => self.root.clone(),
                Phase::Held(held) => self.root.child(role_of(&held.then).segment())?,
                Phase::Created
                | Phase::Working { .. }
                | Phase::BackingOff { .. }
                | Phase::Ended(_) => self.root.clone(),
            };
            self.snapshot.question = Some(OpenQuestion {
                interrupt: InterruptId::generate(),
                node,
                turn: self.snapshot.asked,
            });
        }
        Ok(is_new)
    }

    /// Withdraws the open question, if it may still be answered.
    pub(super) async fn withdraw_open(&mut self) -> Result<(), KeepError> {
        let Some(open) = self.snapshot.question.take() else {
            return Ok(());
        };
        match self
            .journal
            .record
            .store()
            .interrupt(open.interrupt)
            .await?
        {
            Some(row) if row.state.is_live() => {
                self.live
                    .stored_interrupts
                    .withdraw(row.id, WithdrawCause::Withdrawn)
                    .await
            }
            Some(_) | None => Ok(()),
        }
    }

    /// Shows people the open question, if they have not seen it yet.
    pub(super) async fn raise_open(&self) -> Result<Option<Question>, KeepError> {
        let (Some(open), Some(asked)) = (&self.snapshot.question, self.asked_now()) else {
            return Ok(None);
        };
        let question = self.question(open, &asked)?;
        let store = self.journal.record.store();
        let row = match store.interrupt(open.interrupt).await? {
            Some(row) => row,
            None => {
                let mut admission = self.admission(open, &asked)?;
                set_terms(&self.journal.record, &mut admission).await?;
                if asked.source == StopSource::System {
                    // It corresponds to another workflow's pause by the system, and no pause expires: no person would
                    // be in time for a provider that is down overnight.
                    admission.patience = None;
                }
                let deciders = self.deciders(&question)?;
                self.live.stored_interrupts.put(admission, deciders).await?
            }
        };
        let row = self.taken_again(row).await?;
        let deciders = self.deciders(&question)?;
        self.live.stored_interrupts.consult(row, deciders).await?;
        Ok(Some(question))
    }

    /// Who may decide the question. No standing rule is about failures, and if a person's interrupt holds the plan, only a
    /// person decides.
    fn deciders(&self, question: &Question) -> Result<Deciders, KeepError> {
        let (rules, policy) = match self.snapshot.state.phase() {
            Phase::Asking { .. } => (true, true),
            Phase::Held(held) => (false, held.cause.is_question()),
            Phase::Created | Phase::Working { .. } | Phase::BackingOff { .. } | Phase::Ended(_) => {
                (false, false)
            }
        };
        let usual = self.live.stored_interrupts.deciders();
        Ok(Deciders {
            rules,
            policy: usual.policy.filter(|_policy| policy),
            shown: Some(digest_of(question)?),
        })
    }

    /// The question, acknowledged with its agent's words: one that was given up and is tried again has lost them.
    async fn taken_again(&self, row: Interrupt) -> Result<Interrupt, KeepError> {
        let record = &self.journal.record;
        let taken = match row.state {
            State::Requested => {
                let holder = row.lease.as_ref().map(|lease| lease.owner.clone());
                record
                    .store()
                    .deliver(row.id, record.delivery(holder))
                    .await?
            }
            State::Delivered
            | State::Acknowledged
            | State::AwaitingReview
            | State::Resolved
            | State::Rerouted
            | State::Expired
            | State::Cancelled
            | State::DeadLettered => row,
        };
        if taken.state != State::Delivered {
            return Ok(taken);
        }
        let evidence = Evidence::Request {
            content: taken.content.clone(),
            form: None,
        };
        let store = record.store();
        Ok(store.acknowledge(taken.id, taken.epoch, evidence).await?)
    }

    fn question(&self, open: &OpenQuestion, asked: &PlanQuestion) -> Result<Question, KeepError> {
        Ok(Question {
            interrupt: open.interrupt,
            run: self.run,
            node: open.node.clone(),
            agent_type: asked.kind,
            kind: QuestionKind::HumanReview,
            details: asked.details.clone(),
            payload: serde_json::to_value(&asked.details)?,
            target: asked.kind,
            target_field: "",
            routes: vec![asked.kind],
            request_schema: json!({}),
            problem: None,
        })
    }

    fn admission(&self, open: &OpenQuestion, asked: &PlanQuestion) -> Result<Admission, KeepError> {
        self.live.stored_interrupts.admission(NewQuestion {
            interrupt: open.interrupt,
            node: &open.node,
            kind: asked.kind,
            origin: asked.kind,
            interrupt_type: asked.details.r#type,
            source: asked.source,
            reason: &asked.details.reason,
            content: serde_json::to_string(&asked.details)?,
            key: &format!("{}#{}/{}", open.node, open.turn, open.interrupt),
            allowed: asked.allowed,
            recurrence: Recurrence::Verbatim,
        })
    }
}
