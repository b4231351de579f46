//! How well a model keeps to its routes, in each form of asking:
//!
//! ```console
//! $ cargo run -p interrupt-router-agents --example bench_model -- --model openai:local --base-url http://127.0.0.1:8080/v1
//! ```

mod counted;
mod unattended;

use std::collections::BTreeMap;
use std::error::Error;
use std::num::NonZeroU32;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use agents::catalogue::{self, RecordKind};
use agents::run::{AgentsWorkflow, Goal};
use agents::workspace::Workspace;
use clap::{Parser, ValueEnum};
use engine::run::{RunEvent, RunObserver, RunOccurrence, RunSettings, RunStatus, RunStore};
use interrupt_router::AgentType as _;
use interrupt_router::model::{LanguageModel, TurnForm};
use interrupt_router::schema::Dialect;
use interrupt_router::{RunId, StopMode, StopReason, StopScope, StopSource};
use interrupts::OwnerName;
use jiff::{SignedDuration, Timestamp};
use llm::{
    JsonSchemaConstraints, ModelId, ModelProfile, ProviderModel, RehearsalConfig, RehearsalModel,
    Retrying,
};
use serde::Deserialize;
use serde_json::{Value, json};
use store::{MemoryStore, StoreSettings};

use counted::{Counted, Tally};
use unattended::Unattended;

type Failure = Box<dyn Error>;

/// How many steps a run may take; the path through the fourteen nodes has about twenty.
const MOST_STEPS: u32 = 80;

/// Measures how well a model keeps to its routes, in each form of asking.
///
/// The whole workflow is run unattended, in memory, once for each form and repetition: agents' questions are answered with
/// their first choice, and a question of the system's ends its run.
#[derive(Debug, Parser)]
struct Arguments {
    /// The model: `rehearsal`, PROVIDER:NAME, or with --profiles the name of a profile
    #[arg(long)]
    model: String,
    /// Where its API is, for servers of your own
    #[arg(long, value_name = "URL")]
    base_url: Option<String>,
    /// The file whose [models.NAME] has the profile of the model, such as ~/.config/irq/config.toml
    #[arg(long, value_name = "FILE")]
    profiles: Option<PathBuf>,
    /// How often the workflow is run in each form
    #[arg(long, value_name = "NUMBER", default_value = "1")]
    runs: NonZeroU32,
    /// Only in this form
    #[arg(long)]
    form: Option<Form>,
    /// How long one run may take before it counts as not completed: 90s, 15m
    #[arg(long, value_name = "TIME", default_value = "15m")]
    timeout: SignedDuration,
    /// What is done
    #[arg(long, value_name = "TEXT", default_value = "Describe this project")]
    goal: String,
    /// The folder that it is about; it is only read
    #[arg(long, value_name = "DIR", default_value = ".")]
    workspace: PathBuf,
    /// One form a line, as JSON
    #[arg(long)]
    json: bool,
}

/// A form of asking that is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
#[value(rename_all = "snake_case")]
enum Form {
    /// The route first, then its request.
    #[default]
    RouteFirst,
    /// All at once, in the model's own dialect.
    OneStep,
    /// All at once, with a schema that offers every field as optional.
    Wide,
}

impl Form {
    const fn name(self) -> &'static str {
        match self {
            Self::RouteFirst => "route first",
            Self::OneStep => "one step",
            Self::Wide => "one step, wide",
        }
    }

    const fn turn(self) -> TurnForm {
        match self {
            Self::RouteFirst => TurnForm::RouteFirst,
            Self::OneStep | Self::Wide => TurnForm::OneStep,
        }
    }
}

/// The file with profiles of models.
#[derive(Deserialize)]
struct Profiles {
    models: BTreeMap<String, ModelProfile>,
}

