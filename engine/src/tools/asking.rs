//! Asking people about tools: through the store, so that the first answer wins, in any process.

mod asked;
mod events;
mod raise;

use std::sync::Arc;

use interrupt_router::handler::LifecycleEvent;
use interrupt_router::review::{Answer, Question, QuestionKind, Reviewer};
use interrupt_router::{InterruptId, InterruptType, NodeId, StopReason, StopScope};
use interrupts::life::{Interrupt, Recurrence, Verdict, WithdrawCause};
use jiff::Timestamp;

use self::asked::AskedQuestions;
use super::launching::Ground;
use crate::durable::record::RunRecord;
use crate::durable::stored_interrupts::{Heard, StoredInterrupts};
use crate::run::open_interrupts::OpenInterrupts;
use crate::run::recorder::Recorder;
use journal::error::KeepError;
use journal::tool::ToolQuestionContent;

/// How often a person who answers unclearly is asked again.
const MOST_UNCLEAR: u32 = 3;

/// Asks people about the tools of a run.
pub(super) struct ToolQuestions {
    stored_interrupts: Arc<StoredInterrupts>,
    reviewer: Arc<dyn Reviewer>,
    recorder: Arc<Recorder>,
    /// Keeps the interrupts of the run.
    open_interrupts: Arc<OpenInterrupts>,
    asked: AskedQuestions,
}

/// The agent that asks, and where.
#[derive(Clone)]
pub(super) struct AskingNode {
    pub(super) node: NodeId,
    /// The name of its type on the wire.
    pub(super) agent_type: &'static str,
    /// When the answer was recorded that the question follows from.
    pub(super) at: Timestamp,
    /// Writes the changed nodes of the run to the store.
    pub(super) ground: Option<Arc<dyn Ground>>,
}

impl AskingNode {
    /// Writes to the store that the node waits, or no longer does, for everyone to see.
    async fn is_shown(&self) -> Result<(), KeepError> {
        match &self.ground {
            Some(ground) => ground.keep_nodes().await,
            None => Ok(()),
        }
    }
}

/// What is asked about a call.
#[derive(Debug, Clone, Copy)]
pub(super) struct CallQuestion<'a> {
    /// Names the question among those about the same call.
    pub(super) name: &'a str,
    pub(super) matter: &'a ToolQuestionContent,
    /// Which later questions ask the same, for a person who does not want to be asked again.
    pub(super) recurrence: Recurrence,
}

/// What came of asking.
#[derive(Debug)]
pub(super) enum CallAnswer {
    /// The question has ended, with a decision or without one.
    Ended(Box<Interrupt>),
    /// The agent is to stop; the question stays open.
    Stopped(StopReason),
    /// No one is there to answer; the question stays open.
    NoReviewer(Box<Question>),
}

impl ToolQuestions {
    pub(super) fn new(
        record: Arc<RunRecord>,
        reviewer: Arc<dyn Reviewer>,
        recorder: Arc<Recorder>,
        open_interrupts: Arc<OpenInterrupts>,
    ) -> Self {
        Self {
            stored_interrupts: Arc::new(StoredInterrupts::new(record)),
            reviewer,
            recorder,
            open_interrupts,
            asked: AskedQuestions::default(),
        }
    }

    /// Asks, and waits until the question is decided, no one can decide it, or the agent is to stop. The same question,
    /// at the same place of the run, is asked once: a decision that was made while nothing waited for it counts. If a
    /// person has made a standing rule of the same question before, the rule decides, and no one is asked.
    pub(super) async fn ask(
        &self,
        asker: &AskingNode,
        asking: CallQuestion<'_>,
        scope: &StopScope,
    ) -> Result<CallAnswer, KeepError> {
        let record = &self.stored_interrupts.record;
        let CallQuestion { name, matter, .. } = asking;
        let place = format!("{}/{name}", matter.tool_call.place);
        let id = record.interrupt_at(&place, asker.at);
        let before = self.withdraw_others(asker, matter, id).await?;
        let matter = match before {
            Some(before) => &matter.clone().after(before),
            None => matter,
        };
        let asking = CallQuestion { matter, ..asking };
        let question = question(record, asker, matter, id);
        let row = self.raise(id, &place, asker, asking, &question).await?;
        self.answered(asker, matter, row, scope).await
    }

