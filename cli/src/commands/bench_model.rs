//! `irq bench-model`: how well a model keeps to its routes, in each form of asking.

mod counted;
mod unattended;

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use agents::catalogue::{self, RecordKind};
use agents::run::{AgentsWorkflow, Goal};
use agents::workspace::Workspace;
use engine::run::{RunEvent, RunObserver, RunOccurrence, RunSettings, RunStatus, RunStore};
use interrupts::OwnerName;
use jiff::Timestamp;
use llm::JsonSchemaConstraints;
use routing_core::AgentType as _;
use routing_core::model::{LanguageModel, TurnForm};
use routing_core::schema::Dialect;
use routing_core::{RunId, StopMode, StopReason, StopScope, StopSource};
use serde_json::json;
use store::{MemoryStore, StoreSettings};

use super::print;
use crate::arguments::{BenchForm, BenchModelArguments, Global};
use crate::exit::{Exit, Failure, causes};
use crate::model::{ModelChoice, Rehearsal};
use crate::palette::{Palette, Tone};
use crate::storage::complete;
use crate::table::Table;
use crate::view::json_line;

use counted::{Counted, Tally};
use unattended::Unattended;

/// How many steps a run may take; the path through the fourteen nodes has about twenty.
const MOST_STEPS: u32 = 80;

/// The result of one form.
struct Measured {
    form: BenchForm,
    runs: u32,
    completed: u32,
    /// How each run that did not complete ended.
    others: Vec<String>,
    steps: u32,
    tally: Tally,
    /// Questions of agents that were answered, and of the system that ended their runs.
    asked: u32,
    stuck: u32,
    /// Wrong routes that were accepted.
    wrong: u32,
    took: Duration,
}

/// Runs the workflow in each form and prints the results.
///
/// # Errors
///
/// If the model or the folder cannot be opened, or the output is closed.
pub(crate) fn bench_model(arguments: &BenchModelArguments, global: Global) -> anyhow::Result<Exit> {
    let usage = |text: String| Failure::new(Exit::Usage, text);
    let goal = Goal::new(arguments.goal.clone()).map_err(|error| usage(error.to_string()))?;
    let workspace = Workspace::open(&arguments.workspace)
        .map_err(|error| Failure::new(Exit::NotFound, causes(&error)).hint(error.hint()))?;
    let choice = ModelChoice::parse(&arguments.model, arguments.base_url.clone())?;
    let forms = match arguments.form {
        Some(only) => vec![only],
        None => vec![BenchForm::RouteFirst, BenchForm::OneStep, BenchForm::Wide],
    };
    let task = Task {
        goal: &goal,
        workspace: &workspace,
        timeout: arguments.timeout.unsigned_abs(),
    };
    complete(async {
        let mut all = Vec::new();
        for form in forms {
            let opened = in_form(choice.clone(), form).open(Rehearsal {
                seed: 1,
                material: workspace.material(),
                ..Rehearsal::default()
            })?;
            let runs = arguments.runs.get();
            let measured = measure(form, &opened, &task, runs, global.quiet).await?;
            if arguments.json {
                print(&as_json(arguments, &measured))?;
            }
            all.push(measured);
        }
        if !arguments.json {
            let palette = Palette::for_stream(&io::stdout(), global.no_color);
            print(&table(&all).text(palette))?;
        }
        Ok(Exit::Success)
    })
}

/// The model, asked in this form.
fn in_form(choice: ModelChoice, form: BenchForm) -> ModelChoice {
    choice.changed(|profile| {
        let (turn, dialect) = match form {
            BenchForm::RouteFirst => (TurnForm::RouteFirst, profile.dialect),
            BenchForm::OneStep => (TurnForm::OneStep, profile.dialect),
            BenchForm::Wide => (TurnForm::OneStep, Some(Dialect::JsonSchema)),
        };
        profile.turn = Some(turn);
        profile.dialect = dialect;
    })
}

/// What is run.
struct Task<'t> {
    goal: &'t Goal,
    workspace: &'t Workspace,
    timeout: Duration,
}

async fn measure(
    form: BenchForm,
    model: &Arc<dyn LanguageModel>,
    task: &Task<'_>,
    runs: u32,
    is_quiet: bool,
) -> Result<Measured, Failure> {
    let mut measured = Measured::of(form, runs);
    for number in 1..=runs {
        let before = measured.took;
        let ended = measured.run(model, task).await?;
        if !is_quiet {
            let how = ended.as_deref().unwrap_or("completed");
            let seconds = (measured.took - before).as_secs_f64();
            eprintln!("{}, run {number}: {how}, {seconds:.0} s", name(form));
        }
        match ended {
            None => measured.completed += 1,
            Some(how) => measured.others.push(how),
        }
    }
    Ok(measured)
}

impl Measured {
    fn of(form: BenchForm, runs: u32) -> Self {
        Self {
            form,
            runs,
            completed: 0,
            others: Vec::new(),
            steps: 0,
            tally: Tally::default(),
            asked: 0,
            stuck: 0,
            wrong: 0,
            took: Duration::ZERO,
        }
    }