/// The result of one form.
#[derive(Default)]
struct Measured {
    form: Form,
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

#[tokio::main]
async fn main() -> ExitCode {
    let arguments = Arguments::parse();
    match bench(&arguments).await {
        Ok(all) => {
            if !arguments.json {
                print!("{}", table(&all));
            }
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Runs the workflow in each form.
async fn bench(arguments: &Arguments) -> Result<Vec<Measured>, Failure> {
    let task = Task {
        goal: Goal::new(arguments.goal.clone())?,
        workspace: Workspace::open(&arguments.workspace)?,
        timeout: arguments.timeout.unsigned_abs(),
    };
    let forms = match &arguments.form {
        Some(only) => std::slice::from_ref(only),
        None => Form::value_variants(),
    };
    let mut all = Vec::new();
    for form in forms {
        let model = model(arguments, *form, &task.workspace)?;
        let mut measured = Measured {
            form: *form,
            runs: arguments.runs.get(),
            ..Measured::default()
        };
        for number in 1..=measured.runs {
            let ended = measured.run(&model, &task).await?;
            let how = ended.as_deref().unwrap_or("completed");
            eprintln!("{}, run {number}: {how}", form.name());
            match ended {
                None => measured.completed += 1,
                Some(how) => measured.others.push(how),
            }
        }
        if arguments.json {
            println!("{}", as_json(arguments, &measured));
        }
        all.push(measured);
    }
    Ok(all)
}

/// The model, asked in this form.
fn model(
    arguments: &Arguments,
    form: Form,
    workspace: &Workspace,
) -> Result<Arc<dyn LanguageModel>, Failure> {
    if arguments.model == "rehearsal" {
        return Ok(Arc::new(RehearsalModel::new(RehearsalConfig {
            seed: 1,
            facts: workspace.facts(),
            ..RehearsalConfig::default()
        })));
    }
    let mut profile = ModelProfile {
        base_url: arguments.base_url.clone(),
        ..ModelProfile::default()
    };
    if let Some(file) = &arguments.profiles {
        let mut kept: Profiles = toml::from_str(&std::fs::read_to_string(file)?)?;
        let kept = kept.models.remove(&arguments.model);
        profile = profile.or(kept.ok_or("--profiles: the file has no profile of this name")?);
    }
    profile.turn = Some(form.turn());
    if form == Form::Wide {
        profile.dialect = Some(Dialect::JsonSchema);
    }
    let id: ModelId = profile.model.as_ref().unwrap_or(&arguments.model).parse()?;
    let model = ProviderModel::of_profile(&id, &profile)?;
    Ok(Arc::new(Retrying::new(model, profile.retries())))
}

/// What is run.
struct Task {
    goal: Goal,
    workspace: Workspace,
    timeout: Duration,
}

impl Measured {
    /// Executes one run and adds up its counts; returns how it ended if it did not complete.
    async fn run(
        &mut self,
        model: &Arc<dyn LanguageModel>,
        task: &Task,
    ) -> Result<Option<String>, Failure> {
        let counted = Arc::new(Counted::new(Arc::clone(model), self.form.turn()));
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
    let owner = OwnerName::new("bench-model")?;
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

/// The mean for each step.
fn each(sum: f64, steps: u32) -> f64 {
    if steps == 0 {
        0.0
    } else {
        sum / f64::from(steps)
    }
}

/// The results in columns.
fn table(all: &[Measured]) -> String {
    let heads =
        "FORM            COMPLETED  RIGHT ROUTES  CUT OFF  CORRECTIONS  TOKENS/STEP  S/STEP\n";
    let rows = all.iter().map(|it| {
        let tally = &it.tally;
        let completed = format!("{} of {}", it.completed, it.runs);
        let right = format!("{} of {}", tally.right, tally.answers);
        format!(
            "{:<14}  {completed:<9}  {right:<12}  {:<7}  {:<11}  {:<11.0}  {:.1}\n",
            it.form.name(),
            tally.cut_off,
            tally.corrections,
            each(tally.tokens(), it.steps),
            each(it.took.as_secs_f64(), it.steps),
        )
    });
    std::iter::once(heads.to_owned()).chain(rows).collect()
}

fn as_json(arguments: &Arguments, it: &Measured) -> Value {
    let tally = &it.tally;
    json!({
        "model": arguments.model,
        "form": it.form.name(),
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
    })
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::{Arguments, as_json, bench, table};

    #[tokio::test]
    async fn a_model_is_measured_in_each_form() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("README.md"), "# Bakery\n").unwrap();
        let folder = folder.path().to_str().unwrap();
        let typed = ["bench_model", "--model", "rehearsal", "--workspace", folder];
        let arguments = Arguments::parse_from(typed);
        let all = bench(&arguments).await.unwrap();
        let forms: Vec<_> = all.iter().map(|it| as_json(&arguments, it)).collect();
        assert_eq!(forms.len(), 3);
        for form in &forms {
            assert_eq!(form["completed"], 1, "{form:#}");
            assert_eq!(form["right_routes"], form["answers"], "{form:#}");
            assert_eq!(form["wrong_routes_accepted"], 0, "{form:#}");
        }
        // A turn in two steps asks twice.
        assert!(forms[0]["answers"].as_u64() > forms[1]["answers"].as_u64());
        assert!(table(&all).contains("\none step, wide  1 of 1     "));
    }
}
