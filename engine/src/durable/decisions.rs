//! The core's decisions, over the store: a question gets one decision, no matter who decides or in which process.

use std::sync::Arc;

use async_trait::async_trait;
use interrupt_router::event::InterruptRequestEvent;
use interrupt_router::handler::{
    DecidedBy, DecisionError, DecisionPart, Decisions, PersonPrompt, Proposal, RecordedDecision,
};
use interrupt_router::review::{Answerer, AnswererKind, Question, QuestionKind};
use interrupt_router::{
    AgentType, InterruptDetails, InterruptId, InterruptType, NodeId, RunId, StopSource,
};
use interrupts::life::{
    Actor, Choosing, Decision, Interrupt, Judge, Recurrence, Refusal, Role, State, Verdict,
};
use interrupts::store::{ChangeError, Deciders};
use interrupts::{ActorName, EffectId, RouteName};
use serde::Serialize;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::cancelled_pause::given_up_because;
use super::kinds::{NamedEvent, typed};
use super::stored_interrupts::{
    MOST_AT_ONCE, NewQuestion, StoredInterrupts, digest_of, missing, sweep_due,
};
use journal::error::KeepError;

/// The decisions of a run in its store.
pub struct StoreDecisions {
    pub stored_interrupts: Arc<StoredInterrupts>,
}

impl From<KeepError> for DecisionErrorBox {
    fn from(error: KeepError) -> Self {
        Self(DecisionError::Unavailable(Box::new(error)))
    }
}

/// Lets `?` turn a store error into the handler's error.
struct DecisionErrorBox(DecisionError);

impl From<DecisionError> for DecisionErrorBox {
    fn from(error: DecisionError) -> Self {
        Self(error)
    }
}

type Known<R> = Result<Option<RecordedDecision<R>>, DecisionErrorBox>;

impl StoreDecisions {
    /// The interrupt in which a matter is decided: a request that no model could fill in is a question of its own.
    fn id_of(&self, interrupt: InterruptId, matter: DecisionPart) -> InterruptId {
        match matter {
            DecisionPart::Interrupt => interrupt,
            DecisionPart::Request => self.stored_interrupts.record.request_of(interrupt),
        }
    }

    async fn row(&self, interrupt: InterruptId) -> Result<Option<Interrupt>, KeepError> {
        Ok(self
            .stored_interrupts
            .record
            .store()
            .interrupt(interrupt)
            .await?)
    }

    async fn bound(&self, interrupt: InterruptId) -> Result<Option<NamedEvent>, KeepError> {
        match self.row(interrupt).await?.and_then(|row| row.bound) {
            Some(bound) => self.stored_interrupts.event(&bound.event).await,
            None => Ok(None),
        }
    }

    async fn known<R: AgentType>(&self, interrupt: InterruptId) -> Known<R> {
        match self.row(interrupt).await? {
            Some(row) => known_decision(&row),
            None => Ok(None),
        }
    }

    async fn open_review(
        &self,
        interrupt: InterruptId,
        shown: &impl Serialize,
    ) -> Result<(), KeepError> {
        let row = self.stored_interrupts.row(interrupt).await?;
        // It may have been held when it was raised.
        let deciders = Deciders {
            shown: Some(digest_of(shown)?),
            ..self.stored_interrupts.deciders()
        };
        self.stored_interrupts.consult(row, deciders).await?;
        Ok(())
    }

    /// A request that no model could fill in: a question of the system to a person.
    async fn ask_for_request(
        &self,
        question: &Question,
        fills: InterruptId,
    ) -> Result<(), KeepError> {
        let admission = self.stored_interrupts.admission(NewQuestion {
            interrupt: question.interrupt,
            node: &question.node,
            kind: question.agent_type,
            origin: question.target,
            interrupt_type: InterruptType::HumanReview,
            source: StopSource::System,
            reason: &question.details.reason,
            content: serde_json::to_string(&json!({
                "fills": fills,
                "kind": question.kind,
                "request": question.payload,
            }))?,
            key: &format!("{fills}/request"),
            allowed: &[Verdict::Edit, Verdict::Reject],
            recurrence: Recurrence::Verbatim,
        })?;
        let nobody_yet = Deciders::default();
        self.stored_interrupts.put(admission, nobody_yet).await?;
        Ok(())
    }

