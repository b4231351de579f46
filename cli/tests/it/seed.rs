//! A store in a file, with runs in it that a test makes happen, and the program on the same file.

use std::path::{Path, PathBuf};
use std::process::Command;

use interrupt_router::{
    DecisionId, InterruptId, InterruptType, NodeId, RunId, StopMode, StopSource,
};
use interrupts::life::{
    Actor, Admission, Choosing, ExpiryOutcome, Interrupt, Judge, Recurrence, Role, RunState, Scope,
    Verdict,
};
use interrupts::store::{
    CheckpointDraft, Checkpoints, Deciders, Delivery, Filter, Intent, Interrupts, Journal, NewRun,
    NodeActivity, NodeRow, Nodes, Page, RaisedQuestion, Repeating, Run, Runs,
};
use interrupts::{ActorName, Digest, EffectId, IdempotencyKey, KindName, OwnerName, RouteName};
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};
use store::{SqliteStore, StoreSettings};
use tempfile::TempDir;
use tokio::runtime::Runtime;

use crate::program::{Ended, end, irq};

/// The routes of every seeded interrupt.
const ROUTES: [&str; 3] = [
    "ORCHESTRATOR",
    "DISCOVERY_ORCHESTRATOR",
    "TICKET_ORCHESTRATOR",
];

/// A store and what is needed to make things happen in it.
pub(crate) struct Seed {
    runtime: Runtime,
    pub(crate) store: SqliteStore,
    pub(crate) folder: TempDir,
}

impl Seed {
    pub(crate) fn new() -> Self {
        let runtime = Runtime::new().unwrap();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("irq.db");
        let store = runtime
            .block_on(SqliteStore::open(path, StoreSettings::default()))
            .unwrap();
        Self {
            runtime,
            store,
            folder,
        }
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.folder.path().join("irq.db")
    }

    /// The program on this store, as `ada`.
    pub(crate) fn irq(&self, arguments: &[&str]) -> Command {
        let mut command = irq();
        command
            .args(arguments)
            .arg("--store")
            .arg(self.path())
            .env("IRQ_USER", "ada");
        command
    }

    /// The program on this store, to its end.
    pub(crate) fn end(&self, arguments: &[&str]) -> Ended {
        end(&mut self.irq(arguments))
    }

    /// The one JSON object that a command prints.
    pub(crate) fn json(&self, arguments: &[&str]) -> Value {
        let ended = self.end(arguments).exits_with(0);
        serde_json::from_str(&ended.output).unwrap()
    }

    /// Closes the store and copies its file.
    pub(crate) fn close_into(self, copy: &Path) {
        let path = self.path();
        self.runtime.block_on(self.store.close()).unwrap();
        std::fs::copy(path, copy).unwrap();
    }

    pub(crate) fn wait<T>(&self, work: impl Future<Output = T>) -> T {
        self.runtime.block_on(work)
    }

    /// A run that a process works on: three agents, of which one has ended.
    pub(crate) fn run(&self) -> Run {
        self.run_of(&json!({"goal": "Describe the bakery"}))
    }

    /// As [`Seed::run`], with what else is kept of it.
    pub(crate) fn run_of(&self, content: &Value) -> Run {
        let new = NewRun {
            root: None,
            id: RunId::generate(),
            alias: None,
            content: content.to_string(),
        };
        self.wait(async {
            let run = self.store.create_run(new).await.unwrap();
            let run = self
                .store
                .own_run(run.id, delivery("process-1", 600))
                .await
                .unwrap();
            let run = self
                .store
                .change_run(run.id, run.epoch, RunState::Running, None)
                .await
                .unwrap();
            let rows = vec![
                node(&run, "orchestrator", "ORCHESTRATOR", NodeActivity::Running),
                node(
                    &run,
                    "orchestrator/discovery",
                    "DISCOVERY_ORCHESTRATOR",
                    NodeActivity::Running,
                ),
                node(
                    &run,
                    "orchestrator/old",
                    "CONTEXT_MANAGER",
                    NodeActivity::Completed,
                ),
            ];
            self.store.put_nodes(run.id, run.epoch, rows).await.unwrap();
            run
        })
    }

    /// The process that worked on a run has gone.
    pub(crate) fn abandon(&self, run: &Run) {
        self.wait(self.store.release_run(run.id, run.epoch))
            .unwrap();
    }

    pub(crate) fn change(&self, run: &Run, state: RunState) {
        self.wait(
            self.store
                .change_run(run.id, run.epoch, state, Some("as told".to_owned())),
        )
        .unwrap();
    }

    /// A question of the run's discovery agent that waits for a person.
    pub(crate) fn question(&self, run: &Run) -> Interrupt {
        self.asked(run, typed_request(), Vec::new())
    }

    /// A question of this content, which may be decided so.
    pub(crate) fn asked(&self, run: &Run, content: String, allowed: Vec<Verdict>) -> Interrupt {
        self.raised(Admission {
            content,
            allowed,
            ..question(run)
        })
    }

