//! A network caller's order, as the order of a run. The caller may choose among what the server was started with; no folder
//! outside its own, no address to which a key would be sent.

use std::num::NonZeroU32;
use std::path::{Component, Path, PathBuf};
use std::time::Duration;

use agents::run::{Goal, RunOrder, ToolOrder};
use engine::run::RunLimits;
use interrupt_router::answer::read_strictly;
use interrupts::life::{Actor, RunState};
use interrupts::store::Run;
use interrupts::{Digest, Labels};
use journal::{Allowance, NEEDS, Workflow};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use server::{LaunchError, LaunchOrder};

use crate::arguments::{ExecutingArguments, NewRunArguments};
use crate::commands::run::OuterLimits;
use crate::exit::{Exit, Failure};
use crate::model::ModelChoice;
use crate::spending::amount;
use crate::tooling;
use crate::workflows;

/// The field of a stored order that names who launched the run. Older programs ignore it.
const LAUNCHED_BY: &str = "launched_by";

/// The field of a stored order that holds the digest of the request.
const ASKED: &str = "asked";

/// The field of a stored order that holds its own limits.
const OWN_LIMITS: &str = "own_limits";

/// The defaults of a new run.
#[derive(Debug, Clone)]
struct NewRuns {
    workspace: PathBuf,
    model: String,
    base_url: Option<String>,
    /// What agents may use: the same for every run.
    tools: Option<ToolOrder>,
}

/// The settings for the runs of this process.
#[derive(Debug, Clone)]
pub(super) struct Defaults {
    /// The defaults of new runs, if runs are started here.
    new_runs: Option<NewRuns>,
    pub(super) pace: u32,
    /// How long a run stays in memory once all of it waits for people.
    pub(super) put_aside_after: Duration,
    /// The limits of every run.
    pub(super) limits: OuterLimits,
    max_steps: Option<NonZeroU32>,
}

impl NewRuns {
    fn of(arguments: &NewRunArguments) -> Result<Self, Failure> {
        ModelChoice::parse(&arguments.model, arguments.base_url.clone())?;
        let workspace = arguments.workspace.canonicalize().map_err(|error| {
            let text = format!(
                "the workspace {} cannot be used: {error}",
                arguments.workspace.display()
            );
            Failure::new(Exit::NotFound, text)
        })?;
        Ok(Self {
            workspace,
            model: arguments.model.clone(),
            base_url: arguments.base_url.clone(),
            tools: tooling::order(&arguments.tools)?,
        })
    }
}

/// The limits that a run brings along, stored with its order: they apply on every server that continues it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
struct OwnLimits {
    /// How long it may take, in seconds.
    timeout_s: Option<u32>,
    /// What its models may cost, in dollars.
    budget_usd: Option<String>,
}

/// What an order may say beside its goal.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct OrderOptions {
    workflow: Option<String>,
    workspace: Option<PathBuf>,
    model: Option<String>,
    seed: Option<u64>,
    script: Option<Value>,
    max_steps: Option<NonZeroU32>,
    corrections: Option<u32>,
    timeout_s: Option<NonZeroU32>,
    budget_usd: Option<String>,
    needs: Labels,
}

impl Defaults {
    /// The settings of the command line. Without the part for new runs, none is started here.
    ///
    /// # Errors
    ///
    /// If there is no such model or folder.
    pub(super) fn of(
        arguments: &ExecutingArguments,
        new_runs: Option<&NewRunArguments>,
    ) -> Result<Self, Failure> {
        Ok(Self {
            new_runs: new_runs.map(NewRuns::of).transpose()?,
            pace: arguments.pace,
            put_aside_after: arguments.put_aside_after.unsigned_abs(),
            limits: OuterLimits::of_server(&arguments.limits)?,
            max_steps: arguments.limits.max_steps,
        })
    }

    /// The order, with no more steps than runs may take here.
    pub(super) fn limited(&self, mut order: RunOrder) -> RunOrder {
        let most = self.max_steps.map_or(u32::MAX, NonZeroU32::get);
        order.limits.max_steps = order.limits.max_steps.min(most);
        order
    }