    /// Shows a person a question. The question for a request that no model could fill in is raised first.
    async fn needed(&self, asked: PersonPrompt<'_>) -> Result<(), KeepError> {
        match asked {
            PersonPrompt::Question(question) => {
                if let QuestionKind::UnfilledRequest { fills, .. } = question.kind
                    && self.row(question.interrupt).await?.is_none()
                {
                    self.ask_for_request(question, fills).await?;
                }
                self.open_review(question.interrupt, question).await
            }
            PersonPrompt::Pause(pause) => self.open_review(pause.interrupt, pause).await,
        }
    }

    /// Tries until there is one final decision.
    async fn settle<R: AgentType>(
        &self,
        proposal: &Proposal<R>,
    ) -> Result<RecordedDecision<R>, DecisionErrorBox> {
        let id = self.id_of(proposal.interrupt, proposal.matter);
        loop {
            let Some(row) = self.row(id).await? else {
                return Err(missing(id).into());
            };
            if let Some(decision) = known_decision(&row)? {
                return Ok(decision);
            }
            if !matches!(row.state, State::Acknowledged | State::AwaitingReview) {
                return Err(KeepError::NotOpenYet {
                    interrupt: id,
                    state: row.state,
                }
                .into());
            }
            let judge = judge(&row, proposal)?;
            let choosing = choosing(&row, proposal)?;
            let store = self.stored_interrupts.record.store();
            match store.decide(id, judge, choosing).await {
                Ok(_)
                | Err(ChangeError::Refused(
                    Refusal::Ended { .. }
                    | Refusal::StaleVersion { .. }
                    | Refusal::ShownDiffers
                    | Refusal::Illegal { .. },
                )) => {}
                // Another reviewer has claimed it, or another interrupt goes first: wait for that.
                Err(ChangeError::Refused(Refusal::Claimed { .. } | Refusal::Held { .. })) => {
                    self.stored_interrupts.news().await;
                }
                Err(ChangeError::Refused(Refusal::DeadlinePassed { .. })) => {
                    store.sweep(MOST_AT_ONCE).await.map_err(KeepError::from)?;
                }
                Err(ChangeError::Refused(refusal @ Refusal::Fenced { .. })) => {
                    self.stored_interrupts.taken_by_us(id, refusal).await?;
                }
                Err(error) => return Err(KeepError::from(error).into()),
            }
        }
    }

    /// The dispatch of an interrupt's decision, which is done once its answer has arrived.
    pub async fn dispatch_of(
        &self,
        interrupt: InterruptId,
        matter: DecisionPart,
    ) -> Result<Option<EffectId>, KeepError> {
        let row = self.row(self.id_of(interrupt, matter)).await?;
        Ok(row.and_then(|row| row.decision).map(|it| it.effect))
    }
}

/// Why no model could fill in the request that a question asks for.
fn unfilled_because(question: &Interrupt) -> String {
    let content: Option<Value> = serde_json::from_str(&question.content).ok();
    let problem = content.as_ref().and_then(|it| it.pointer("/kind/problem"));
    problem
        .and_then(Value::as_str)
        .map_or_else(|| question.reason.clone(), str::to_owned)
}

fn judge<R: AgentType>(row: &Interrupt, proposal: &Proposal<R>) -> Result<Judge, KeepError> {
    let shown = row.review.as_ref().map(|review| review.shown);
    match (row.state, shown) {
        (State::AwaitingReview, Some(shown)) => Ok(Judge::Person {
            actor: Actor {
                name: name_of(proposal.answerer.as_ref())?,
                role: Role::Reviewer,
            },
            version: row.version,
            shown,
        }),
        _ => Ok(Judge::Policy { epoch: row.epoch }),
    }
}