    /// A question that waits for a person.
    pub(crate) fn raised(&self, admission: Admission) -> Interrupt {
        self.wait(async {
            let raised = RaisedQuestion {
                admission,
                delivery: delivery("process-1", 600),
                deciders: Deciders::default(),
            };
            let raised = self.store.raise(raised).await.unwrap().into_interrupt();
            let shown = Digest::of(raised.content.as_bytes());
            self.store
                .require_review(raised.id, raised.epoch, shown)
                .await
                .unwrap()
        })
    }

    /// Somebody else decides.
    pub(crate) fn decide(&self, interrupt: &Interrupt, name: &str) -> Interrupt {
        let judge = Judge::Person {
            actor: actor(name),
            version: interrupt.version,
            shown: interrupt.review.as_ref().unwrap().shown,
        };
        let choosing = Choosing {
            id: DecisionId::generate(),
            verdict: Verdict::Respond,
            target: None,
            content: Some(json!({"text": "the left one"}).to_string()),
        };
        self.wait(self.store.decide(interrupt.id, judge, choosing))
            .unwrap()
    }

    /// All interrupts of a run.
    pub(crate) fn interrupts(&self, run: &Run) -> Vec<Interrupt> {
        let filter = Filter {
            run: Some(run.id),
            ..Filter::default()
        };
        let page = Page {
            after: 0,
            limit: 100,
        };
        let rows = self.wait(self.store.interrupts(&filter, page)).unwrap();
        rows.into_iter().map(|(_position, it)| it).collect()
    }

    pub(crate) fn interrupt(&self, id: InterruptId) -> Interrupt {
        self.wait(self.store.interrupt(id)).unwrap().unwrap()
    }

    /// A model call of the orchestrator, with its result.
    pub(crate) fn model_call(&self, run: &Run, place: &str) {
        let effect = EffectId::in_run(run.id, place);
        let intent = Intent {
            effect,
            run: run.id,
            node: NodeId::new("orchestrator").unwrap(),
            kind: KindName::new("model_call").unwrap(),
            repeating: Repeating::Idempotent,
            content: json!({"purpose": "step", "turn": 1}).to_string(),
            place: Some(place.to_owned()),
        };
        self.wait(async {
            self.store.begin(run.epoch, intent).await.unwrap();
            let result = json!({"text": "bread and \u{202e}cakes"}).to_string();
            self.store.finish(run.epoch, effect, result).await.unwrap();
        });
    }

    pub(crate) fn checkpoint(&self, run: &Run) {
        let draft = CheckpointDraft {
            run: run.id,
            epoch: run.epoch,
            parent: None,
            form: 1,
            content: json!({"steps": 4, "reason": "waiting"}).to_string(),
            intents: Vec::new(),
            pending: Vec::new(),
        };
        self.wait(self.store.save(draft)).unwrap();
    }
}

pub(crate) fn actor(name: &str) -> Actor {
    Actor {
        name: ActorName::new(name).unwrap(),
        role: Role::Reviewer,
    }
}

pub(crate) fn delivery(owner: &str, seconds: i64) -> Delivery {
    Delivery {
        owner: OwnerName::new(owner).unwrap(),
        lease: SignedDuration::from_secs(seconds),
        lost: None,
    }
}

pub(crate) fn node(run: &Run, node: &str, kind: &str, activity: NodeActivity) -> NodeRow {
    NodeRow {
        run: run.id,
        node: NodeId::new(node).unwrap(),
        kind: KindName::new(kind).unwrap(),
        activity,
        takes_messages: !activity.is_final(),
        turn: 1,
        step: 2,
        tokens: 0,
        since: Timestamp::now(),
        waits: None,
    }
}

pub(crate) fn question(run: &Run) -> Admission {
    let route = |name: &str| RouteName::new(name).unwrap();
    Admission {
        id: InterruptId::generate(),
        run: run.id,
        node: NodeId::new("orchestrator/discovery").unwrap(),
        kind: KindName::new("DISCOVERY_ORCHESTRATOR").unwrap(),
        origin: route("DISCOVERY_ORCHESTRATOR"),
        routes: ROUTES.map(route).to_vec(),
        interrupt_type: InterruptType::HumanReview,
        source: StopSource::Programmatic,
        requested_by: Actor {
            name: ActorName::new("DISCOVERY_ORCHESTRATOR").unwrap(),
            role: Role::Requester,
        },
        mode: StopMode::Graceful,
        scope: Scope::Agent,
        reason: "which way?".to_owned(),
        content: typed_request(),
        key: IdempotencyKey::new(InterruptId::generate().to_string()).unwrap(),
        allowed: Vec::new(),
        patience: None,
        on_expiry: ExpiryOutcome::Reject,
        most_attempts: 3,
        recurrence: Recurrence::Verbatim,
        reroute: None,
    }
}

fn typed_request() -> String {
    json!({
        "type": "HUMAN_REVIEW",
        "reason": "which way \u{1b}[2Jshall it go?",
        "choices": [
            {"label": "Left", "value": "left", "description": "the short way"},
            {"label": "Right", "value": "right", "description": "the long way"},
        ],
        "confirmationItems": [],
        "contextForDecision": "both lead there",
    })
    .to_string()
}