    /// The order of a run, and its stored form.
    ///
    /// # Errors
    ///
    /// [`LaunchError::Order`] with the field that is wrong.
    pub(super) fn order(&self, launch: &LaunchOrder) -> Result<(RunOrder, String), LaunchError> {
        let goal = Goal::new(launch.goal.clone()).map_err(|error| wrong("goal", error))?;
        let options = options_of(&launch.options)?;
        let new_runs = self.new_runs.as_ref().ok_or(LaunchError::Unsupported)?;
        let workspace = new_runs.workspace_of(options.workspace.as_deref())?;
        let (model, base_url) = new_runs.model_of(options.model)?;
        let defaults = RunLimits::default();
        let workflow = match options.workflow {
            Some(name) => workflows::parse_workflow(&name)
                .map_err(|error| wrong("options.workflow", error))?,
            None => workflows::usual(),
        };
        let script = options.script.as_ref();
        let script = script.map(|script| script_of(&workflow, script));
        let script = script.transpose()?;
        let input = workflows::input_of(&workflow, goal.as_str());
        let input = input.map_err(|error| wrong("goal", error))?;
        let most_steps = [self.max_steps, options.max_steps].into_iter().flatten();
        let own = OwnLimits {
            timeout_s: options.timeout_s.map(NonZeroU32::get),
            budget_usd: options.budget_usd,
        };
        self.tightened(&own)
            .map_err(|error| wrong("options.budget_usd", error))?;
        let order = RunOrder {
            version: RunOrder::form(&workflow, new_runs.tools.as_ref()),
            input,
            workflow,
            goal: goal.as_str().to_owned(),
            workspace: workspace.to_string_lossy().into_owned(),
            model,
            base_url,
            seed: options.seed.unwrap_or(1),
            script,
            limits: RunLimits {
                max_steps: most_steps.min().map_or(defaults.max_steps, NonZeroU32::get),
                corrections: options.corrections.unwrap_or(defaults.corrections),
                ..defaults
            },
            allowance: Allowance::default(),
            tools: new_runs.tools.clone(),
        };
        let content = stored(&order, launch, &own, &options.needs)
            .map_err(|error| wrong("options", error))?;
        Ok((order, content))
    }

    /// The limits of a run, from its stored content: its own as far as they are tighter than the server's.
    ///
    /// # Errors
    ///
    /// If what is stored is no amount of money.
    pub(super) fn limits_of(&self, content: &str) -> Result<OuterLimits, Failure> {
        #[derive(Default, Deserialize)]
        #[serde(default)]
        struct Stored {
            own_limits: OwnLimits,
        }
        let stored: Stored = serde_json::from_str(content).unwrap_or_default();
        self.tightened(&stored.own_limits)
    }

    fn tightened(&self, own: &OwnLimits) -> Result<OuterLimits, Failure> {
        let timeout = own.timeout_s.map(u64::from).map(Duration::from_secs);
        let budget = own.budget_usd.as_deref().map(amount).transpose()?;
        Ok(self.limits.tightened(timeout, budget))
    }
}

impl NewRuns {
    fn workspace_of(&self, named: Option<&Path>) -> Result<PathBuf, LaunchError> {
        let Some(named) = named else {
            return Ok(self.workspace.clone());
        };
        let is_below = named
            .components()
            .all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
        let outside = || wrong("options.workspace", "name a folder below the server's own");
        if !is_below {
            return Err(outside());
        }
        let folder = self.workspace.join(named).canonicalize();
        let folder = folder.map_err(|error| {
            if Exit::NotFound.unless_lacking(&error) == Exit::NotFound {
                return wrong("options.workspace", "there is none");
            }
            LaunchError::Unavailable {
                detail: format!("{}: {error}", named.display()),
            }
        })?;
        // A link may lead out of the folder again.
        if folder.starts_with(&self.workspace) {
            Ok(folder)
        } else {
            Err(outside())
        }
    }

    fn model_of(&self, named: Option<String>) -> Result<(String, Option<String>), LaunchError> {
        match named {
            Some(named) if named != self.model => {
                ModelChoice::parse(&named, None).map_err(|error| wrong("options.model", error))?;
                Ok((named, None))
            }
            Some(_) | None => Ok((self.model.clone(), self.base_url.clone())),
        }
    }
}

/// Reads the options of an order besides its goal; an error names the field.
fn options_of(options: &Map<String, Value>) -> Result<OrderOptions, LaunchError> {
    let text = Value::Object(options.clone()).to_string();
    read_strictly(text.as_bytes()).map_err(|error| {
        let field = error.path().replacen('$', "options", 1);
        wrong(&field, error.reason())
    })
}

fn wrong(field: &str, reason: impl ToString) -> LaunchError {
    LaunchError::Order {
        field: field.to_owned(),
        reason: reason.to_string(),
    }
}

fn script_of(workflow: &Workflow, script: &Value) -> Result<String, LaunchError> {
    let text = script.to_string();
    workflows::script(workflow, &text).map_err(|error| wrong("options.script", error))?;
    Ok(text)
}

