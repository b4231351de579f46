//! A run in the foreground: from its order, or from where it stood, to its end.

use std::io::{self, IsTerminal};
use std::sync::Arc;

use agents::catalogue;
use agents::plan_execute::execute_plan;
use agents::run::{
    Goal, Run, RunConfig, RunObserver, RunOccurrence, RunOrder, RunReport, RunStatus, Workflow,
};
use agents::workspace::{Workspace, WorkspaceError};
use interrupts::manager::{KeptRun, RunEnd, StopRequest, Target};
use interrupts::signals::OsSignals;
use llm::{JsonSchemaConstraints, Pace, Script};
use routing_core::handler::HandlerPolicy;
use routing_core::model::LanguageModel;
use routing_core::{RunId, StopMode, StopSource, SystemClock};

use super::ending::Ending;
use super::limits::OuterLimits;
use super::notes;
use super::talk::Talk;
use crate::actor::actor;
use crate::arguments::Global;
use crate::exit::{Exit, Failure, causes};
use crate::keep::{Keeping, Kept, SeenSignal, Spoken};
use crate::model::{ModelChoice, Rehearsal, Watched};
use crate::reviewer::InterruptCount;
use crate::stage::Stage;
use crate::storage::Storage;
use crate::tooling::{InterruptedTools, Opened, Prepared};

/// How fast the rehearsal speaks where somebody watches, in tokens a second.
const WATCHED_PACE: u32 = 400;

/// Whether a run begins or goes on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::commands) enum Begin {
    /// It begins.
    New,
    /// It goes on, with new input where there is some.
    GoesOn {
        /// A letter for the agent that has the turn.
        input: Option<String>,
    },
}

/// Everything that was checked before a run starts.
pub(in crate::commands) struct Work {
    order: RunOrder,
    goal: Goal,
    workspace: Workspace,
    model: Arc<dyn LanguageModel>,
    script: Option<Script>,
    limits: OuterLimits,
    /// What its agents may use.
    tools: Option<Prepared>,
    /// What should be known before the run starts.
    notes: Vec<String>,
}

impl Work {
    /// Checks all that an order needs.
    ///
    /// # Errors
    ///
    /// Where the folder, the model or the script cannot be had.
    pub(in crate::commands) fn prepare(
        order: RunOrder,
        limits: OuterLimits,
        talk: &Talk,
    ) -> anyhow::Result<Self> {
        let choice = ModelChoice::parse(&order.model, order.base_url.clone())?;
        let goal = Goal::new(order.goal.clone())
            .map_err(|error| Failure::new(Exit::Usage, error.to_string()))?;
        let script = match &order.script {
            Some(text) => Some(
                Script::parse(text, &catalogue::script_vocabulary())
                    .map_err(|error| Failure::new(Exit::Usage, format!("the script: {error}")))?,
            ),
            None => None,
        };
        let workspace = Workspace::open(std::path::Path::new(&order.workspace))
            .map_err(|error| no_workspace(&error))?;
        let is_watched = io::stdout().is_terminal() && io::stderr().is_terminal();
        let default_pace = if is_watched { WATCHED_PACE } else { 0 };
        let steers =
            |script: &Script| !script.interrupts().is_empty() || !script.answers().is_empty();
        let is_deaf = choice != ModelChoice::Rehearsal && script.as_ref().is_some_and(steers);
        let model = choice.open(Rehearsal {
            seed: order.seed,
            pace: Pace::from_tokens_per_second(talk.pace.unwrap_or(default_pace)),
            material: workspace.material(),
            script: script.clone(),
        })?;
        limits.check(model.name())?;
        let tools = order.tools.as_ref().map(Prepared::of).transpose()?;
        let notes = notes::notes(&workspace, is_deaf);
        Ok(Self {
            order,
            goal,
            workspace,
            model,
            script,
            limits,
            tools,
            notes,
        })
    }
}

fn no_workspace(error: &WorkspaceError) -> Failure {
    Failure::new(Exit::NotFound, causes(error)).hint(error.hint())
}

/// Runs to the end, or to where the run is paused or has to wait.
///
/// # Errors
///
/// Where the run cannot be taken, or fails.
///
/// # Cancel safety
///
/// Dropped, the run stands in the store as if this process had died.
pub(in crate::commands) async fn perform(
    id: RunId,
    begin: Begin,
    work: Work,
    talk: Talk,
    storage: Storage,
    global: Global,
) -> anyhow::Result<Exit> {
    // From here on no signal ends the process by itself.
    let signals = OsSignals::listen()?;
    let keeping = Keeping::over(storage)?;
    if begin == Begin::New {
        keeping.create(id, work.order.to_content()?).await?;
    }
    let kept = keeping.take(id, work.order.workflow).await?;
    let input = match begin {
        Begin::New => None,
        Begin::GoesOn { input } => {
            let content = input
                .as_ref()
                .map(|input| serde_json::json!({ "input": input }).to_string());
            let lifted = kept.run.resume(&actor()?, content).await?;
            // Where a pause was lifted, its decision carries the input.
            input.filter(|_input| lifted.is_empty())
        }
    };
    kept.run.begin().await?;
    let unread = unread(&kept);
    let stage_thread = Stage::open(talk.report(global), unread)?;
    let stage = stage_thread.stage();
    let seen = SeenSignal::default();
    let settings = work.limits.signals(actor()?)?;
    let listening = keeping.listen(
        signals,
        settings,
        Spoken::new(stage.clone(), seen.clone(), work.tools.is_some()),
    );
    for note in &work.notes {
        stage.notice(note.clone());
    }
    let model = Arc::new(Watched::new(Arc::clone(&work.model), stage.clone()));
    let executed = execute(&keeping, &kept, input, work, talk, &stage, &model, global);
    let report = executed.await?;
    let limited = kept.control.was_limited();
    let settled = settle(kept, &report).await;
    // The signals are heard until all is written: whoever reads may have stopped to.
    let last = report.clone();
    let written = tokio::task::spawn_blocking(move || stage_thread.finish(last))
        .await
        .unwrap_or_else(|error| Err(io::Error::other(error)));
    drop(listening);
    settled?;
    if let Err(error) = written {
        let message = format!("the output could not be written to its end: {error}");
        return Err(Failure::new(Exit::Failure, message).into());
    }
    let ending = Ending {
        status: &report.status,
        trouble: model.trouble(),
        signal: seen.exit(),
        limited,
    };
    match ending.failure() {
        Some(failure) => Err(failure.into()),
        None => Ok(ending.exit()),
    }
}

