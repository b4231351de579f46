//! Runs the workflow's model calls: takes the effects that ask a model, returns the events that follow.

use std::sync::Arc;

use engine::run::recorder::{CallNotes, Recorder};
use interrupt_router::answer::AnswerError;
use interrupt_router::ask::{AskError, Asker};
use interrupt_router::context::{LlmCallContext, RouteSnapshot};
use interrupt_router::model::{ChunkSink, Message, ModelCaller, ModelError, Purpose};
use interrupt_router::{InterruptDetails, NodeId, Outcome, ParseIdError, Routing, RunId};
use planning::PlanRole;

use super::prompts;
use super::records::{ExecutorRouting, PlannerRouting, ReplannerRouting};
use planning::{Failure, PlanEvent, PlanExecute, PlanStep, PlanningCall};

/// Why a model gave no event.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PlanAgentsError {
    /// The run's first node has an id that is too long to append its agents' names.
    #[error(transparent)]
    NodeId(#[from] ParseIdError),
    /// An answer that does not have exactly one route.
    #[error("an answer of the {} has no route", .0.segment())]
    NoRoute(PlanRole),
    /// What the model was asked or answered could not be recorded, or was recorded differently.
    #[error("a call of the model is not recorded")]
    Unrecorded(#[source] ModelError),
}

/// Asks models on behalf of a workflow.
pub struct PlanAgents {
    /// Makes the model calls.
    pub asker: Asker,
    /// The run.
    pub run: RunId,
    /// The run's first node; the agents' are below it.
    pub root: NodeId,
    /// Receives events about calls that wait for their next try.
    pub recorder: Option<Arc<Recorder>>,
}

impl PlanAgents {
    /// Asks for a plan, a change or an answer. `turn` counts what the run has asked, from 1.
    ///
    /// A mistake of the model is returned as an event too: as a failure.
    ///
    /// # Errors
    ///
    /// [`PlanAgentsError`] if nothing could be asked at all.
    ///
    /// # Cancel safety
    ///
    /// Dropped, the call ends; nothing of it is kept. Stop `scope` instead to get [`PlanEvent::CallStopped`].
    pub async fn ask(
        &self,
        state: &PlanExecute,
        asking: &PlanningCall,
        turn: u32,
        scope: &interrupt_router::StopScope,
    ) -> Result<PlanEvent, PlanAgentsError> {
        let (role, task) = match asking {
            PlanningCall::Plan => (PlanRole::Planner, prompts::first_plan()),
            PlanningCall::Replan => {
                let (role, task) = (PlanRole::Replanner, prompts::look_again());
                let asked = self.routing::<ReplannerRouting>(state, role, task, turn, scope);
                return asked.await?.or_event(role, after_replanning);
            }
            PlanningCall::ForcedReplan { request } | PlanningCall::Suggestion { request } => {
                (PlanRole::Replanner, prompts::change(request))
            }
        };
        let asked = self
            .routing::<PlannerRouting>(state, role, task, turn, scope)
            .await?;
        let is_suggestion = matches!(asking, PlanningCall::Suggestion { .. });
        asked.or_event(role, |routing| after_planning(routing, is_suggestion))
    }

    /// Lets a model carry out a step. `turn` counts what the run has asked, from 1.
    ///
    /// # Errors
    ///
    /// [`PlanAgentsError`] if nothing could be asked at all.
    ///
    /// # Cancel safety
    ///
    /// As [`PlanAgents::ask`].
    pub async fn run_step(
        &self,
        state: &PlanExecute,
        step: &PlanStep,
        turn: u32,
        scope: &interrupt_router::StopScope,
    ) -> Result<PlanEvent, PlanAgentsError> {
        let role = PlanRole::Executor;
        let asked = self
            .routing::<ExecutorRouting>(state, role, prompts::step(step), turn, scope)
            .await?;
        asked.or_event(role, |routing| {
            let done = routing.step_report.map(|report| PlanEvent::StepDone {
                step: step.id,
                result: report.result.into(),
                outcome: report.outcome,
            });
            done.or(asked_by(routing.interrupt_request))
        })
    }

    async fn routing<R: Routing>(
        &self,
        state: &PlanExecute,
        role: PlanRole,
        task: String,
        turn: u32,
        scope: &interrupt_router::StopScope,
    ) -> Result<Reached<R>, PlanAgentsError> {
        let caller = ModelCaller {
            run: self.run,
            node: self.root.child(role.segment())?,
            agent_type: role.name(),
            purpose: Purpose::Step,
            turn,
            correction: 0,
        };
        let messages: Vec<Message> = prompts::conversation(role, state, task);
        let node = caller.node.clone();
        let mut context = LlmCallContext::<R>::new(caller, messages, RouteSnapshot::default());
        context.chunks = self.recorder.as_ref().map(|recorder| {
            let recorder = Arc::clone(recorder);
            Arc::new(CallNotes { recorder, node }) as Arc<dyn ChunkSink>
        });
        let asked = self.asker.ask(&context, &log_correction, scope).await;
        Ok(match asked {
            Ok(Outcome::Completed(asked)) => Reached::Answer(asked.routing),
            Ok(Outcome::Interrupted { .. }) => Reached::Stopped,
            // The run cannot be recorded: that is no failure of the step, and another try would not be recorded either.
            Err(AskError::Model(error)) if error.is_unrecorded() => {
                return Err(PlanAgentsError::Unrecorded(error));
            }
            Err(error) => Reached::Failed(failure(&error)),
        })
    }
}

/// What a call of the model returned.
enum Reached<R> {
    Answer(R),
    Stopped,
    Failed(Failure),
}

impl<R> Reached<R> {
    fn or_event(
        self,
        role: PlanRole,
        event: impl FnOnce(R) -> Option<PlanEvent>,
    ) -> Result<PlanEvent, PlanAgentsError> {
        match self {
            Self::Answer(routing) => event(routing).ok_or(PlanAgentsError::NoRoute(role)),
            Self::Stopped => Ok(PlanEvent::CallStopped),
            Self::Failed(failure) => Ok(PlanEvent::Failed(failure)),
        }
    }
}

fn asked_by(question: Option<InterruptDetails>) -> Option<PlanEvent> {
    question.map(|question| PlanEvent::Asked { question })
}

fn after_planning(routing: PlannerRouting, is_suggestion: bool) -> Option<PlanEvent> {
    let planned = routing.plan.map(|plan| {
        let tasks = plan.into_tasks();
        if is_suggestion {
            PlanEvent::Suggested { tasks }
        } else {
            PlanEvent::Planned { tasks }
        }
    });
    planned.or(asked_by(routing.interrupt_request))
}

fn after_replanning(routing: ReplannerRouting) -> Option<PlanEvent> {
    let response = routing.response.map(|response| PlanEvent::Responded {
        response: response.summary.into(),
    });
    let planned = routing.plan.map(|plan| PlanEvent::Planned {
        tasks: plan.into_tasks(),
    });
    response.or(planned).or(asked_by(routing.interrupt_request))
}

/// The whole chain of causes: a later reader has nothing else.
fn failure(error: &AskError) -> Failure {
    let mut text = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(source) = cause {
        text.push_str(": ");
        text.push_str(&source.to_string());
        cause = source.source();
    }
    let is_recoverable = match error {
        AskError::Model(error) => error.is_transient(),
        AskError::Spent { .. } | _ => false,
    };
    Failure {
        error: text,
        is_recoverable,
    }
}

fn log_correction(correction: u32, error: &AnswerError) {
    tracing::info!(
        correction,
        path = error.path(),
        reason = error.reason(),
        "asked again"
    );
}
