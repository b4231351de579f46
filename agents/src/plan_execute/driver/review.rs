//! Asking a person, and what the answer means to the plan.

use std::sync::Arc;

use interrupts::life::Interrupt;
use routing_core::Outcome;
use routing_core::review::{Answer, Question, ReviewError};

use super::begin::PlanDecision;
use super::{Driver, EffectOutcome, ExecutionEnd};
use crate::workflow::failure::FlowError;
use engine::durable::decisions::{answer, words};
use engine::run::RunEvent;
use journal::error::KeepError;
use planning::{Phase, PlanEffect, PlanEvent};

/// What has ended the waiting for an answer.
enum Heard {
    Ended(Box<Interrupt>),
    Said(Answer),
    Stopped(String),
    Nobody,
}

impl Driver {
    /// Asks a person, here and through the store: whoever answers first has answered.
    pub(super) async fn ask_person(&mut self) -> Result<EffectOutcome, FlowError> {
        let Some(mut question) = self.raise_open().await? else {
            return Err(FlowError::Lost {
                detail: "a person is asked, and there is no question",
            });
        };
        let id = question.interrupt;
        self.keep_nodes().await?;
        if let Some(row) = self.ended(id).await? {
            return self.answered(&row);
        }
        self.recorder.record(RunEvent::InterruptOpened {
            question: Box::new(question.clone()),
        });
        loop {
            match self.heard(&question).await? {
                Heard::Ended(row) => return self.answered(&row),
                Heard::Stopped(reason) => {
                    if let Some(left) = self.rest_if_left() {
                        return Ok(EffectOutcome::Rest(left));
                    }
                    let reason = Some(reason);
                    return Ok(EffectOutcome::Event(PlanEvent::Interrupt { reason }));
                }
                Heard::Nobody => {
                    let questions = vec![question];
                    return Ok(EffectOutcome::Rest(ExecutionEnd::Waiting { questions }));
                }
                Heard::Said(said) => {
                    if let Err(problem) = said.check(&question) {
                        let problem = problem.to_string();
                        self.recorder.record(RunEvent::AnswerRefused {
                            interrupt: id,
                            problem: problem.clone(),
                        });
                        question.problem = Some(problem);
                        continue;
                    }
                    let answerer = self.reviewer.answerer(id);
                    let row = self.decide(id, &said, &answerer).await?;
                    return self.answered(&row);
                }
            }
        }
    }

    async fn heard(&self, question: &Question) -> Result<Heard, KeepError> {
        let reviewer = Arc::clone(&self.reviewer);
        let scope = self.control.scope_of(&question.node);
        let said = tokio::select! {
            biased;
            reason = scope.stopping() => return Ok(Heard::Stopped(reason.message)),
            said = reviewer.answer(question, &scope) => said,
            row = self.ended_elsewhere(question.interrupt) => {
                return Ok(Heard::Ended(Box::new(row?)));
            }
        };
        Ok(match said {
            Ok(Outcome::Completed(answer)) => Heard::Said(answer),
            Ok(Outcome::Interrupted { reason, .. }) => Heard::Stopped(reason.message),
            Err(error @ (ReviewError::NobodyThere | ReviewError::Unavailable { .. } | _)) => {
                tracing::info!(%error, interrupt = %question.interrupt, "the plan waits");
                // Where nobody is there, a stop that has come says what follows.
                match scope.reason() {
                    Some(reason) => Heard::Stopped(reason.message),
                    None => Heard::Nobody,
                }
            }
        })
    }

    /// What a question's end means to the plan.
    fn answered(&mut self, row: &Interrupt) -> Result<EffectOutcome, FlowError> {
        let Some(decision) = &row.decision else {
            return Ok(self.withdrawn());
        };
        self.standing.dispatched.push(decision.effect);
        if !matches!(self.standing.state.phase(), Phase::Asking { .. }) {
            self.recorder.record(RunEvent::InterruptAnswered {
                interrupt: row.id,
                answer: answer(decision.content.as_deref())
                    .map(|(answer, _confidence)| answer)
                    .unwrap_or_default(),
            });
            // It is done with: where its answer does not fit, another question is asked.
            self.standing.question = None;
            return Ok(EffectOutcome::Effects(
                self.carry_out(PlanDecision::of(decision))?,
            ));
        }
        let unreadable = |source| KeepError::Unreadable {
            place: format!("the decision of {}", row.id),
            source,
        };
        let (answer, _confidence) = answer(decision.content.as_deref()).map_err(unreadable)?;
        self.recorder.record(RunEvent::InterruptAnswered {
            interrupt: row.id,
            answer: answer.clone(),
        });
        let told = [words(decision).map(str::to_owned), in_words(&answer)];
        let told: Vec<String> = told.into_iter().flatten().collect();
        let answer = if told.is_empty() {
            "[approved: go on]".to_owned()
        } else {
            told.join(" ")
        };
        Ok(EffectOutcome::Event(PlanEvent::Answered { answer }))
    }

    /// Nobody will answer any more. An agent goes on without an answer; a failure stays one.
    fn withdrawn(&mut self) -> EffectOutcome {
        match self.standing.state.phase() {
            Phase::Held(_) => {
                // Whoever resumes the run is asked anew.
                self.standing.question = None;
                EffectOutcome::Effects(vec![PlanEffect::Checkpoint { reason: "held" }])
            }
            Phase::Created
            | Phase::Working { .. }
            | Phase::Asking { .. }
            | Phase::BackingOff { .. }
            | Phase::Ended(_) => EffectOutcome::Event(PlanEvent::Answered {
                answer: "[withdrawn: go on without an answer]".to_owned(),
            }),
        }
    }
}

/// An answer as an agent reads it; `None` where nothing was said.
fn in_words(answer: &Answer) -> Option<String> {
    let confirmations = answer.confirmations.iter().map(|(item, is_confirmed)| {
        let word = if *is_confirmed { "yes" } else { "no" };
        format!("{item}: {word}")
    });
    let parts: Vec<String> = answer
        .selected_choices
        .iter()
        .cloned()
        .chain(confirmations)
        .chain(answer.text.clone())
        .filter(|part| !part.trim().is_empty())
        .collect();
    (!parts.is_empty()).then(|| parts.join("; "))
}