/// Stops a run whose output nobody reads any more.
fn unread(kept: &Kept) -> impl Fn() + Send + Sync + 'static {
    let requests = kept.run.requests();
    let run = kept.run.run();
    move || {
        let Ok(by) = actor() else {
            return;
        };
        let message = "nobody reads the output any more";
        let _handle = requests.request(StopRequest {
            mode: StopMode::Immediate,
            source: StopSource::System,
            ..StopRequest::pause(Target::Run(run), by, message)
        });
    }
}

#[expect(
    clippy::too_many_arguments,
    reason = "the parts of one run, each made where it can fail by itself"
)]
async fn execute(
    keeping: &Keeping,
    kept: &Kept,
    input: Option<String>,
    work: Work,
    talk: Talk,
    stage: &Stage,
    model: &Arc<Watched>,
    global: Global,
) -> anyhow::Result<RunReport> {
    let count = Arc::new(InterruptCount::default());
    let reviewer = talk.reviewer(work.script.as_ref(), &count, stage, global)?;
    let supervisor_steps = work
        .script
        .as_ref()
        .map(|script| script.supervisor_steps().to_vec())
        .unwrap_or_default();
    let paid = work
        .limits
        .paid(Arc::clone(model) as Arc<dyn LanguageModel>, kept)?;
    let interrupted = Arc::new(InterruptedTools::default());
    let tools = match work.tools {
        Some(prepared) => Some(prepared.open(|note| stage.notice(note)).await?),
        None => None,
    };
    let config = RunConfig {
        run: kept.run.run(),
        goal: work.goal,
        workspace: work.workspace,
        model: paid,
        constraints: Arc::new(JsonSchemaConstraints::new()),
        reviewer,
        observer: Arc::new(Observers(vec![
            count,
            Arc::clone(&interrupted) as Arc<_>,
            Arc::new(stage.clone()),
        ])),
        supervisor_steps,
        limits: work.order.limits,
        policy: HandlerPolicy::default(),
        clock: Arc::new(SystemClock),
        tools: tools.as_ref().map(Opened::agents),
        store: keeping.run_store(kept, input, work.limits.policy()),
    };
    let watched = work.limits.watch(kept)?;
    let scope = kept.run.scope();
    let report = match work.order.workflow {
        Workflow::Agents => {
            let run = Run::new(config);
            kept.inbox.open(run.inbox());
            let report = run.execute(&scope).await;
            kept.inbox.close();
            report
        }
        Workflow::PlanExecute => execute_plan(config, &scope).await,
    };
    drop(watched);
    if interrupted.any() {
        stage.notice(tools::wording::CHOICES);
    }
    if let Some(tools) = tools {
        tools.close(|note| stage.notice(note)).await;
    }
    Ok(report)
}

/// Gives the run back: what was asked of it by now is recorded first.
pub(in crate::commands) async fn settle(kept: Kept, report: &RunReport) -> anyhow::Result<()> {
    let Kept { run, .. } = kept;
    let end = match &report.status {
        RunStatus::Completed { .. } => RunEnd::Completed,
        RunStatus::Waiting { .. } => RunEnd::Waiting {
            reason: "it waits for an answer".to_owned(),
        },
        RunStatus::Paused { .. } => RunEnd::Stopped,
        RunStatus::Cancelled { reason, .. } => RunEnd::Cancelled {
            reason: reason.clone(),
        },
        RunStatus::Failed {
            resumable: true, ..
        } => RunEnd::Stopped,
        RunStatus::Failed { error, .. } => RunEnd::Failed {
            reason: error.clone(),
        },
    };
    // Whatever else still holds it for a moment: dropped, it is let go, and its lease runs out.
    if let Ok(run) = Arc::<KeptRun>::try_unwrap(run) {
        run.settle(end).await?;
    }
    Ok(())
}

/// Tells each of them, in this order.
struct Observers(Vec<Arc<dyn RunObserver>>);

impl RunObserver for Observers {
    fn observe(&self, occurrence: &RunOccurrence) {
        for observer in &self.0 {
            observer.observe(occurrence);
        }
    }
}
