//! The workflow's own path: plan, carry out a step, look at the plan again.

use interrupt_router::InterruptDetails;

use super::{StateDraft, step_of};
use crate::effect::{FactKind, PersonQuestion, PlanEffect, PlanningCall};
use crate::event::{Failure, PlanEvent, Refused};
use crate::plan::{Plan, StepId};
use crate::state::{Activity, Cause, Phase, PlanEnd};
use crate::step_outcome::StepOutcome;

impl StateDraft {
    pub(super) fn work(&mut self, event: &PlanEvent) -> Result<(), Refused> {
        match (event, self.state.phase.clone()) {
            (PlanEvent::Start, Phase::Created) => {
                self.begin(Activity::Planning);
                Ok(())
            }
            (PlanEvent::Answered { answer }, Phase::Asking { activity, question }) => {
                self.answered(activity, &question, answer);
                Ok(())
            }
            (PlanEvent::RetryDue, Phase::BackingOff { activity, .. }) => {
                self.perform(&activity);
                self.state.phase = Phase::Working { activity };
                Ok(())
            }
            // A person continues a finished plan, and says how.
            (PlanEvent::Told { messages }, Phase::Ended(_)) => {
                self.take_messages(messages);
                Ok(())
            }
            (_, Phase::Working { activity }) => self.worked(event, activity),
            (
                PlanEvent::Failed(_) | PlanEvent::CallStopped | PlanEvent::Asked { .. },
                Phase::Held(held),
            ) if held.is_suggesting => {
                self.forget_suggestion();
                Ok(())
            }
            _ => Err(self.out_of_place(event)),
        }
    }

    /// Handles the outcome of what was under way.
    fn worked(&mut self, event: &PlanEvent, activity: Activity) -> Result<(), Refused> {
        match (event, activity) {
            (PlanEvent::Asked { question }, activity) => self.agent_asks(activity, question),
            (PlanEvent::CallStopped, activity) => self.stopped(event, activity)?,
            (PlanEvent::Told { messages }, Activity::Executing { .. } | Activity::Replanning) => {
                self.take_messages(messages)
            }
            (PlanEvent::Failed(failure), activity) => self.failed(activity, failure),
            // Otherwise the same question would be asked again and again.
            (PlanEvent::Planned { tasks }, Activity::Replanning) if tasks.is_empty() => {
                let failure = Failure {
                    error: "the replanner left no step and gave no answer".to_owned(),
                    is_recoverable: true,
                };
                self.failed(Activity::Replanning, &failure);
            }
            (
                PlanEvent::Planned { tasks },
                Activity::Planning | Activity::Replanning | Activity::ForcedReplanning,
            ) => {
                // Steps that make no plan are refused before they are compared with the plan.
                let revised = self.state.plan.revised(tasks)?;
                if !self.asks_about_open_steps(tasks) {
                    self.planned(revised);
                }
            }
            (PlanEvent::Responded { response }, Activity::Replanning) => {
                if !self.asks_about_open_steps(&[]) {
                    let response = response.clone();
                    self.begin(Activity::Finishing { response });
                }
            }
            (
                PlanEvent::StepDone {
                    step,
                    result,
                    outcome,
                },
                Activity::Executing { step: current },
            ) => {
                if *step != current {
                    return Err(Refused::OtherStep {
                        given: *step,
                        current,
                    });
                }
                self.step_done(current, result, *outcome);
            }
            _ => return Err(self.out_of_place(event)),
        }
        Ok(())
    }

    /// Begins something. Before a step, and before the end, a person's interrupt goes first.
    pub(super) fn begin(&mut self, activity: Activity) {
        self.state.attempts = 0;
        self.state.answers.clear();
        let is_boundary = matches!(
            activity,
            Activity::Executing { .. } | Activity::Finishing { .. }
        );
        if is_boundary && self.state.flags.user_interrupted {
            self.escape(activity, None);
            return;
        }
        if let Activity::Finishing { response } = activity {
            self.record(FactKind::Completed, None);
            self.end(PlanEnd::Completed { response });
            return;
        }
        self.perform(&activity);
        self.state.phase = Phase::Working { activity };
    }

    /// What an activity wants done.
    pub(super) fn perform(&mut self, activity: &Activity) {
        let request = self.state.flags.user_modification_request.clone();
        let asking = match activity {
            Activity::Planning => PlanningCall::Plan,
            Activity::Replanning => PlanningCall::Replan,
            Activity::ForcedReplanning => PlanningCall::ForcedReplan {
                request: request.unwrap_or_default(),
            },
            Activity::Executing { step } => {
                let steps = self.state.plan.left();
                let step = steps.iter().find(|other| other.id == *step).cloned();
                self.effects.extend(step.map(PlanEffect::RunStep));
                return;
            }
            Activity::Finishing { .. } => return,
        };
        self.effects.push(PlanEffect::AskModel(asking));
    }

