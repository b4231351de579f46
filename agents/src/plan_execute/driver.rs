//! Runs a plan durably: performs every effect of the workflow, records it, and never repeats it.
//!
//! The workflow is a value that each checkpoint holds whole, so a resumed run begins with its last checkpoint and not
//! from its start. What was under way then is begun again; if a model had answered by then, its answer is read from the
//! journal.

mod active_plan;
mod answered;
mod begin;
mod call;
mod editor;
mod messages;
mod nodes;
mod question;
mod review;
mod snapshot;

use std::ops::Deref;
use std::sync::Arc;

use interrupt_router::model::LanguageModel as _;
use interrupt_router::{NodeId, StopMode, StopReason, StopScope, StopSource};
use jiff::Timestamp;
use tokio::sync::Mutex;

use super::news::{PlanNews, PlanProgress};
use super::plan_agents::PlanAgents;
use crate::catalogue::of_workflow;
use crate::run::Goal;
use crate::workflow::failure::FlowError;
use crate::workspace::Workspace;
use engine::run::{
    CheckpointContent, Kinds, LiveRun, RunEnd, RunEvent, RunReport, RunSettings, WorkflowParts,
};
use journal::Workflow;
use journal::error::KeepError;
use planning::{
    Cause, Failure, PersonQuestion, Phase, PlanEffect, PlanEnd, PlanEvent, PlanExecute,
    PlanSnapshot, Refused, RetryPolicy, RevisionError,
};

pub use editor::{PlanChange, PlanEditing, change_plan};

/// Plan and execute, at work on a goal.
#[derive(Debug, Clone)]
pub struct PlanWorkflow {
    /// What shall be planned and carried out.
    pub goal: Goal,
    /// The folder that it works in, whose name is shown.
    pub workspace: Workspace,
}

impl PlanWorkflow {
    /// Runs or resumes a plan and reports its end. All that it started has ended then, and what the report says is
    /// recorded.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future ends all work of the run at once and reports nothing; what was recorded is kept, and the run
    /// can be resumed. Stop `scope` instead.
    pub async fn execute(self, settings: RunSettings, scope: &StopScope) -> RunReport {
        let driver = Driver::new(self, settings, scope);
        let live = Arc::clone(&driver.live);
        let driver = Arc::new(Mutex::new(driver));
        let worked = Arc::clone(&driver);
        let work = async |_start| {
            let work = async move { worked.lock().await.through().await };
            live.work(work, scope).await
        };
        let give_up = async |reason| driver.lock().await.give_up(reason).await;
        live.execute_or_give_up("plan-execute", scope, work, give_up)
            .await
    }
}

/// One execution of a plan.
struct Driver {
    live: Arc<LiveRun>,
    plan_agents: Arc<PlanAgents>,
    scope: StopScope,
    root: NodeId,
    snapshot: PlanSnapshot,
    /// Whether messages that come now are read.
    takes_messages: bool,
    /// Why a decision was not carried out, until that is reported.
    revision_error: Option<RevisionError>,
    /// The name of the folder, for observers.
    workspace: String,
}

/// Gives access to what all runs share.
impl Deref for Driver {
    type Target = LiveRun;

    fn deref(&self) -> &LiveRun {
        &self.live
    }
}

