//! `irq run`: the workflow on a folder, from its goal to its end.

mod ending;
mod goal;
mod notes;
mod script;

use std::io::{self, IsTerminal};
use std::sync::Arc;

use agents::run::{
    Goal, Run, RunConfig, RunLimits, RunObserver, RunOccurrence, RunReport, RunStore,
};
use agents::workspace::{Workspace, WorkspaceError};
use interrupts::OwnerName;
use jiff::Timestamp;
use llm::{JsonSchemaConstraints, Pace, Script};
use routing_core::handler::HandlerPolicy;
use routing_core::model::LanguageModel;
use routing_core::review::Reviewer;
use routing_core::{RunId, StopMode, StopReason, StopScope, StopSource, SystemClock};
use store::{MemoryStore, StoreSettings};

use crate::arguments::{Global, RunArguments};
use crate::exit::{Exit, Failure, causes};
use crate::model::{ModelChoice, Rehearsal, Watched};
use crate::palette::{self, Palette};
use crate::report::{CloudEvents, Detail, Live, Palettes, Plain, Report};
use crate::reviewer::{InterruptCount, Lines, Nobody, Scripted, Terminal};
use crate::signals::{SeenSignal, Signals};
use crate::stage::Stage;

use ending::Ending;
use goal::GoalSource;

/// How fast the rehearsal speaks where somebody watches, in tokens a second.
const WATCHED_PACE: u32 = 400;

/// Everything that was checked before the run starts.
struct Prepared {
    goal: Goal,
    workspace: Workspace,
    model: Arc<dyn LanguageModel>,
    script: Option<Script>,
    /// What should be known before the run starts.
    notes: Vec<String>,
    /// Whether standard input is still there for answers.
    input_is_free: bool,
}

/// Runs the workflow.
///
/// # Errors
///
/// Where something is wrong with what the run needs; nothing was started then. A run that fails is an
/// error too.
pub(crate) fn run(arguments: RunArguments, global: Global) -> anyhow::Result<Exit> {
    let prepared = prepare(&arguments)?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?;
    let ended = runtime.block_on(perform(&arguments, global, prepared));
    // A thread that reads the terminal cannot be joined.
    runtime.shutdown_background();
    ended
}

/// Checks all that can be wrong before anything starts, the cheapest first.
fn prepare(arguments: &RunArguments) -> anyhow::Result<Prepared> {
    let choice = ModelChoice::parse(&arguments.model, arguments.base_url.clone())?;
    let script = arguments.script.as_deref().map(script::read).transpose()?;
    let source = GoalSource::of(arguments.goal.as_deref());
    let input_is_free = !source.takes_input();
    let goal = source.read()?;
    let workspace = Workspace::open(&arguments.workspace).map_err(|error| no_workspace(&error))?;
    let is_watched = io::stdout().is_terminal() && io::stderr().is_terminal();
    let default_pace = if is_watched { WATCHED_PACE } else { 0 };
    let steers = |script: &Script| !script.interrupts().is_empty() || !script.answers().is_empty();
    let is_deaf = choice != ModelChoice::Rehearsal && script.as_ref().is_some_and(steers);
    let model = choice.open(Rehearsal {
        seed: arguments.seed,
        pace: Pace::from_tokens_per_second(arguments.pace.unwrap_or(default_pace)),
        material: workspace.material(),
        script: script.clone(),
    })?;
    let notes = notes::notes(&workspace, is_deaf);
    Ok(Prepared {
        goal,
        workspace,
        model,
        script,
        notes,
        input_is_free,
    })
}

fn no_workspace(error: &WorkspaceError) -> Failure {
    Failure::new(Exit::NotFound, causes(error)).hint(error.hint())
}

async fn perform(
    arguments: &RunArguments,
    global: Global,
    prepared: Prepared,
) -> anyhow::Result<Exit> {
    let signals = Signals::catch()?;
    let seen = signals.seen();
    let scope = StopScope::new();
    let stop_unread = scope.clone();
    let stage_thread = Stage::open(report(arguments, global), move || stop(&stop_unread))?;
    let stage = stage_thread.stage();
    let mut tasks = tokio::task::JoinSet::new();
    tasks.spawn(signals.stop_on_signal(scope.clone(), stage.clone()));
    let model = Arc::new(Watched::new(Arc::clone(&prepared.model), stage.clone()));
    for note in &prepared.notes {
        stage.notice(note.clone());
    }
    let config = configure(arguments, global, prepared, &model, &stage)?;
    let report = Run::new(config).execute(&scope).await;
    // The signals are heard until all is written: whoever reads may have stopped to.
    let last = report.clone();
    let written = tokio::task::spawn_blocking(move || stage_thread.finish(last))
        .await
        .unwrap_or_else(|error| Err(io::Error::other(error)));
    tasks.shutdown().await;
    conclude(&report, &model, &seen, written)
}

