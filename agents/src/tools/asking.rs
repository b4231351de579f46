//! Asking people about tools: through the store, so that whoever answers first, in whatever process, has answered.

use std::sync::Arc;

use interrupts::life::{
    Actor, Admission, Choosing, Decider, ExpiryOutcome, Interrupt, Judge, Refusal, Role, Scope,
    State, USUAL_ATTEMPTS, Verdict, WithdrawCause,
};
use interrupts::store::{ChangeError, Filter, Page, RaisedQuestion};
use interrupts::{ActorName, Digest, KindName, RouteName};
use jiff::Timestamp;
use routing_core::handler::{DecidedBy, FilledBy, InterruptMoment, InterruptObserver};
use routing_core::review::{Answer, Answerer, Question, QuestionKind, Reviewer};
use routing_core::{
    AgentType as _, DecisionId, InterruptId, InterruptType, NodeId, Outcome, StopMode, StopReason,
    StopScope, StopSource,
};

use super::matter::{ToolMatter, ToolQuestionKind};
use crate::agent_kind::AgentKind;
use crate::durable::decisions::{answer, name_of};
use crate::durable::desk::{Desk, machinery, missing, shortened};
use crate::durable::error::KeepError;
use crate::durable::record::RunRecord;
use crate::run::ledger::Ledger;
use crate::run::recorder::Recorder;
use crate::run::{InterruptRecord, InterruptResult, RunEvent};

/// How often somebody who answers unclearly is asked again.
const MOST_UNCLEAR: u32 = 3;

/// How many questions of a node are looked at together.
const PAGE: u32 = 100;

/// How many interrupts a look at the deadlines ends at most.
const MOST_AT_ONCE: u32 = 100;

/// Asks people about the tools of a run.
pub(crate) struct ToolDesk {
    desk: Arc<Desk>,
    reviewer: Arc<dyn Reviewer>,
    recorder: Arc<Recorder>,
    /// Keeps the interrupts of the run, where its workflow does.
    ledger: Option<Arc<Ledger>>,
}

/// Who asks, and where.
#[derive(Debug, Clone)]
pub(super) struct Asker {
    pub(super) node: NodeId,
    /// The name of its type on the wire.
    pub(super) agent_type: &'static str,
    /// When the answer was recorded that the question follows from.
    pub(super) at: Timestamp,
}

/// What came of asking.
#[derive(Debug)]
pub(super) enum Heard {
    /// The question has ended, with a decision or without one.
    Ended(Box<Interrupt>),
    /// The agent is to stop; the question stays open.
    Stopped(StopReason),
    /// Nobody is there to answer; the question stays open.
    Nobody(Box<Question>),
}

/// What one attempt to get an answer came to.
enum Said {
    Ended(Box<Interrupt>),
    Here(Answer),
    Stopped(StopReason),
    Nobody,
}

impl ToolDesk {
    pub(crate) fn new(
        record: Arc<RunRecord>,
        reviewer: Arc<dyn Reviewer>,
        recorder: Arc<Recorder>,
        ledger: Option<Arc<Ledger>>,
    ) -> Self {
        Self {
            desk: Arc::new(Desk::new(record)),
            reviewer,
            recorder,
            ledger,
        }
    }

    /// Asks, and waits until somebody has decided, nobody can, or the agent is to stop. The same question, at the
    /// same place of the run, is asked once: a decision that was made while nobody waited for it counts.
    pub(super) async fn ask(
        &self,
        asker: &Asker,
        name: &str,
        matter: &ToolMatter,
        scope: &StopScope,
    ) -> Result<Heard, KeepError> {
        let record = &self.desk.record;
        let place = format!("{}/{name}", matter.tool_call.place);
        let id = record.interrupt_at(&place, asker.at);
        self.withdraw_others(asker, matter, id).await?;
        let mut question = question(record, asker, matter, id);
        let row = self.raise(id, &place, asker, matter, &question).await?;
        self.told_raised(asker, matter, id)?;
        if !row.state.is_live() {
            return self.ended(asker, row);
        }
        for _unclear in 0..MOST_UNCLEAR {
            self.told(id, InterruptMoment::Asked(&question));
            match self.hear(id, &question, scope).await? {
                Said::Ended(row) => return self.ended(asker, *row),
                Said::Stopped(reason) => return Ok(Heard::Stopped(reason)),
                Said::Nobody => return Ok(Heard::Nobody(Box::new(question))),
                Said::Here(answer) => match clear(matter, &answer, &question) {
                    Ok(verdict) => {
                        let row = self.decide(id, verdict, &answer).await?;
                        return self.ended(asker, row);
                    }
                    Err(problem) => {
                        self.told(id, InterruptMoment::Refused { problem: &problem });
                        question.problem = Some(problem);
                    }
                },
            }
        }
        Ok(Heard::Nobody(Box::new(question)))
    }

