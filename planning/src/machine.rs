//! The machine: an event and a time in, the next state and its effects out.

mod review;
mod work;

use jiff::Timestamp;

use crate::effect::{Fact, FactKind, PersonQuestion, PlanEffect};
use crate::event::{PlanEvent, Refused};
use crate::state::{Activity, Cause, Held, Phase, PlanEnd, PlanExecute};

/// What an event did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanTurn {
    /// The workflow's new state.
    pub state: PlanExecute,
    /// What it wants done, in this order.
    pub effects: Vec<PlanEffect>,
}

/// The state while an event is processed.
struct StateDraft {
    state: PlanExecute,
    effects: Vec<PlanEffect>,
    now: Timestamp,
}

impl PlanExecute {
    /// The workflow after an event, with what it wants done; the workflow itself stays as it is.
    ///
    /// # Errors
    ///
    /// [`Refused`] if the event does not fit.
    pub fn after(&self, event: &PlanEvent, now: Timestamp) -> Result<PlanTurn, Refused> {
        let mut draft = StateDraft {
            state: self.clone(),
            effects: Vec::new(),
            now,
        };
        match event {
            PlanEvent::Interrupt { reason } => draft.interrupt(event, reason.as_deref())?,
            PlanEvent::Cancel { reason } => draft.cancel(event, reason.as_deref())?,
            PlanEvent::Start
            | PlanEvent::Planned { .. }
            | PlanEvent::StepDone { .. }
            | PlanEvent::Responded { .. }
            | PlanEvent::Asked { .. }
            | PlanEvent::Answered { .. }
            | PlanEvent::CallStopped
            | PlanEvent::Failed(_)
            | PlanEvent::Told { .. }
            | PlanEvent::RetryDue => draft.work(event)?,
            PlanEvent::Modify { .. }
            | PlanEvent::Suggest { .. }
            | PlanEvent::Propose { .. }
            | PlanEvent::Suggested { .. }
            | PlanEvent::ApplySuggestion
            | PlanEvent::Edit { .. }
            | PlanEvent::Undo
            | PlanEvent::Redo
            | PlanEvent::Resume => draft.review(event)?,
        }
        Ok(PlanTurn {
            state: draft.state,
            effects: draft.effects,
        })
    }

    /// What to do to go on from a state that was read again: what was under way is begun again, what was asked is asked
    /// again. The state does not change.
    pub fn pick_up(&self, now: Timestamp) -> Vec<PlanEffect> {
        let mut draft = StateDraft {
            state: self.clone(),
            effects: Vec::new(),
            now,
        };
        match self.phase.clone() {
            Phase::Created | Phase::Ended(_) => {}
            Phase::Working { activity } => draft.perform(&activity),
            Phase::Asking { activity, question } => {
                let step = step_of(&activity);
                draft.ask(PersonQuestion::Question { step, question });
            }
            Phase::BackingOff { attempts, .. } => {
                let wait = self.retries.wait(attempts);
                draft.effects.push(PlanEffect::Wait(wait));
            }
            Phase::Held(held) => draft.ask(PersonQuestion::HowToGoOn { cause: held.cause }),
        }
        draft.effects
    }
}

/// The step that an activity carries out.
fn step_of(activity: &Activity) -> Option<super::plan::StepId> {
    match activity {
        Activity::Executing { step } => Some(*step),
        Activity::Planning
        | Activity::Replanning
        | Activity::ForcedReplanning
        | Activity::Finishing { .. } => None,
    }
}

impl StateDraft {
    fn out_of_place(&self, event: &PlanEvent) -> Refused {
        Refused::OutOfPlace {
            event: event.name(),
            phase: self.state.phase.name(),
        }
    }

    fn record(&mut self, kind: FactKind, reason: Option<&str>) {
        let plan = &self.state.plan;
        self.effects.push(PlanEffect::Record(Fact {
            kind,
            reason: reason.map(str::to_owned),
            time: self.now,
            current_plan: plan.left().iter().map(|step| step.task.clone()).collect(),
            completed_steps: plan.finished().len(),
            total_steps: plan.total(),
        }));
    }

    fn checkpoint(&mut self, reason: &'static str) {
        self.effects.push(PlanEffect::Checkpoint { reason });
    }

    fn ask(&mut self, asked: PersonQuestion) {
        self.effects.push(PlanEffect::AskPerson(asked));
    }

    /// Notes a person's interrupt. It takes effect if nothing is under way, else before the next step.
    fn interrupt(&mut self, event: &PlanEvent, reason: Option<&str>) -> Result<(), Refused> {
        match self.state.phase.clone() {
            Phase::Ended(_) => Err(self.out_of_place(event)),
            // It has already stopped for a person.
            Phase::Held(_) => Ok(()),
            Phase::Created | Phase::Working { .. } => {
                self.note_interrupt(reason);
                Ok(())
            }
            Phase::BackingOff { activity, .. } => {
                self.note_interrupt(reason);
                self.escape(activity, None);
                Ok(())
            }
            Phase::Asking { activity, question } => {
                self.note_interrupt(reason);
                self.record(FactKind::Clash, Some(&question.reason));
                self.effects.push(PlanEffect::HoldQuestion);
                self.escape(activity, Some(question));
                Ok(())
            }
        }
    }

    fn note_interrupt(&mut self, reason: Option<&str>) {
        let flags = &mut self.state.flags;
        // The first reason is kept: pressing a key twice adds nothing.
        if !flags.user_interrupted || flags.interrupt_reason.is_none() {
            flags.interrupt_reason = reason.map(str::to_owned);
        }
        flags.user_interrupted = true;
    }

    /// A person's interrupt takes effect.
    fn escape(&mut self, then: Activity, question: Option<interrupt_router::InterruptDetails>) {
        let reason = self.state.flags.interrupt_reason.clone();
        self.record(FactKind::UserEscape, reason.as_deref());
        self.hold(Cause::UserEscape { reason }, then, question);
    }

    fn hold(
        &mut self,
        cause: Cause,
        then: Activity,
        question: Option<interrupt_router::InterruptDetails>,
    ) {
        self.state.phase = Phase::Held(Box::new(Held {
            cause: cause.clone(),
            then,
            left: self.state.plan.left().iter().map(|step| step.id).collect(),
            question,
            suggestion: None,
            is_suggesting: false,
        }));
        self.checkpoint("held");
        self.ask(PersonQuestion::HowToGoOn { cause });
    }

    fn cancel(&mut self, event: &PlanEvent, reason: Option<&str>) -> Result<(), Refused> {
        let question_is_open = match &self.state.phase {
            Phase::Ended(_) => return Err(self.out_of_place(event)),
            Phase::Asking { .. } => true,
            Phase::Held(held) => held.question.is_some(),
            Phase::Created | Phase::Working { .. } | Phase::BackingOff { .. } => false,
        };
        if question_is_open {
            self.withdraw_question();
        }
        self.state.flags = super::state::Flags::default();
        self.record(FactKind::Cancelled, reason);
        self.end(PlanEnd::Cancelled {
            reason: reason.map(str::to_owned),
        });
        Ok(())
    }

    fn withdraw_question(&mut self) {
        self.record(FactKind::QuestionWithdrawn, None);
        self.effects.push(PlanEffect::WithdrawQuestion);
    }

    fn end(&mut self, end: PlanEnd) {
        self.state.phase = Phase::Ended(end.clone());
        self.checkpoint("ended");
        self.effects.push(PlanEffect::End(end));
    }
}
