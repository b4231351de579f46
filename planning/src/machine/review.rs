//! What a person does while the workflow is stopped for them.

use super::{StateDraft, step_of};
use crate::effect::{FactKind, PersonQuestion, PlanEffect, PlanningCall};
use crate::event::{PlanEvent, Refused};
use crate::plan::{Plan, StepId};
use crate::state::{Activity, Held, Phase};

impl StateDraft {
    pub(super) fn review(&mut self, event: &PlanEvent) -> Result<(), Refused> {
        let Phase::Held(held) = self.state.phase.clone() else {
            return Err(self.out_of_place(event));
        };
        match event {
            PlanEvent::Modify { request } => self.modify(*held, request),
            PlanEvent::Resume => {
                self.resume(*held);
                Ok(())
            }
            PlanEvent::Suggest { request } => self.suggest(request),
            PlanEvent::Propose { tasks } => self.propose(tasks),
            PlanEvent::Suggested { tasks } => self.suggested(event, tasks),
            PlanEvent::ApplySuggestion => {
                let tasks = held
                    .suggestion
                    .ok_or(Refused::NothingTo { event: "apply" })?;
                self.edit(&tasks)
            }
            PlanEvent::Edit { tasks } => self.edit(tasks),
            PlanEvent::Undo => {
                let before = self.state.history.undo(&self.state.plan);
                self.turn_back(event, FactKind::Undone, before)
            }
            PlanEvent::Redo => {
                let again = self.state.history.redo(&self.state.plan);
                self.turn_back(event, FactKind::Redone, again)
            }
            PlanEvent::Start
            | PlanEvent::Planned { .. }
            | PlanEvent::StepDone { .. }
            | PlanEvent::Responded { .. }
            | PlanEvent::Asked { .. }
            | PlanEvent::Answered { .. }
            | PlanEvent::CallStopped
            | PlanEvent::Failed(_)
            | PlanEvent::RetryDue
            | PlanEvent::Told { .. }
            | PlanEvent::Interrupt { .. }
            | PlanEvent::Cancel { .. } => Err(self.out_of_place(event)),
        }
    }

    /// The plan is made anew, with what the person wants; only then does the workflow go on.
    fn modify(&mut self, held: Held, request: &str) -> Result<(), Refused> {
        let request = request.trim();
        if request.is_empty() {
            return Err(Refused::EmptyRequest);
        }
        self.clear_interrupt();
        self.state.flags.should_force_replan = true;
        self.state.flags.user_modification_request = Some(request.to_owned());
        self.record(FactKind::ModificationRequested, Some(request));
        if held.question.is_some() {
            // Its step may not be there any more; if it is, it begins again and may ask again.
            self.withdraw_question();
        }
        self.checkpoint("modification requested");
        self.go_on();
        Ok(())
    }

    fn clear_interrupt(&mut self) {
        self.state.flags.user_interrupted = false;
        self.state.flags.interrupt_reason = None;
    }

    /// Goes on where the workflow stopped, with the plan as the person may have edited it.
    fn resume(&mut self, held: Held) {
        self.clear_interrupt();
        self.state.attempts = 0;
        self.record(FactKind::Resumed, None);
        match self.still_wanted(held.then, &held.left) {
            None => {
                if held.question.is_some() {
                    self.withdraw_question();
                }
                self.go_on();
            }
            Some(activity) => match held.question {
                None => self.take_up(activity),
                Some(question) => {
                    self.record(FactKind::QuestionShownAgain, Some(&question.reason));
                    let step = step_of(&activity);
                    self.state.phase = Phase::Asking {
                        activity,
                        question: question.clone(),
                    };
                    self.checkpoint("asking");
                    self.ask(PersonQuestion::Question { step, question });
                }
            },
        }
    }

    /// What the workflow was working on, unless the person's edit has made that obsolete.
    fn still_wanted(&self, then: Activity, left: &[StepId]) -> Option<Activity> {
        let steps = self.state.plan.left();
        let wanted = match &then {
            Activity::Executing { step } => steps.first().is_some_and(|next| next.id == *step),
            // Activities that look at the plan, or end it, were about the old plan.
            Activity::Planning | Activity::Replanning | Activity::Finishing { .. } => {
                steps.iter().map(|step| &step.id).eq(left)
            }
            // The person's request is carried out on the current plan.
            Activity::ForcedReplanning => true,
        };
        wanted.then_some(then)
    }

    /// Begins what was under way again, with the answers that its agent has got.
    fn take_up(&mut self, activity: Activity) {
        if matches!(activity, Activity::Finishing { .. }) {
            self.begin(activity);
        } else {
            self.checkpoint("resumed");
            self.perform(&activity);
            self.state.phase = Phase::Working { activity };
        }
    }

    pub(super) fn held(&mut self) -> Option<&mut Held> {
        match &mut self.state.phase {
            Phase::Held(held) => Some(held),
            Phase::Created
            | Phase::Working { .. }
            | Phase::Asking { .. }
            | Phase::BackingOff { .. }
            | Phase::Ended(_) => None,
        }
    }

    fn suggest(&mut self, request: &str) -> Result<(), Refused> {
        let request = request.trim().to_owned();
        if request.is_empty() {
            return Err(Refused::EmptyRequest);
        }
        if let Some(held) = self.held() {
            held.is_suggesting = true;
            held.suggestion = None;
        }
        self.effects
            .push(PlanEffect::AskModel(PlanningCall::Suggestion { request }));
        Ok(())
    }

    /// Keeps a change to be looked at, in place of the one that was kept before.
    fn propose(&mut self, tasks: &[String]) -> Result<(), Refused> {
        // Tasks that make no plan are no proposal.
        self.state.plan.revised(tasks)?;
        if let Some(held) = self.held() {
            held.is_suggesting = false;
            held.suggestion = Some(tasks.iter().map(|task| task.trim().to_owned()).collect());
        }
        self.checkpoint("proposed");
        Ok(())
    }

    fn suggested(&mut self, event: &PlanEvent, tasks: &[String]) -> Result<(), Refused> {
        // Tasks that make no plan are no suggestion.
        self.state.plan.revised(tasks)?;
        let out_of_place = self.out_of_place(event);
        let held = self.held().filter(|held| held.is_suggesting);
        let held = held.ok_or(out_of_place)?;
        held.is_suggesting = false;
        held.suggestion = Some(tasks.to_vec());
        self.checkpoint("suggested");
        Ok(())
    }

    fn edit(&mut self, tasks: &[String]) -> Result<(), Refused> {
        let plan = &self.state.plan;
        let revised = plan.revised(tasks)?.applied_over(plan);
        self.forget_suggestion();
        self.change_plan(revised);
        Ok(())
    }

    pub(super) fn forget_suggestion(&mut self) {
        if let Some(held) = self.held() {
            held.suggestion = None;
            held.is_suggesting = false;
        }
    }

    fn turn_back(
        &mut self,
        event: &PlanEvent,
        kind: FactKind,
        plan: Option<Plan>,
    ) -> Result<(), Refused> {
        let event = event.name();
        let plan = plan.ok_or(Refused::NothingTo { event })?;
        self.state.plan = plan.applied_over(&self.state.plan);
        self.forget_suggestion();
        self.record(kind, None);
        self.checkpoint("plan changed");
        Ok(())
    }
}
