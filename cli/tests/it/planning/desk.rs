//! Runs of plans in processes of their own, over a store in a file.

use std::process::Command;

use serde_json::Value;

use crate::program::{end, irq, lines, run_in, workspace};
use crate::running::Running;

/// A folder with a store in it.
pub(crate) struct Desk {
    pub(crate) folder: tempfile::TempDir,
    pub(crate) store: tempfile::TempDir,
}

impl Desk {
    pub(crate) fn new() -> Self {
        Self {
            folder: workspace(),
            store: tempfile::tempdir().unwrap(),
        }
    }

    pub(crate) fn kept(&self, mut command: Command) -> Command {
        let file = self.store.path().join("irq.db");
        command.env("IRQ_STORE", format!("sqlite:{}", file.display()));
        command
    }

    pub(crate) fn run(&self) -> Command {
        let mut command = self.kept(run_in(self.folder.path()));
        command.args(["--workflow", "plan-execute", "-v"]);
        command
    }

    pub(crate) fn irq(&self, arguments: &[&str]) -> Command {
        let mut command = self.kept(irq());
        command.args(arguments);
        command
    }

    /// Starts a run that is slow enough for another process to stop it, and lets it come to its first step.
    pub(crate) fn at_its_first_step(&self) -> Running {
        let mut running = self.planning();
        running.wait_for("root/executor");
        running
    }

    fn planning(&self) -> Running {
        let mut running = Running::start(self.run().args(["--pace", "30"]));
        running.wait_for("root/planner");
        running
    }

    /// Stops a run at its first step, from another process. Its first step is done then.
    pub(crate) fn stopped_after_its_first_step(&self) -> String {
        let mut running = self.planning();
        let run = self.only_run()["id"].as_str().unwrap().to_owned();
        running.wait_for("root/executor");
        let reason = ["--reason", "let me look"];
        let mut interrupt = self.irq(&["interrupt", &run, "--wait=awaiting_review"]);
        end(interrupt.args(reason)).exits_with(0);
        let (code, seen) = running.end();
        assert_ne!(code, Some(0), "{seen}");
        run
    }

    /// A plan of which a change was applied that nobody has carried out, and that stands still again; with the steps
    /// that were left before.
    pub(crate) fn changed_and_stopped_again(&self) -> (String, Vec<String>) {
        let run = self.stopped_after_its_first_step();
        let before = self.left(&run);
        self.apply(&run, r#"["one", "two", "three"]"#);
        self.stop_again(&run);
        (run, before)
    }

    /// Applies a change of the plan of a run that stands still.
    pub(crate) fn apply(&self, run: &str, wanted: &str) {
        let shown = self.json(&["plan", run, "--preview", wanted]);
        let digest = shown["proposal"]["digest"].as_str().unwrap();
        self.json(&["plan", run, "--apply", digest]);
    }

    /// Stops a run again that nobody executes.
    pub(crate) fn stop_again(&self, run: &str) {
        end(&mut self.irq(&["interrupt", run, "--wait=awaiting_review"])).exits_with(0);
    }

    /// A command that prints one JSON object.
    #[track_caller]
    pub(crate) fn json(&self, arguments: &[&str]) -> Value {
        let ended = end(self.irq(arguments).arg("--json")).exits_with(0);
        serde_json::from_str(&ended.output).unwrap()
    }

    /// How the plan of a run stands.
    #[track_caller]
    pub(crate) fn plan(&self, run: &str) -> Value {
        self.json(&["plan", run])
    }

    /// The steps of a plan that are not done. One is under way unless the run was stopped between two of them.
    #[track_caller]
    pub(crate) fn left(&self, run: &str) -> Vec<String> {
        let plan = self.plan(run);
        let now = plan["now"]["task"].as_str();
        let left = now.into_iter().chain(tasks(&plan["next"]));
        left.map(str::to_owned).collect()
    }

    /// How many answers models were asked for in a run.
    pub(crate) fn calls(&self, run: &str) -> usize {
        let ended = end(&mut self.irq(&["replay", run, "--json"])).exits_with(0);
        let moments = ended.output.lines();
        let begun = moments
            .filter(|line| line.contains("\"effect_begun\"") && line.contains("\"model_call\""));
        begun.count()
    }

    /// Whether a run has a plan, and works at a step of it.
    pub(crate) fn works_at_a_step(&self, run: &str) -> bool {
        let ended = end(self.irq(&["plan", run]).arg("--json"));
        serde_json::from_str::<Value>(&ended.output).is_ok_and(|plan| !plan["now"].is_null())
    }

    /// The interrupts that wait for a person.
    pub(crate) fn open(&self) -> Vec<Value> {
        let ended = end(&mut self.irq(&["review", "--json"])).exits_with(0);
        lines(&ended.output)
    }

    /// The one run of the store.
    pub(crate) fn only_run(&self) -> Value {
        let ended = end(&mut self.irq(&["ps", "--all", "--json"])).exits_with(0);
        let line = ended.output.lines().next().unwrap().to_owned();
        serde_json::from_str(&line).unwrap()
    }

    /// What the observer was told, kind by kind.
    pub(crate) fn told(&self, run: &str) -> Vec<Value> {
        let ended = end(&mut self.irq(&["replay", run, "--json"])).exits_with(0);
        let moments = lines(&ended.output).into_iter();
        moments.filter(|moment| moment["what"] == "plan").collect()
    }
}

pub(crate) fn run_id(text: &str) -> String {
    let at = text.find("run_").unwrap();
    let rest = &text[at..];
    let end = rest
        .find(|letter: char| !(letter.is_ascii_alphanumeric() || "_-".contains(letter)))
        .unwrap_or(rest.len());
    rest[..end].to_owned()
}

/// The kinds of what was told.
pub(crate) fn kinds(told: &[Value]) -> Vec<String> {
    let kinds = told.iter().map(|fact| fact["kind"].as_str().unwrap());
    kinds.map(str::to_owned).collect()
}

/// The texts of a JSON list.
pub(crate) fn texts(list: &Value) -> Vec<&str> {
    let list = list.as_array().unwrap().iter();
    list.map(|text| text.as_str().unwrap()).collect()
}

/// The tasks of a JSON list of steps.
pub(crate) fn tasks(list: &Value) -> Vec<&str> {
    let list = list.as_array().unwrap().iter();
    list.map(|step| step["task"].as_str().unwrap()).collect()
}

/// That what was done since a plan was shown is the change that was shown with it.
#[track_caller]
pub(crate) fn is_done_as_shown(shown: &Value, done: &Value) {
    let before = tasks(&shown["done"]);
    // The step that was under way was done, or cut off when the grace of the stop was over.
    assert!(before.len() <= 1, "{shown:#}");
    let proposed = texts(&shown["proposal"]["plan"]);
    assert_eq!(
        tasks(&done["done"]),
        [before, proposed].concat(),
        "{done:#}"
    );
}