    /// Executes one run and adds up its counts; returns how it ended if it did not complete.
    async fn run(
        &mut self,
        model: &Arc<dyn LanguageModel>,
        task: &Task<'_>,
    ) -> Result<Option<String>, Failure> {
        let turn = match self.form {
            BenchForm::RouteFirst => TurnForm::RouteFirst,
            BenchForm::OneStep | BenchForm::Wide => TurnForm::OneStep,
        };
        let counted = Arc::new(Counted::new(Arc::clone(model), turn));
        let reviewer = Arc::new(Unattended::default());
        let wrong = Arc::new(WrongRoutes::default());
        let mut settings = RunSettings::new(RunId::generate(), Arc::clone(&counted) as _, store()?);
        settings.constraints = Arc::new(JsonSchemaConstraints::new());
        settings.reviewer = Arc::clone(&reviewer) as _;
        settings.observer = Arc::clone(&wrong) as _;
        settings.limits.max_steps = MOST_STEPS;
        let agents = AgentsWorkflow::new(task.goal.clone(), task.workspace.clone());
        let run = agents.run(settings);
        let scope = StopScope::new();
        let start = Instant::now();
        let report = tokio::select! {
            report = run.execute(&scope) => Some(report),
            () = tokio::time::sleep(task.timeout) => None,
        };
        scope.stop(over());
        self.took += start.elapsed();
        let (asked, stuck) = reviewer.counts();
        self.asked += asked;
        self.stuck += stuck;
        self.wrong += wrong.0.load(Ordering::Relaxed);
        self.tally.add(&counted.tally());
        let Some(report) = report else {
            return Ok(Some("not over in time".to_owned()));
        };
        self.steps += report.steps;
        Ok(ended(&report.status))
    }
}

fn store() -> Result<RunStore, Failure> {
    let owner = OwnerName::new("bench-model")
        .map_err(|error| Failure::new(Exit::Failure, error.to_string()))?;
    let store = MemoryStore::new(StoreSettings::default());
    Ok(RunStore::new(Arc::new(store), owner, "{}"))
}

/// Stops everything of a run that is still under way.
fn over() -> StopReason {
    StopReason {
        source: StopSource::Programmatic,
        mode: StopMode::Immediate,
        message: "the measurement is over".to_owned(),
        timestamp: Timestamp::now(),
    }
}

/// How a run ended that did not complete.
fn ended(status: &RunStatus) -> Option<String> {
    match status {
        RunStatus::Completed { .. } => None,
        RunStatus::Waiting { .. } => Some("waits for a person".to_owned()),
        RunStatus::Paused { reason } => Some(format!("paused: {reason}")),
        RunStatus::Cancelled { reason, .. } => Some(format!("cancelled: {reason}")),
        RunStatus::Failed { error, .. } => Some(format!("failed: {error}")),
    }
}

/// Counts the answers that were accepted though they take a route that their agent does not have.
#[derive(Default)]
struct WrongRoutes(AtomicU32);

impl RunObserver for WrongRoutes {
    fn observe(&self, occurrence: &RunOccurrence) {
        let RunEvent::StepFinished { kind, field, .. } = &occurrence.event else {
            return;
        };
        let has = catalogue::records().iter().any(|record| {
            matches!(record.kind, RecordKind::AgentAnswer(of) if of.name() == *kind)
                && record.routes.iter().any(|route| route.field == *field)
        });
        self.0.fetch_add(u32::from(!has), Ordering::Relaxed);
    }
}

fn name(form: BenchForm) -> &'static str {
    match form {
        BenchForm::RouteFirst => "route first",
        BenchForm::OneStep => "one step",
        BenchForm::Wide => "one step, wide",
    }
}

/// The mean for each step.
fn each(sum: f64, steps: u32) -> f64 {
    if steps == 0 {
        0.0
    } else {
        sum / f64::from(steps)
    }
}

fn table(all: &[Measured]) -> Table {
    let mut table = Table::new(&[
        "FORM",
        "COMPLETED",
        "RIGHT ROUTES",
        "CUT OFF",
        "CORRECTIONS",
        "TOKENS/STEP",
        "S/STEP",
    ]);
    for it in all {
        let tally = &it.tally;
        let cells = [
            name(it.form).to_owned(),
            format!("{} of {}", it.completed, it.runs),
            format!("{} of {}", tally.right, tally.answers),
            tally.cut_off.to_string(),
            tally.corrections.to_string(),
            format!("{:.0}", each(tally.tokens(), it.steps)),
            format!("{:.1}", each(it.took.as_secs_f64(), it.steps)),
        ];
        table.row(cells.into_iter().map(|cell| (Tone::Plain, cell)).collect());
    }
    table
}

fn as_json(arguments: &BenchModelArguments, it: &Measured) -> String {
    let tally = &it.tally;
    json_line(&json!({
        "model": arguments.model,
        "form": name(it.form),
        "runs": it.runs,
        "completed": it.completed,
        "not_completed": it.others,
        "steps": it.steps,
        "answers": tally.answers,
        "right_routes": tally.right,
        "wrong_routes_accepted": it.wrong,
        "cut_off": tally.cut_off,
        "corrections": tally.corrections,
        "questions_of_agents": it.asked,
        "questions_of_the_system": it.stuck,
        "tokens_read": tally.read,
        "tokens_written": tally.written,
        "tokens_a_step": each(tally.tokens(), it.steps),
        "seconds": it.took.as_secs_f64(),
        "seconds_a_step": each(it.took.as_secs_f64(), it.steps),
    }))
}