    async fn hear(
        &self,
        id: InterruptId,
        question: &Question,
        scope: &StopScope,
    ) -> Result<Said, KeepError> {
        let said = tokio::select! {
            biased; // Nothing starts after a stop, whatever is answered with it.
            reason = scope.stopping() => return Ok(Said::Stopped(reason)),
            row = self.ended_elsewhere(id) => return Ok(Said::Ended(Box::new(row?))),
            said = self.reviewer.answer(question, scope) => said,
        };
        Ok(match said {
            Ok(Outcome::Completed(answer)) => Said::Here(answer),
            Ok(Outcome::Interrupted { reason, .. }) => Said::Stopped(reason),
            Err(error) => {
                tracing::info!(%error, interrupt = %id, "a tool waits for an answer");
                Said::Nobody
            }
        })
    }

    /// An older question about the same call asks about something that is not so any more, and an answer to it is void.
    async fn withdraw_others(
        &self,
        asker: &Asker,
        matter: &ToolMatter,
        id: InterruptId,
    ) -> Result<(), KeepError> {
        let filter = Filter {
            run: Some(self.desk.record.run),
            node: Some(asker.node.clone()),
            states: Vec::new(),
        };
        let store = self.desk.record.store();
        let page = Page {
            after: 0,
            limit: PAGE,
        };
        for (_, other) in store.interrupts(&filter, page).await? {
            let about = ToolMatter::of(&other.content).map(|it| it.tool_call);
            let is_of_call = about.is_some_and(|about| {
                let both_ask_for_input = about.asks == ToolQuestionKind::Input
                    && matter.tool_call.asks == ToolQuestionKind::Input;
                about.place == matter.tool_call.place && !both_ask_for_input
            });
            if !is_of_call || other.id == id {
                continue;
            }
            if !other.state.is_live() {
                // Nothing follows from what was decided about it.
                self.carried_out(&other).await?;
                continue;
            }
            let cause = WithdrawCause::Superseded { by: id };
            match store.withdraw(other.id, machinery()?, cause).await {
                Ok(_) | Err(ChangeError::Refused(_)) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    /// The question in the store, shown to people: as it is there, or as it is put there now.
    async fn raise(
        &self,
        id: InterruptId,
        place: &str,
        asker: &Asker,
        matter: &ToolMatter,
        question: &Question,
    ) -> Result<Interrupt, KeepError> {
        let store = self.desk.record.store();
        let mut row = match store.interrupt(id).await? {
            Some(row) => row,
            None => {
                let raised = RaisedQuestion {
                    admission: self.admission(id, place, asker, matter)?,
                    delivery: self.desk.record.delivery(None),
                };
                store.raise(raised).await?.into_interrupt()
            }
        };
        let shown = Digest::of(&serde_json::to_vec(question)?);
        while row.state == State::Acknowledged {
            row = match store.require_review(id, row.epoch, shown).await {
                Ok(row) => row,
                // It was decided or withdrawn meanwhile.
                Err(ChangeError::Refused(Refusal::Ended { .. } | Refusal::Illegal { .. })) => {
                    self.row(id).await?
                }
                Err(ChangeError::Refused(refusal)) => self.desk.taken_by_us(id, refusal).await?,
                Err(error) => return Err(error.into()),
            };
        }
        Ok(row)
    }

    fn admission(
        &self,
        id: InterruptId,
        place: &str,
        asker: &Asker,
        matter: &ToolMatter,
    ) -> Result<Admission, KeepError> {
        let origin = RouteName::new(origin_of(asker.agent_type))?;
        let mut admission = Admission {
            id,
            run: self.desk.record.run,
            node: asker.node.clone(),
            kind: KindName::new(asker.agent_type)?,
            origin: origin.clone(),
            routes: vec![origin],
            interrupt_type: InterruptType::HumanReview,
            source: StopSource::Programmatic,
            requested_by: Actor {
                name: ActorName::new(asker.node.as_str())?,
                role: Role::Requester,
            },
            mode: StopMode::Graceful,
            scope: Scope::Agent,
            reason: shortened(&matter.reason),
            content: serde_json::to_string(matter)?,
            key: self.desk.record.key(place)?,
            allowed: matter.allowed().to_vec(),
            patience: None,
            on_expiry: ExpiryOutcome::Reject,
            most_attempts: USUAL_ATTEMPTS,
            reroute: None,
        };
        // How long it waits is the policy's to say; whether a call may be made never is: that has rules of its own.
        self.desk.record.kept.policy.apply(&mut admission);
        Ok(admission)
    }

    /// Ends the question, where somebody may still answer it.
    pub(super) async fn withdraw(
        &self,
        asker: &Asker,
        name: &str,
        matter: &ToolMatter,
    ) -> Result<(), KeepError> {
        let record = &self.desk.record;
        let place = format!("{}/{name}", matter.tool_call.place);
        let row = self.row(record.interrupt_at(&place, asker.at)).await?;
        let by = machinery()?;
        let withdrawn = record
            .store()
            .withdraw(row.id, by, WithdrawCause::Withdrawn);
        match withdrawn.await {
            Ok(_) | Err(ChangeError::Refused(_)) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    async fn row(&self, id: InterruptId) -> Result<Interrupt, KeepError> {
        let row = self.desk.record.store().interrupt(id).await?;
        row.ok_or_else(|| missing(id))
    }

    /// Waits until somebody, in whatever process, has ended the question.
    async fn ended_elsewhere(&self, id: InterruptId) -> Result<Interrupt, KeepError> {
        loop {
            let row = self.row(id).await?;
            if !row.state.is_live() {
                return Ok(row);
            }
            self.look_again().await;
            if row.deadline.is_some() {
                self.desk.record.store().sweep(MOST_AT_ONCE).await?;
            }
        }
    }

    /// Waits until something may have changed.
    async fn look_again(&self) {
        let kept = &self.desk.record.kept;
        tokio::select! {
            () = kept.bell.heard() => {}
            () = tokio::time::sleep(kept.poll) => {}
        }
    }

    /// Records an answer that was given here; another one may have been faster, and stands then.
    async fn decide(
        &self,
        id: InterruptId,
        verdict: Verdict,
        answer: &Answer,
    ) -> Result<Interrupt, KeepError> {
        let store = self.desk.record.store();
        let answerer: Answerer = self.reviewer.answerer(id);
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
                    name: name_of(Some(&answerer))?,
                    role: Role::Reviewer,
                },
                version: row.version,
                shown: row.review.map_or(Digest::ZERO, |review| review.shown),
            };
            match store.decide(id, judge, choosing.clone()).await {
                Ok(_)
                | Err(ChangeError::Refused(Refusal::Ended { .. } | Refusal::StaleVersion { .. })) =>
                    {}
                // Somebody else has it in hand, or goes first: what he does is waited for.
                Err(ChangeError::Refused(Refusal::Claimed { .. } | Refusal::Held { .. })) => {
                    self.look_again().await;
                }
                Err(ChangeError::Refused(Refusal::DeadlinePassed { .. })) => {
                    store.sweep(MOST_AT_ONCE).await?;
                }
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// The question has ended: its dispatch is done, for the call follows at once, and whoever watches is told.
    fn ended(&self, asker: &Asker, row: Interrupt) -> Result<Heard, KeepError> {
        let unreadable = |source| KeepError::Unreadable {
            place: format!("the decision of {}", row.id),
            source,
        };
        let Some(decision) = &row.decision else {
            return Ok(Heard::Ended(Box::new(row)));
        };
        let (answer, _confidence) = answer(decision.content.as_deref()).map_err(unreadable)?;
        let decided_by = match &decision.by {
            Decider::Person { .. } | Decider::Rule { .. } => DecidedBy::Person,
            Decider::Policy => DecidedBy::Policy,
            Decider::Deadline => DecidedBy::Deadline,
        };
        self.told(row.id, InterruptMoment::Answered(&answer));
        let origin = origin_of(asker.agent_type);
        if let Some(ledger) = &self.ledger {
            let target = origin.to_owned();
            let end = InterruptResult::Routed {
                target,
                decided_by,
                filled_by: FilledBy::Unchanged,
                answer,
                reroute: None,
            };
            ledger.ended(row.id, end);
        }
        self.recorder.record(RunEvent::InterruptResolved {
            interrupt: row.id,
            origin: origin.to_owned(),
            target: origin.to_owned(),
            decided_by,
            filled_by: FilledBy::Unchanged,
            reroute: None,
        });
        Ok(Heard::Ended(Box::new(row)))
    }

    /// Records that the decision about a call was carried out.
    pub(super) async fn carried_out(&self, row: &Interrupt) -> Result<(), KeepError> {
        let Some(decision) = &row.decision else {
            return Ok(());
        };
        let record = &self.desk.record;
        let finished = record
            .store()
            .finish(record.epoch()?, decision.effect, "{}".to_owned());
        finished.await?;
        Ok(())
    }

    fn told_raised(
        &self,
        asker: &Asker,
        matter: &ToolMatter,
        id: InterruptId,
    ) -> Result<(), KeepError> {
        let (Some(ledger), Ok(kind)) = (&self.ledger, asker.agent_type.parse::<AgentKind>()) else {
            return Ok(());
        };
        let details = matter
            .shown_in(question(&self.desk.record, asker, matter, id))
            .details;
        let record = InterruptRecord {
            interrupt: id,
            node: asker.node.clone(),
            origin: kind,
            interrupt_type: details.r#type,
            reason: details.reason.clone(),
            outcome: InterruptResult::Open,
        };
        // After those of the agents' steps.
        ledger.raised(u32::MAX, record);
        self.recorder.record(RunEvent::InterruptRaised {
            interrupt: id,
            node: asker.node.clone(),
            kind,
            details,
            payload: serde_json::to_value(matter)?,
        });
        Ok(())
    }

    fn told(&self, id: InterruptId, moment: InterruptMoment<'_>) {
        match (&self.ledger, moment) {
            (Some(ledger), moment) => ledger.observe(id, moment),
            (None, InterruptMoment::Asked(question)) => {
                self.recorder.record(RunEvent::InterruptOpened {
                    question: Box::new(question.clone()),
                });
            }
            (None, InterruptMoment::Answered(answer)) => {
                self.recorder.record(RunEvent::InterruptAnswered {
                    interrupt: id,
                    answer: answer.clone(),
                });
            }
            (None, InterruptMoment::Refused { problem }) => {
                self.recorder.record(RunEvent::AnswerRefused {
                    interrupt: id,
                    problem: problem.to_owned(),
                });
            }
            (None, _) => {}
        }
    }
}

/// What the answer decides, where it fits the question.
fn clear(matter: &ToolMatter, answer: &Answer, question: &Question) -> Result<Verdict, String> {
    answer.check(question).map_err(|error| error.to_string())?;
    matter.verdict(answer).ok_or_else(|| {
        let choices = question.details.choices.iter();
        let values: Vec<&str> = choices.map(|choice| choice.value.as_str()).collect();
        format!(
            "selectedChoices: choose one of {}, or edit what is shown",
            values.join(", ")
        )
    })
}

/// Where the interrupts of a type of agent go: of an agent of a plan, to itself.
fn origin_of(agent_type: &'static str) -> &'static str {
    let kind = agent_type.parse::<AgentKind>();
    kind.map_or(agent_type, |kind| kind.origin_route().name())
}

fn question(record: &RunRecord, asker: &Asker, matter: &ToolMatter, id: InterruptId) -> Question {
    let origin = origin_of(asker.agent_type);
    let payload = serde_json::to_value(&matter.tool_call).unwrap_or_default();
    matter.shown_in(Question {
        interrupt: id,
        run: record.run,
        node: asker.node.clone(),
        agent_type: asker.agent_type,
        kind: QuestionKind::HumanReview,
        details: routing_core::InterruptDetails {
            r#type: InterruptType::HumanReview,
            reason: String::new(),
            choices: Vec::new(),
            confirmation_items: Vec::new(),
            context_for_decision: String::new(),
        },
        payload,
        target: origin,
        target_field: "",
        routes: Vec::new(),
        request_schema: serde_json::Value::Null,
        problem: None,
    })
}
