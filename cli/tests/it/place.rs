//! A folder and a store of a test's own, and the program on both.

use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

use crate::program::{Ended, end, irq, lines, workspace};

/// A folder to speak about, and a store for its runs.
pub(crate) struct Place {
    pub(crate) folder: TempDir,
    pub(crate) keeping: TempDir,
}

impl Place {
    pub(crate) fn new() -> Self {
        Self {
            folder: workspace(),
            keeping: tempfile::tempdir().unwrap(),
        }
    }

    pub(crate) fn store(&self) -> PathBuf {
        self.keeping.path().join("irq.db")
    }

    pub(crate) fn irq(&self, arguments: &[&str]) -> Command {
        let mut command = irq();
        command.args(arguments).env("IRQ_STORE", self.store());
        command
    }

    /// A run that speaks so fast, and asks nobody.
    pub(crate) fn run(&self, arguments: &[&str]) -> Command {
        let mut command = self.irq(&["run", "Describe the bakery", "--no-input", "--workspace"]);
        command.arg(self.folder.path()).args(arguments);
        command
    }

    pub(crate) fn end_of_run(&self, arguments: &[&str]) -> Ended {
        end(&mut self.run(arguments))
    }

    pub(crate) fn end(&self, arguments: &[&str]) -> Ended {
        end(&mut self.irq(arguments))
    }

    /// The runs, those that have ended too, in the order in which they were begun.
    pub(crate) fn runs(&self) -> Vec<Value> {
        if !self.store().exists() {
            return Vec::new();
        }
        let mut runs = lines(&self.end(&["ps", "--all", "--json"]).exits_with(0).output);
        runs.reverse();
        runs
    }

    /// The only run.
    pub(crate) fn only_run(&self) -> String {
        let runs = self.runs();
        assert_eq!(runs.len(), 1, "{runs:?}");
        runs[0]["id"].as_str().unwrap().to_owned()
    }

    /// Waits until the journal of the only run has so many model calls with a result.
    pub(crate) fn wait_for_steps(&self, steps: u64) {
        let begun = Instant::now();
        while begun.elapsed() < Duration::from_secs(60) {
            let taken = self.runs().first().map_or(0, |run| {
                let agents = run["agents"].as_array().map_or(&[][..], Vec::as_slice);
                let step = |agent: &Value| agent["current_step"].as_u64().unwrap_or(0);
                agents.iter().map(step).max().unwrap_or(0)
            });
            if taken >= steps {
                return;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        panic!("the run did not come to step {steps}: {:#?}", self.runs());
    }

    /// Each model call of the journal, with the number of its results.
    pub(crate) fn journal(&self, run: &str) -> Vec<Value> {
        lines(&self.end(&["replay", run, "--json"]).exits_with(0).output)
    }

    /// Waits until the only run has begun a call of its model.
    pub(crate) fn wait_for_call(&self) {
        let begun = Instant::now();
        while begun.elapsed() < Duration::from_secs(60) {
            let run = self
                .runs()
                .first()
                .and_then(|run| run["id"].as_str().map(str::to_owned));
            let journal = run.map(|run| self.journal(&run)).unwrap_or_default();
            let is_call =
                |moment: &Value| moment["kind"] == "model_call" && moment["what"] == "effect_begun";
            if journal.iter().any(is_call) {
                return;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        panic!("the run did not call its model: {:#?}", self.runs());
    }

    /// The results of a kind of effect in the journal, with their places.
    pub(crate) fn told(&self, run: &str, kind: &str) -> Vec<Value> {
        let mut told = self.journal(run);
        told.retain(|moment| moment["kind"] == kind && moment["what"] == "effect_finished");
        told
    }
}