/// Who answered, as the audit shows it.
pub fn name_of(answerer: Option<&Answerer>) -> Result<ActorName, KeepError> {
    let Some(Answerer { name, kind }) = answerer else {
        return Ok(ActorName::new("reviewer")?);
    };
    let name = match kind {
        AnswererKind::Person => name.clone(),
        AnswererKind::Script => format!("script {name}"),
        AnswererKind::Policy => format!("policy {name}"),
    };
    Ok(ActorName::new(name)?)
}

fn choosing<R: AgentType>(row: &Interrupt, proposal: &Proposal<R>) -> Result<Choosing, KeepError> {
    let verdict = verdict(proposal);
    let target = if verdict == Verdict::Reroute {
        Some(RouteName::new(proposal.target.name())?)
    } else {
        None
    };
    Ok(Choosing {
        id: proposal.decision,
        verdict,
        target,
        content: Some(content(row, proposal)?),
    })
}

/// The verdict that says what was answered. What may not be decided is refused, and never taken for anything else.
fn verdict<R: AgentType>(proposal: &Proposal<R>) -> Verdict {
    let said = proposal.verdict;
    if proposal.is_chosen && !said.declines() {
        return Verdict::Reroute;
    }
    said
}

/// The answer as the store keeps it: of a pause, the new input.
fn content<R: AgentType>(row: &Interrupt, proposal: &Proposal<R>) -> Result<String, KeepError> {
    let answer = &proposal.answer;
    if row.interrupt_type == InterruptType::Pause && answer.edited_request.is_none() {
        return Ok(json!({ "input": answer.text }).to_string());
    }
    let mut content = serde_json::to_value(answer)?;
    if let (DecidedBy::Model { confidence }, Some(fields)) =
        (proposal.decided_by, content.as_object_mut())
    {
        fields.insert("confidence".to_owned(), confidence.into());
    }
    Ok(content.to_string())
}

/// The decision of an interrupt that has ended. An interrupt that was given up gets none until it is redriven, so
/// nothing waits for it.
fn known_decision<R: AgentType>(row: &Interrupt) -> Known<R> {
    if let Some(reason) = given_up_because(row) {
        let interrupt = row.id;
        return Err(DecisionError::Cancelled { interrupt, reason }.into());
    }
    match (&row.decision, row.state) {
        (Some(decision), State::Resolved | State::Rerouted | State::Expired) => {
            Ok(Some(read(row, decision)?))
        }
        (_, State::Cancelled) => Err(DecisionErrorBox(DecisionError::Withdrawn {
            interrupt: row.id,
        })),
        (_, State::DeadLettered) => Err(DecisionErrorBox(DecisionError::DeadLettered {
            interrupt: row.id,
        })),
        (None, State::Resolved | State::Rerouted | State::Expired)
        | (_, State::Requested | State::Delivered | State::Acknowledged | State::AwaitingReview) => {
            Ok(None)
        }
    }
}

fn read<R: AgentType>(
    row: &Interrupt,
    decision: &Decision,
) -> Result<RecordedDecision<R>, KeepError> {
    let unreadable = |source| KeepError::Unreadable {
        place: format!("the decision of {}", row.id),
        source,
    };
    let (answer, confidence) = decision.answer().map_err(unreadable)?;
    let target = decision.target.as_str().parse::<R>();
    let target = target.map_err(|error| unreadable(serde::de::Error::custom(error)))?;
    Ok(RecordedDecision {
        id: decision.id,
        verdict: decision.verdict,
        answer: answer.kept_with(decision.verdict),
        decided_by: decision.by.decided_by(confidence),
        target,
        reroute: row.bound.as_ref().map(|bound| bound.event.clone()),
    })
}