fn stored(
    order: &RunOrder,
    launch: &LaunchOrder,
    own: &OwnLimits,
    needs: &Labels,
) -> Result<String, serde_json::Error> {
    let content = launched(&order.to_content()?, &launch.by, launch.asked());
    let mut fields: Map<String, Value> = serde_json::from_str(&content)?;
    if *own != OwnLimits::default() {
        fields.insert(OWN_LIMITS.to_owned(), serde_json::to_value(own)?);
    }
    if !needs.is_empty() {
        fields.insert(NEEDS.to_owned(), serde_json::to_value(needs)?);
    }
    serde_json::to_string(&fields)
}

/// The content of a run, with who launched it and the digest of the request.
pub(super) fn launched(content: &str, by: &Actor, asked: Digest) -> String {
    match serde_json::from_str::<Map<String, Value>>(content) {
        Ok(mut fields) => {
            let by = by.name.as_str().to_owned();
            fields.insert(LAUNCHED_BY.to_owned(), Value::String(by));
            fields.insert(ASKED.to_owned(), Value::String(asked.to_string()));
            Value::Object(fields).to_string()
        }
        // Content that is no order stays as it is: the reader reports it.
        Err(_no_object) => content.to_owned(),
    }
}

/// Whether a server launched the run that has this content.
pub(crate) fn is_launched(content: &str) -> bool {
    serde_json::from_str::<Value>(content)
        .is_ok_and(|fields| fields.get(LAUNCHED_BY).is_some_and(Value::is_string))
}

/// Whether a run goes on, or begins, as soon as a server executes runs and no process has it. A run that a BRANCH has forked
/// off begins when a person says so.
pub(crate) fn waits_for_server(run: &Run) -> bool {
    let is_left = match run.state {
        RunState::Created => run.forked_from.is_none(),
        RunState::Running | RunState::Stopping => true,
        RunState::Paused
        | RunState::Waiting
        | RunState::Completed
        | RunState::Failed
        | RunState::Cancelled => false,
    };
    is_left && is_launched(&run.content)
}

/// Whether the run that has this content was launched by such an order.
pub(super) fn is_asked(content: &str, asked: Digest) -> bool {
    serde_json::from_str::<Value>(content)
        .is_ok_and(|fields| fields.get(ASKED).and_then(Value::as_str) == Some(&*asked.to_string()))
}

#[cfg(test)]
mod tests {
    use interrupts::ActorName;
    use interrupts::life::{Actor, Role};
    use std::time::Duration;

    use serde_json::{Value, json};
    use server::{LaunchError, LaunchOrder};

    use super::{Defaults, NewRuns, is_launched};

    fn defaults(folder: &std::path::Path) -> Defaults {
        Defaults {
            new_runs: Some(NewRuns {
                workspace: folder.canonicalize().unwrap(),
                model: "rehearsal".to_owned(),
                base_url: None,
                tools: None,
            }),
            pace: 0,
            put_aside_after: Duration::ZERO,
            limits: crate::commands::run::OuterLimits::none(),
            max_steps: None,
        }
    }

    fn launch(options: &Value) -> LaunchOrder {
        LaunchOrder {
            id: interrupt_router::RunId::generate(),
            goal: "Describe the bakery".to_owned(),
            alias: None,
            options: options.as_object().unwrap().clone(),
            by: Actor {
                name: ActorName::new("ada").unwrap(),
                role: Role::Supervisor,
            },
        }
    }

    #[test]
    fn a_run_names_a_folder_below_the_servers_own_and_no_other() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("inner")).unwrap();
        std::os::unix::fs::symlink("/", folder.path().join("out")).unwrap();
        let defaults = defaults(folder.path());
        let order = |workspace: &str| defaults.order(&launch(&json!({"workspace": workspace})));
        let (found, content) = order("inner").unwrap();
        assert!(found.workspace.ends_with("/inner"));
        assert!(is_launched(&content));
        for workspace in ["..", "/", "inner/../..", "out", "out/tmp", "none"] {
            let refused = order(workspace).unwrap_err();
            assert!(
                matches!(&refused, LaunchError::Order { field, .. } if field == "options.workspace"),
                "{workspace}: {refused:?}"
            );
        }
    }

    #[test]
    fn nobody_on_the_network_says_where_a_key_is_sent() {
        let folder = tempfile::tempdir().unwrap();
        let options = json!({"model": "openai:any", "base_url": "http://127.0.0.1:1"});
        let refused = defaults(folder.path()).order(&launch(&options));
        assert!(refused.unwrap_err().to_string().contains("base_url"));
    }
}
