//! What all processes of a test share: a store, a workspace, a model; and what there is to audit.

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use interrupts::life::{Interrupt, RunState, State};
use interrupts::store::{Filter, Page, Run, Store};
use interrupts::{Notifier, OwnerName};
use serde_json::Value;
use store::{StoreLocation, StoreSettings, notifier_at};
use tempfile::TempDir;
use tests::auditor::{Attempt, Evidence, Outcome, Report, audit};
use tests::postgres::{is_asked_for, own_store};
use tests::providers::RIGHT_KEY;

use crate::brain::Brain;

/// Everything, as one page.
pub(crate) const ALL: Page = Page {
    after: 0,
    limit: 100_000,
};

/// A store, a folder to speak about, and a model.
pub(crate) struct World {
    pub(crate) store: Arc<dyn Store>,
    location: String,
    pub(crate) brain: Brain,
    pub(crate) notifier: Arc<dyn Notifier>,
    pub(crate) folder: TempDir,
    /// Processes that ended by themselves, and not with success.
    failures: Mutex<Vec<String>>,
}

impl World {
    pub(crate) async fn new() -> Arc<Self> {
        Self::with(Brain::start().await).await
    }

    /// One with this model.
    pub(crate) async fn with(brain: Brain) -> Arc<Self> {
        let mut folder = tempfile::tempdir().unwrap();
        // Whoever looks into a failure wants to see what was left.
        folder.disable_cleanup(std::env::var_os("CRASHES_KEEP").is_some());
        let workspace = folder.path().join("workspace");
        std::fs::create_dir_all(workspace.join("src")).unwrap();
        std::fs::write(workspace.join("README.md"), "# Bakery\n\nBread.\n").unwrap();
        std::fs::write(workspace.join("src/oven.rs"), "pub fn bake() {}\n").unwrap();
        let location = match is_asked_for() {
            true => own_store().unwrap().parse().unwrap(),
            false => StoreLocation::File(folder.path().join("irq.db")),
        };
        let store = location.open(StoreSettings::default()).await.unwrap();
        let name = OwnerName::new("outside").unwrap();
        Arc::new(Self {
            store,
            brain,
            notifier: notifier_at(&location, &name),
            location: location.to_string(),
            folder,
            failures: Mutex::default(),
        })
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The binary under test, with this store; it finds the model there, where it begins a run.
    pub(crate) fn irq(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_irq"));
        command
            .args(arguments)
            .env("IRQ_STORE", &self.location)
            .env("IRQ_USER", "ada")
            .env("OPENAI_API_KEY", RIGHT_KEY)
            .env_remove("NO_COLOR")
            // Whoever holds the other end may still answer, so questions stay open.
            .stdin(Stdio::piped());
        command
    }

    /// The command that begins a run.
    pub(crate) fn begin(&self, goal: &str) -> Command {
        let mut command = self.irq(&["run", goal, "--json", "--model", "openai:gpt-5-mini"]);
        command
            .args(["--base-url", &format!("{}/v1", self.brain.address())])
            .arg("--workspace")
            .arg(self.file("workspace"));
        command
    }

    /// The command that goes on with a run.
    pub(crate) fn resume(&self, run: &Run) -> Command {
        self.irq(&["resume", &run.id.to_string(), "--json"])
    }

    /// The first question that waits for a person, once there is one.
    pub(crate) async fn first_question(&self) -> Interrupt {
        let filter = Filter {
            states: vec![State::AwaitingReview],
            ..Filter::default()
        };
        loop {
            let open = self.store.interrupts(&filter, ALL).await.unwrap();
            if let Some((_position, first)) = open.into_iter().next() {
                return first;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    /// All runs.
    pub(crate) async fn runs(&self) -> Vec<Run> {
        let runs = self.store.runs(&[], ALL).await.unwrap();
        runs.into_iter().map(|(_position, run)| run).collect()
    }

    /// The run with this goal.
    pub(crate) async fn run_of(&self, goal: &str) -> Option<Run> {
        let is_it = |run: &Run| {
            serde_json::from_str::<Value>(&run.content).is_ok_and(|order| order["goal"] == goal)
        };
        self.runs().await.into_iter().find(is_it)
    }

    pub(crate) fn failed(&self, what: String) {
        self.failures.lock().unwrap().push(what);
    }

    pub(crate) fn failures(&self) -> Vec<String> {
        self.failures.lock().unwrap().clone()
    }

    /// Wakes whoever has the run.
    pub(crate) async fn notify(&self, run: &Run) {
        if let Some(lease) = &run.lease {
            self.notifier.notify(&lease.owner).await;
        }
    }

    /// What the auditor says.
    pub(crate) async fn audit(&self, attempts: &[Attempt]) -> Report {
        let calls = self.brain.calls();
        let evidence = Evidence {
            store: &*self.store,
            attempts,
            calls: &calls,
        };
        audit(&evidence).await.unwrap()
    }

    /// What runs have published by themselves, as if each had been tried: it was published by nobody outside.
    pub(crate) async fn own_attempts(&self) -> Vec<Attempt> {
        let all = self.store.interrupts(&Filter::default(), ALL).await;
        let interrupts = all.unwrap().into_iter();
        let attempt = |(_position, interrupt): (u64, Interrupt)| Attempt {
            key: interrupt.key.as_str().to_owned(),
            outcome: Outcome::Unknown,
        };
        interrupts.map(attempt).collect()
    }

    /// All runs are completed.
    pub(crate) async fn assert_completed(&self) {
        for run in self.runs().await {
            let (state, reason) = (run.state, &run.reason);
            assert_eq!(state, RunState::Completed, "{}: {reason:?}", run.content);
        }
    }
}