    /// Waits for the end of a question that is in the store: see [`ToolQuestions::ask`].
    pub(super) async fn answered(
        &self,
        asker: &AskingNode,
        matter: &ToolQuestionContent,
        row: Interrupt,
        scope: &StopScope,
    ) -> Result<CallAnswer, KeepError> {
        let id = row.id;
        let mut question = question(&self.stored_interrupts.record, asker, matter, id);
        self.told_raised(asker, matter, id)?;
        if !row.state.is_live() {
            return self.ended(asker, row);
        }
        for _unclear in 0..MOST_UNCLEAR {
            self.observe_event(id, LifecycleEvent::Asked(&question));
            asker.is_shown().await?;
            let heard = self
                .stored_interrupts
                .hear(&*self.reviewer, &question, scope)
                .await?;
            match heard {
                Heard::Ended(row) => return self.heard(asker, *row).await,
                Heard::Stopped(reason) => return Ok(CallAnswer::Stopped(reason)),
                Heard::NoReviewer => return Ok(CallAnswer::NoReviewer(Box::new(question))),
                Heard::Here(answer) => match clear(matter, &answer, &question) {
                    Ok(verdict) => {
                        let answerer = self.reviewer.answerer(id);
                        let row = self
                            .stored_interrupts
                            .decide(id, verdict, &answer, &answerer);
                        return self.heard(asker, row.await?).await;
                    }
                    Err(problem) => {
                        self.observe_event(id, LifecycleEvent::Refused { problem: &problem });
                        question.problem = Some(problem);
                    }
                },
            }
        }
        Ok(CallAnswer::NoReviewer(Box::new(question)))
    }

    /// The question that the node waited for has ended.
    async fn heard(&self, asker: &AskingNode, row: Interrupt) -> Result<CallAnswer, KeepError> {
        let id = row.id;
        let heard = self.ended(asker, row)?;
        // The node goes on, unless another call of it waits too.
        self.open_interrupts.goes_on(id);
        asker.is_shown().await?;
        Ok(heard)
    }

    /// Ends the question, if it can still be answered.
    pub(super) async fn withdraw(
        &self,
        asker: &AskingNode,
        name: &str,
        matter: &ToolQuestionContent,
    ) -> Result<(), KeepError> {
        let place = format!("{}/{name}", matter.tool_call.place);
        let id = self.stored_interrupts.record.interrupt_at(&place, asker.at);
        self.stored_interrupts
            .withdraw(id, WithdrawCause::Withdrawn)
            .await
    }
}

/// The verdict of the answer, if it fits the question.
fn clear(
    matter: &ToolQuestionContent,
    answer: &Answer,
    question: &Question,
) -> Result<Verdict, String> {
    answer.check(question).map_err(|error| error.to_string())?;
    matter.verdict(answer).ok_or_else(|| {
        let choices = question.details.choices.iter();
        let values: Vec<&str> = choices.map(|choice| choice.value.as_str()).collect();
        format!(
            "selectedChoices: choose one of {}{}",
            values.join(", "),
            if matter.allowed().contains(&Verdict::Edit) {
                ", or edit what is shown"
            } else {
                ""
            }
        )
    })
}

fn question(
    record: &RunRecord,
    asker: &AskingNode,
    matter: &ToolQuestionContent,
    id: InterruptId,
) -> Question {
    let origin = record.kinds.origin_of(asker.agent_type);
    let payload = serde_json::to_value(&matter.tool_call).unwrap_or_default();
    matter.shown_in(Question {
        interrupt: id,
        run: record.run,
        node: asker.node.clone(),
        agent_type: asker.agent_type,
        kind: QuestionKind::HumanReview,
        details: interrupt_router::InterruptDetails::new(InterruptType::HumanReview, ""),
        payload,
        target: origin,
        target_field: "",
        routes: Vec::new(),
        request_schema: serde_json::Value::Null,
        problem: None,
    })
}
