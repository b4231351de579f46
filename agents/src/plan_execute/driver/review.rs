//! Asking a person, and what the answer means to the plan.

use std::sync::Arc;

use interrupt_router::handler::FilledBy;
use interrupt_router::review::Answer;
use interrupts::life::{Decision, Interrupt, State, Verdict};

use super::begin::PlanDecision;
use super::{Driver, EffectOutcome};
use crate::workflow::failure::FlowError;
use engine::durable::decisions::words;
use engine::durable::stored_interrupts::{Heard, sweep_due};
use engine::run::{InterruptRecord, InterruptResult, RunEnd, RunEvent};
use journal::error::KeepError;
use planning::{Phase, PlanEffect, PlanEvent};

impl Driver {
    /// Asks a person, here and through the store: the first answer counts.
    pub(super) async fn ask_person(&mut self) -> Result<EffectOutcome, FlowError> {
        let Some(mut question) = self.raise_open().await? else {
            return Err(FlowError::Lost {
                detail: "a person is asked, and there is no question",
            });
        };
        let id = question.interrupt;
        self.show_nodes().await?;
        sweep_due(&self.journal.record, id).await?;
        let row = self.live.stored_interrupts.row(id).await?;
        if !row.state.is_live() {
            return self.answered(&row);
        }
        let asked = InterruptRecord::asked(&question);
        self.open_interrupts.raised(self.snapshot.asked, asked);
        self.recorder.record(RunEvent::InterruptOpened {
            question: Box::new(question.clone()),
        });
        let (reviewer, scope) = (Arc::clone(&self.reviewer), self.scope_of(&question.node));
        let interrupts = Arc::clone(&self.live.stored_interrupts);
        loop {
            match interrupts.hear(&*reviewer, &question, &scope).await? {
                Heard::Ended(row) => return self.answered(&row),
                Heard::Stopped(reason) => {
                    if let Some(left) = self.rest_if_left() {
                        return Ok(EffectOutcome::Rest(left));
                    }
                    let reason = Some(reason.message);
                    return Ok(EffectOutcome::Event(PlanEvent::Interrupt { reason }));
                }
                Heard::NoReviewer => {
                    self.open_interrupts.unanswered(question);
                    return Ok(EffectOutcome::Rest(RunEnd::Waiting));
                }
                Heard::Here(said) => {
                    if let Err(problem) = said.check(&question) {
                        let problem = problem.to_string();
                        self.recorder.record(RunEvent::AnswerRefused {
                            interrupt: id,
                            problem: problem.clone(),
                        });
                        question.problem = Some(problem);
                        continue;
                    }
                    let verdict = if said == Answer::default() {
                        Verdict::Approve
                    } else {
                        Verdict::Respond
                    };
                    let answerer = reviewer.answerer(id);
                    let row = interrupts.decide(id, verdict, &said, &answerer).await?;
                    return self.answered(&row);
                }
            }
        }
    }

    /// What a question's end means to the plan.
    fn answered(&mut self, row: &Interrupt) -> Result<EffectOutcome, FlowError> {
        if row.state == State::DeadLettered {
            return Err(KeepError::DeadLettered { interrupt: row.id }.into());
        }
        let Some(decision) = &row.decision else {
            let reason = "it was withdrawn".to_owned();
            self.open_interrupts
                .ended(row.id, InterruptResult::Refused { reason });
            return Ok(self.withdrawn());
        };
        self.snapshot.dispatched.push(decision.effect);
        if !matches!(self.snapshot.state.phase(), Phase::Asking { .. }) {
            let answer = decision.answer().map(|(answer, _confidence)| answer);
            self.tell_answered(row, decision, &answer.unwrap_or_default());
            // The question is closed: if its answer does not fit, another one is asked.
            self.snapshot.question = None;
            return Ok(EffectOutcome::Effects(
                self.carry_out(PlanDecision::of(decision))?,
            ));
        }
        let unreadable = |source| KeepError::Unreadable {
            place: format!("the decision of {}", row.id),
            source,
        };
        let (answer, _confidence) = decision.answer().map_err(unreadable)?;
        self.tell_answered(row, decision, &answer);
        let told = [
            words(decision.verdict, decision.by.decided_by(None)).map(str::to_owned),
            in_words(&answer),
        ];
        let told: Vec<String> = told.into_iter().flatten().collect();
        let answer = if told.is_empty() {
            "[approved: go on]".to_owned()
        } else {
            told.join(" ")
        };
        Ok(EffectOutcome::Event(PlanEvent::Answered { answer }))
    }

    fn tell_answered(&self, row: &Interrupt, decision: &Decision, answer: &Answer) {
        self.recorder.record(RunEvent::InterruptAnswered {
            interrupt: row.id,
            answer: answer.clone(),
        });
        let end = InterruptResult::Routed {
            target: decision.target.as_str().to_owned(),
            decided_by: decision.by.decided_by(None),
            filled_by: FilledBy::Unchanged,
            answer: answer.clone(),
            reroute: None,
        };
        self.open_interrupts.ended(row.id, end);
    }

    /// No answer will come. An agent continues without one; a failure stays one.
    fn withdrawn(&mut self) -> EffectOutcome {
        match self.snapshot.state.phase() {
            Phase::Held(_) => {
                // A resumed run asks again.
                self.snapshot.question = None;
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