    /// Goes on with the plan: a change that a person wants, the next step, or the question whether that was all.
    pub(super) fn go_on(&mut self) {
        let next = self.state.plan.next().map(|step| step.id);
        self.begin(match next {
            _ if self.state.flags.should_force_replan => Activity::ForcedReplanning,
            Some(step) => Activity::Executing { step },
            None => Activity::Replanning,
        });
    }

    fn planned(&mut self, revised: Plan) {
        self.change_plan(revised);
        self.requests_are_done();
        self.go_on();
    }

    /// What the person wanted is in the plan now, or in what the person is asked about.
    fn requests_are_done(&mut self) {
        self.state.flags.should_force_replan = false;
        self.state.flags.user_modification_request = None;
    }

    /// Whether a person must be asked: a model removes no step that a person applied. If these tasks would leave one
    /// out, the person is asked, and the tasks are the suggestion.
    fn asks_about_open_steps(&mut self, tasks: &[String]) -> bool {
        let steps = self.state.plan.applied_without(tasks);
        let Some(next) = self.state.plan.next().map(|step| step.id) else {
            return false;
        };
        if steps.is_empty() {
            return false;
        }
        self.requests_are_done();
        let names: Vec<&str> = steps.iter().map(|step| step.task.as_str()).collect();
        self.record(FactKind::OpenSteps, Some(&names.join("; ")));
        let then = Activity::Executing { step: next };
        if self.state.flags.user_interrupted {
            self.escape(then, None);
        } else {
            self.hold(Cause::OpenSteps { steps }, then, None);
        }
        if let Some(held) = self.held() {
            held.suggestion = Some(tasks.iter().map(|task| task.trim().to_owned()).collect());
        }
        true
    }

    pub(super) fn change_plan(&mut self, plan: Plan) {
        if plan.left() != self.state.plan.left() {
            self.state.history.changed(&self.state.plan);
            self.state.plan = plan;
            self.record(FactKind::PlanChanged, None);
            self.checkpoint("plan changed");
        }
    }

    fn step_done(&mut self, step: StepId, result: &str, outcome: StepOutcome) {
        self.state.plan.finish(step, result.to_owned());
        self.record(FactKind::StepDone, None);
        self.checkpoint("step done");
        match outcome {
            StepOutcome::Proceed => self.go_on(),
            StepOutcome::Replan => self.begin(Activity::Replanning),
        }
    }

    /// An agent asks. A person who has interrupted meanwhile goes first, and the question is held.
    fn agent_asks(&mut self, activity: Activity, question: &InterruptDetails) {
        self.record(FactKind::HumanInput, Some(&question.reason));
        if self.state.flags.user_interrupted {
            self.record(FactKind::Clash, Some(&question.reason));
            self.escape(activity, Some(question.clone()));
            return;
        }
        let step = step_of(&activity);
        let question = question.clone();
        self.state.phase = Phase::Asking {
            activity,
            question: question.clone(),
        };
        self.checkpoint("asking");
        self.ask(PersonQuestion::Question { step, question });
    }

    /// An agent goes on with its answer; the plan stays as it is.
    fn answered(&mut self, activity: Activity, question: &InterruptDetails, answer: &str) {
        self.record(FactKind::Answered, None);
        let asked = question.reason.clone();
        self.state.answers.push((asked, answer.to_owned()));
        self.checkpoint("answered");
        self.perform(&activity);
        self.state.phase = Phase::Working { activity };
    }

    /// What was under way was stopped by a person's interrupt, and is begun again later.
    fn stopped(&mut self, event: &PlanEvent, activity: Activity) -> Result<(), Refused> {
        if !self.state.flags.user_interrupted {
            return Err(self.out_of_place(event));
        }
        self.escape(activity, None);
        Ok(())
    }

    /// Messages came before the next work has begun: the plan is first made anew with them.
    fn take_messages(&mut self, messages: &[String]) {
        for message in messages {
            self.record(FactKind::Told, Some(message));
        }
        let flags = &mut self.state.flags;
        flags.should_force_replan = true;
        let wanted = flags.user_modification_request.iter();
        let wanted: Vec<&str> = wanted.chain(messages).map(String::as_str).collect();
        flags.user_modification_request = Some(wanted.join("\n"));
        self.checkpoint("messages read");
        self.begin(Activity::ForcedReplanning);
    }

    fn failed(&mut self, activity: Activity, failure: &Failure) {
        self.state.attempts += 1;
        let attempts = self.state.attempts;
        let error = failure.error.clone();
        if self.state.flags.user_interrupted {
            self.record(FactKind::Retry, Some(&error));
            self.escape(activity, None);
        } else if failure.is_recoverable && attempts <= self.state.retries.most {
            self.record(FactKind::Retry, Some(&error));
            self.effects
                .push(PlanEffect::Wait(self.state.retries.wait(attempts)));
            self.state.phase = Phase::BackingOff {
                activity,
                attempts,
                error,
            };
        } else {
            self.record(FactKind::SystemError, Some(&error));
            self.hold(Cause::SystemError { error, attempts }, activity, None);
        }
    }
}