/// What the agent reads for a decision that is not an answer.
pub const fn words(verdict: Verdict, decided_by: DecidedBy) -> Option<&'static str> {
    match (verdict, decided_by) {
        (_, DecidedBy::Deadline) => Some("[no answer came in time; go on without one]"),
        (Verdict::Reject, _) => Some("[rejected: do not do what you asked for]"),
        (Verdict::Ignore, _) => Some("[ignored: go on without an answer]"),
        (Verdict::Cancel, _) => Some("[cancelled: give this up, without side effects]"),
        (
            Verdict::Approve
            | Verdict::Edit
            | Verdict::Respond
            | Verdict::Reroute
            | Verdict::ModifyPlan
            | Verdict::Resume
            | Verdict::Applied,
            _,
        ) => None,
    }
}

/// What an agent reads when it is told that its interrupt was declined: another turn follows, along no route.
pub fn declined_note(
    details: &InterruptDetails,
    verdict: Verdict,
    decided_by: DecidedBy,
    text: Option<&str>,
) -> String {
    let decision = json!({
        "type": details.r#type,
        "reason": details.reason,
        "decision": words(verdict, decided_by),
        "said": text,
        "decidedBy": decided_by,
    });
    format!("[decision]\nYour interrupt was decided:\n{decision:#}")
}

#[async_trait]
impl<K: AgentType> Decisions<K> for StoreDecisions {
    /// What the store has bound: that happened when the interrupt was raised.
    async fn bind(
        &self,
        _run: RunId,
        _node: &NodeId,
        interrupt: InterruptId,
    ) -> Result<Option<InterruptRequestEvent<K>>, DecisionError> {
        let bound = self.bound(interrupt).await;
        let bound = bound.map_err(|error| DecisionError::Unavailable(Box::new(error)))?;
        let known = bound.map(typed).transpose();
        known.map_err(|error| DecisionError::Unavailable(Box::new(error)))
    }

    async fn recorded(
        &self,
        interrupt: InterruptId,
        matter: DecisionPart,
    ) -> Result<Option<RecordedDecision<K::Route>>, DecisionError> {
        let known = self.known(self.id_of(interrupt, matter)).await;
        known.map_err(|error| error.0)
    }

    async fn person_asked(
        &self,
        interrupt: InterruptId,
        matter: DecisionPart,
    ) -> Result<Option<String>, DecisionError> {
        let row = self.row(self.id_of(interrupt, matter)).await;
        let row = row.map_err(|error| DecisionError::Unavailable(Box::new(error)))?;
        Ok(row.and_then(|row| match matter {
            DecisionPart::Interrupt => row.review.as_ref().map(|_asked| row.reason.clone()),
            DecisionPart::Request => Some(unfilled_because(&row)),
        }))
    }

    fn question_of(&self, interrupt: InterruptId, matter: DecisionPart) -> InterruptId {
        self.id_of(interrupt, matter)
    }

    async fn person_needed(&self, asked: PersonPrompt<'_>) -> Result<(), DecisionError> {
        let needed = self.needed(asked).await;
        needed.map_err(|error| DecisionError::Unavailable(Box::new(error)))
    }

    async fn decided_elsewhere(
        &self,
        interrupt: InterruptId,
        matter: DecisionPart,
    ) -> Result<RecordedDecision<K::Route>, DecisionError> {
        let id = self.id_of(interrupt, matter);
        let began = Instant::now();
        loop {
            match self.known(id).await {
                Ok(Some(decision)) => return Ok(decision),
                Ok(None) => {
                    self.stored_interrupts.news().await;
                    let ended = async {
                        sweep_due(&self.stored_interrupts.record, id).await?;
                        self.stored_interrupts.end_pause(id, began.elapsed()).await
                    };
                    ended
                        .await
                        .map_err(|error| DecisionError::Unavailable(Box::new(error)))?;
                }
                Err(error) => return Err(error.0),
            }
        }
    }

    async fn decide(
        &self,
        proposal: Proposal<K::Route>,
    ) -> Result<RecordedDecision<K::Route>, DecisionError> {
        self.settle(&proposal).await.map_err(|error| error.0)
    }
}
