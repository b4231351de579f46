//! `irq run --workflow plan-execute`: a plan that is stopped, changed, killed, and goes on.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, ChildStderr, Command};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::program::{end, irq, run_in, spawn, workspace};

/// A run in a process of its own.
struct Running {
    child: Child,
    errors: BufReader<ChildStderr>,
}

impl Running {
    fn of(mut child: Child) -> Self {
        let errors = BufReader::new(child.stderr.take().unwrap());
        Self { child, errors }
    }

    fn wait_for(&mut self, text: &str) {
        let mut line = String::new();
        while !line.contains(text) {
            line.clear();
            assert!(self.errors.read_line(&mut line).unwrap() > 0, "no `{text}`");
        }
    }
}

/// A folder with a store in it.
struct Desk {
    folder: tempfile::TempDir,
    store: tempfile::TempDir,
}

impl Desk {
    fn new() -> Self {
        Self {
            folder: workspace(),
            store: tempfile::tempdir().unwrap(),
        }
    }

    fn kept(&self, mut command: Command) -> Command {
        let file = self.store.path().join("irq.db");
        command.env("IRQ_STORE", format!("sqlite:{}", file.display()));
        command
    }

    fn run(&self) -> Command {
        let mut command = self.kept(run_in(self.folder.path()));
        command.args(["--workflow", "plan-execute", "-v"]);
        command
    }

    fn irq(&self, arguments: &[&str]) -> Command {
        let mut command = self.kept(irq());
        command.args(arguments);
        command
    }

    /// Starts a slow run, and lets it come to its first step.
    fn at_its_first_step(&self) -> Running {
        let mut running = Running::of(spawn(self.run().args(["--pace", "60"])));
        running.wait_for("root/executor");
        running
    }

    /// The one run of the store.
    fn only_run(&self) -> Value {
        let ended = end(&mut self.irq(&["ps", "--all", "--json"])).exits_with(0);
        let line = ended.output.lines().next().unwrap().to_owned();
        serde_json::from_str(&line).unwrap()
    }

    /// What the observer was told, kind by kind.
    fn told(&self, run: &str) -> Vec<Value> {
        let ended = end(&mut self.irq(&["replay", run, "--json"])).exits_with(0);
        let moments = ended.output.lines().map(|line| {
            let moment: Value = serde_json::from_str(line).unwrap();
            moment
        });
        moments.filter(|moment| moment["what"] == "plan").collect()
    }
}

fn send(child: &Child, signal: Signal) {
    let pid = Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
    kill_process(pid, signal).unwrap();
}

fn run_id(text: &str) -> String {
    let at = text.find("run_").unwrap();
    let rest = &text[at..];
    let end = rest
        .find(|letter: char| !(letter.is_ascii_alphanumeric() || "_-".contains(letter)))
        .unwrap_or(rest.len());
    rest[..end].to_owned()
}

#[test]
fn a_plan_runs_to_its_end_and_tells_how_much_is_done() {
    let desk = Desk::new();
    let ended = end(&mut desk.run()).exits_with(0);
    assert!(
        ended.error_output.contains("the plan is done"),
        "{ended:#?}"
    );
    assert!(ended.error_output.contains("plan 1/"), "{ended:#?}");
    let events = end(desk.run().arg("--json")).exits_with(0).events();
    let last = events
        .iter()
        .rfind(|event| event["type"] == "dev.irq.run.plan_told.v1")
        .unwrap();
    assert_eq!(last["data"]["kind"], "completed");
    assert_eq!(
        last["data"]["completed_steps"], last["data"]["total_steps"],
        "{last}"
    );
}

#[test]
fn ctrl_c_stops_before_the_next_step_and_a_message_changes_the_plan() {
    let desk = Desk::new();
    let Running {
        mut child,
        mut errors,
    } = desk.at_its_first_step();
    send(&child, Signal::INT);
    let mut seen = String::new();
    errors.read_to_string(&mut seen).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130), "{seen}");
    assert!(seen.contains("Resume with: irq resume run_"), "{seen}");
    let run = run_id(&seen[seen.find("irq resume").unwrap()..]);
    let kinds = |told: &[Value]| -> Vec<String> {
        let kinds = told.iter().map(|fact| fact["kind"].as_str().unwrap());
        kinds.map(str::to_owned).collect()
    };
    let before = desk.told(&run);
    assert_eq!(kinds(&before).last().unwrap(), "user_escape");
    assert_eq!(before.last().unwrap()["completed_steps"], 1);
    let message = "add a validation step";
    end(&mut desk.irq(&["resume", &run, "--message", message])).exits_with(0);
    let after = desk.told(&run);
    let told = kinds(&after);
    let requested = told
        .iter()
        .position(|kind| kind == "modification_requested")
        .unwrap();
    assert_eq!(after[requested]["reason"], message);
    assert!(
        told[requested..].contains(&"completed".to_owned()),
        "{told:?}"
    );
    assert_eq!(
        told.iter().filter(|kind| *kind == "user_escape").count(),
        1,
        "{told:?}"
    );
}

#[test]
fn killed_at_a_step_it_goes_on_in_another_process_without_repeating_one() {
    let desk = Desk::new();
    let Running { mut child, .. } = desk.at_its_first_step();
    child.kill().unwrap();
    child.wait().unwrap();
    let run = desk.only_run();
    let run = run_id(&run.to_string());
    end(&mut desk.irq(&["resume", &run])).exits_with(0);
    let told = desk.told(&run);
    assert_eq!(told.last().unwrap()["kind"], "completed");
    let done: Vec<_> = told
        .iter()
        .filter(|fact| fact["kind"] == "step_done")
        .map(|fact| fact["completed_steps"].as_u64().unwrap())
        .collect();
    let expected: Vec<_> = (1..=u64::try_from(done.len()).unwrap()).collect();
    assert_eq!(done, expected, "each step is done once");
    // The planner was asked once, by the process that died.
    let ended = end(&mut desk.irq(&["replay", &run, "--json"])).exits_with(0);
    let planned = ended
        .output
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .filter(|moment| moment["what"] == "effect_begun" && moment["agent_id"] == "root/planner");
    assert_eq!(planned.count(), 1);
}