fn conclude(
    report: &RunReport,
    model: &Watched,
    seen: &SeenSignal,
    written: io::Result<()>,
) -> anyhow::Result<Exit> {
    if let Err(error) = written {
        let message = format!("the output could not be written to its end: {error}");
        return Err(Failure::new(Exit::Failure, message).into());
    }
    let ending = Ending {
        status: &report.status,
        trouble: model.trouble(),
        signal: seen.exit(),
    };
    match ending.failure() {
        Some(failure) => Err(failure.into()),
        None => Ok(ending.exit()),
    }
}

fn configure(
    arguments: &RunArguments,
    global: Global,
    prepared: Prepared,
    model: &Arc<Watched>,
    stage: &Stage,
) -> io::Result<RunConfig> {
    let count = Arc::new(InterruptCount::default());
    let reviewer = reviewer(arguments, global, &prepared, &count, stage)?;
    let defaults = RunLimits::default();
    let supervisor_steps = prepared
        .script
        .as_ref()
        .map(|script| script.supervisor_steps().to_vec())
        .unwrap_or_default();
    Ok(RunConfig {
        run: RunId::generate(),
        goal: prepared.goal,
        workspace: prepared.workspace,
        model: Arc::clone(model) as Arc<dyn LanguageModel>,
        constraints: Arc::new(JsonSchemaConstraints::new()),
        reviewer,
        observer: Arc::new(Observers(vec![count, Arc::new(stage.clone())])),
        supervisor_steps,
        limits: RunLimits {
            max_steps: arguments
                .max_steps
                .map_or(defaults.max_steps, std::num::NonZeroU32::get),
            corrections: arguments.corrections.unwrap_or(defaults.corrections),
            ..defaults
        },
        policy: HandlerPolicy::default(),
        clock: Arc::new(SystemClock),
        store: RunStore::new(
            Arc::new(MemoryStore::new(StoreSettings::default())),
            OwnerName::new(format!("irq-{}", std::process::id())).map_err(io::Error::other)?,
            "{}",
        ),
    })
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

fn reviewer(
    arguments: &RunArguments,
    global: Global,
    prepared: &Prepared,
    count: &Arc<InterruptCount>,
    stage: &Stage,
) -> io::Result<Arc<dyn Reviewer>> {
    // Who types has to see the question; a program at the other end of a pipe may know it.
    let is_blind = io::stdin().is_terminal() && !io::stderr().is_terminal();
    let nobody = arguments.no_input || !prepared.input_is_free || is_blind;
    let people: Arc<dyn Reviewer> = if nobody {
        Arc::new(Nobody)
    } else {
        let palette = Palette::for_stream(&io::stderr(), global.no_color);
        let lines = Lines::of_standard_input()?;
        Arc::new(Terminal::new(stage.clone(), lines, palette))
    };
    let answers = prepared
        .script
        .as_ref()
        .map(|script| script.person_answers().to_vec())
        .unwrap_or_default();
    if answers.is_empty() {
        return Ok(people);
    }
    let count = Arc::clone(count);
    Ok(Arc::new(Scripted::new(
        answers,
        count,
        stage.clone(),
        people,
    )))
}

fn report(arguments: &RunArguments, global: Global) -> Box<dyn Report> {
    if arguments.json {
        return Box::new(CloudEvents::new());
    }
    let detail = match (global.quiet, global.verbose) {
        (true, _) => Detail::Little,
        (false, 0) => Detail::Usual,
        (false, _) => Detail::Much,
    };
    let palettes = Palettes {
        output: Palette::for_stream(&io::stdout(), global.no_color),
        error_output: Palette::for_stream(&io::stderr(), global.no_color),
    };
    let can_move = io::stderr().is_terminal() && !palette::is_dumb();
    if can_move && detail > Detail::Little {
        Box::new(Live::new(detail, palettes))
    } else {
        Box::new(Plain::new(detail, palettes))
    }
}

/// Stops a run whose output nobody reads any more.
fn stop(scope: &StopScope) {
    scope.stop(StopReason {
        source: StopSource::System,
        mode: StopMode::Immediate,
        message: "nobody reads the output any more".to_owned(),
        timestamp: Timestamp::now(),
    });
}