/// An event does not fit the plan's state.
#[derive(Debug, thiserror::Error)]
#[error("the plan cannot go on")]
struct CannotGoOn(#[source] Refused);

/// A decided change no longer fits the plan.
#[derive(Debug, thiserror::Error)]
#[error("what was decided about the plan is not carried out")]
struct NotCarriedOut(#[source] RevisionError);

/// The hint for that failure.
const HINT_UNFIT: &str = "the plan stands as it stood: `irq plan RUN` shows it; change it again, or resume the run with it";

/// What follows from an effect.
enum EffectOutcome {
    Event(PlanEvent),
    /// Effects to perform next, from what has happened already.
    Effects(Vec<PlanEffect>),
    Rest(RunEnd),
}

impl Driver {
    fn new(workflow: PlanWorkflow, settings: RunSettings, scope: &StopScope) -> Self {
        let PlanWorkflow { goal, workspace } = workflow;
        let parts = WorkflowParts {
            kinds: Kinds::default(),
            catalogue: of_workflow(&Workflow::PlanExecute),
            checkpoints: CheckpointContent::Workflow,
        };
        let live = Arc::new(LiveRun::new(parts, settings));
        let root = NodeId::root();
        let plan_agents = PlanAgents {
            recorder: Some(Arc::clone(&live.recorder)),
            asker: live.asker.clone(),
            run: live.run,
            root: root.clone(),
        };
        Self {
            live,
            plan_agents: Arc::new(plan_agents),
            scope: scope.clone(),
            root,
            snapshot: PlanSnapshot::new(PlanExecute::new(goal.as_str(), RetryPolicy::default())),
            takes_messages: true,
            revision_error: None,
            workspace: workspace.name().to_owned(),
        }
    }

    /// Runs until it rests. An error that can be fixed is a stop by the system, which holds the plan.
    async fn through(&mut self) -> Result<RunEnd, FlowError> {
        let end = self.work().await;
        if let Err(error) = &end
            && error.is_resumable()
            && !error.is_of_the_store()
        {
            let effects = self.stand_still(&error.chain())?;
            self.record(&effects).await?;
        }
        end
    }

    /// Cancels the plan in its current state.
    async fn give_up(&mut self, reason: String) -> Result<(), FlowError> {
        let reason = Some(reason);
        let effects = self.apply(&PlanEvent::Cancel { reason })?;
        self.record(&effects).await
    }

    async fn work(&mut self) -> Result<RunEnd, FlowError> {
        self.go_on().await?;
        self.recorder.record_since(
            RunEvent::Started {
                goal: self.snapshot.state.goal().to_owned(),
                model: self.model.name().to_owned(),
                workspace: self.workspace.clone(),
            },
            self.journal.last(),
        );
        if self.snapshot.state.plan().total() > 0 {
            self.tell_plan();
        }
        let mut effects = self.begin().await?;
        loop {
            effects = match self.perform(effects).await? {
                EffectOutcome::Event(event) => self.happens(event).await?,
                EffectOutcome::Effects(effects) => effects,
                EffectOutcome::Rest(rest) => return Ok(rest),
            }
        }
    }

    fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// Applies an event. Steps that make no plan are a failure of the model that returned them.
    fn apply(&mut self, event: &PlanEvent) -> Result<Vec<PlanEffect>, FlowError> {
        let now = self.now();
        let state = &self.snapshot.state;
        let turn = match state.after(event, now) {
            Err(Refused::NoPlan(error)) => {
                let failure = Failure {
                    error: error.to_string(),
                    is_recoverable: true,
                };
                state.after(&PlanEvent::Failed(failure), now)
            }
            turn => turn,
        };
        let turn = turn.map_err(|refused| FlowError::of_workflow(CannotGoOn(refused)))?;
        self.snapshot.state = turn.state;
        Ok(turn.effects)
    }

    /// Performs effects: first records what must be recorded, then does the one thing that the workflow waits for.
    async fn perform(&mut self, effects: Vec<PlanEffect>) -> Result<EffectOutcome, FlowError> {
        self.record(&effects).await?;
        for effect in effects {
            match effect {
                PlanEffect::AskModel(asking) => {
                    let asked = call::PlanCall::Ask(asking);
                    return self.call(asked).await;
                }
                PlanEffect::RunStep(step) => {
                    let step = call::PlanCall::Step(step);
                    return self.call(step).await;
                }
                PlanEffect::AskPerson(PersonQuestion::HowToGoOn {
                    cause: Cause::UserEscape { reason },
                }) => {
                    // An agent's question may be waiting behind it: people must be able to see it.
                    self.raise_open().await?;
                    let reason = reason.unwrap_or_else(|| "interrupted".to_owned());
                    return Ok(EffectOutcome::Rest(self.interrupted_by(reason)));
                }
                PlanEffect::AskPerson(
                    PersonQuestion::Question { .. }
                    | PersonQuestion::HowToGoOn {
                        cause: Cause::SystemError { .. } | Cause::OpenSteps { .. },
                    },
                ) => return self.ask_person().await,
                PlanEffect::Wait(time) => {
                    let event = self.wait(time).await;
                    return Ok(self
                        .rest_if_left()
                        .map_or(EffectOutcome::Event(event), EffectOutcome::Rest));
                }
                PlanEffect::End(end) => return Ok(EffectOutcome::Rest(ended(end))),
                // The owner of the run holds the question as soon as the person's interrupt is recorded.
                PlanEffect::HoldQuestion
                | PlanEffect::WithdrawQuestion
                | PlanEffect::Record(_)
                | PlanEffect::Checkpoint { .. } => {}
            }
        }
        if let Some(revision_error) = self.revision_error.take() {
            // The decision is used up and no person paused the plan: report why it is held.
            return Err(FlowError::resumable(
                NotCarriedOut(revision_error),
                HINT_UNFIT,
            ));
        }
        match self.snapshot.state.phase() {
            Phase::Held(held) => {
                let reason = held_reason(&held.cause);
                Ok(EffectOutcome::Rest(self.interrupted_by(reason)))
            }
            Phase::Created
            | Phase::Working { .. }
            | Phase::Asking { .. }
            | Phase::BackingOff { .. }
            | Phase::Ended(_) => Err(FlowError::Lost {
                detail: "the plan waits for nothing",
            }),
        }
    }

    /// Records what must be durable before anything else follows. A turn is saved once, in its final state.
    async fn record(&mut self, effects: &[PlanEffect]) -> Result<(), FlowError> {
        let mut facts = Vec::new();
        let mut saved = None;
        for effect in effects {
            match effect {
                PlanEffect::Record(fact) => facts.push(fact.clone()),
                PlanEffect::Checkpoint { reason } => saved = Some(*reason),
                PlanEffect::WithdrawQuestion => self.withdraw_open().await?,
                PlanEffect::AskModel(_)
                | PlanEffect::RunStep(_)
                | PlanEffect::AskPerson(_)
                | PlanEffect::HoldQuestion
                | PlanEffect::Wait(_)
                | PlanEffect::End(_) => {}
            }
        }
        let is_new = self.settle_question().await?;
        if is_new && saved.is_none() {
            // A fork asks the checkpoint's question again by itself: its next process has to find it.
            saved = Some(self.snapshot.rests_because());
        }
        self.snapshot.facts.extend(facts.iter().cloned());
        if let Some(reason) = saved {
            self.save(reason).await?;
        }
        self.show_nodes().await?;
        let stands_otherwise = !facts.is_empty();
        for fact in facts {
            self.tell(PlanNews::Fact(fact));
        }
        if stands_otherwise {
            self.tell_plan();
        }
        Ok(())
    }

    /// Sends the plan's steps to observers.
    fn tell_plan(&self) {
        let plan = self.snapshot.state.plan();
        self.tell(PlanNews::Progress(PlanProgress {
            done: plan.finished().to_vec(),
            left: plan.left().to_vec(),
        }));
    }

    fn tell(&self, news: PlanNews) {
        self.recorder.record(news.into());
    }

    /// Saves the workflow's state, and marks the decisions that this carried out.
    async fn save(&mut self, reason: &str) -> Result<(), KeepError> {
        self.snapshot.reason = reason.to_owned();
        let content = serde_json::to_string(&self.snapshot.for_checkpoint())?;
        self.live.save(reason, PlanExecute::FORM, content).await?;
        self.snapshot.facts.clear();
        for effect in std::mem::take(&mut self.snapshot.dispatched) {
            self.journal.dispatched(effect).await?;
        }
        Ok(())
    }

    /// How the run rests if its process leaves it to another one.
    fn rest_if_left(&self) -> Option<RunEnd> {
        self.is_left()
            .then(|| self.scope.reason().map(RunEnd::Interrupted))?
    }

    fn is_left(&self) -> bool {
        self.control().is_some_and(|control| control.is_left())
    }

    /// How the run rests if a person interrupted it, or only a person's decision leads on.
    fn interrupted_by(&self, message: String) -> RunEnd {
        let stopped = self.scope.reason();
        let stopped = stopped.unwrap_or_else(|| StopReason {
            source: StopSource::User,
            mode: StopMode::Graceful,
            message: String::new(),
            timestamp: self.now(),
        });
        RunEnd::Interrupted(StopReason { message, ..stopped })
    }

    /// Waits before something is tried again, or until a person interrupts.
    async fn wait(&self, time: std::time::Duration) -> PlanEvent {
        tokio::select! {
            biased;
            reason = self.scope.stopping() => {
                PlanEvent::Interrupt { reason: Some(reason.message) }
            }
            () = tokio::time::sleep(time) => PlanEvent::RetryDue,
        }
    }
}

fn ended(end: PlanEnd) -> RunEnd {
    match end {
        PlanEnd::Completed { response } => RunEnd::Completed(response),
        PlanEnd::Cancelled { reason } => {
            RunEnd::Stopped(reason.unwrap_or_else(|| "cancelled".to_owned()))
        }
    }
}

fn held_reason(cause: &Cause) -> String {
    match cause {
        Cause::UserEscape { reason } => reason.clone().unwrap_or_else(|| "interrupted".to_owned()),
        Cause::SystemError { error, .. } => error.clone(),
        Cause::OpenSteps { steps } => question::open_steps(steps),
    }
}
