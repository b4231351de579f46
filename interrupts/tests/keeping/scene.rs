//! A store, processes that share it, and workflows that do what they are told.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use interrupt_router::{NodeId, RunId, StopMode};
use interrupts::life::{Actor, Evidence, Interrupt, Role, RunState, State};
use interrupts::manager::{
    AgentRoutes, Backoff, Deliveries, InterruptManager, KeepError, ManagerSettings, OwnedRun,
    StopRequest, Taking, Target, Times, Undeliverable,
};
use interrupts::store::{Filter, Interrupts as _, NewRun, Page, Runs as _, StoredMessage};
use interrupts::{ActorName, KindName, Notifier, OwnerName, RouteName};
use store::{MemoryStore, StoreSettings};
use tokio::runtime::Handle;

pub(crate) const ALL: Page = Page {
    after: 0,
    limit: 100_000,
};

/// One installation: what all processes share.
#[derive(Clone)]
pub(crate) struct Scene {
    pub(crate) store: Arc<MemoryStore>,
}

impl Scene {
    pub(crate) fn new() -> Self {
        Self {
            store: Arc::new(MemoryStore::new(StoreSettings::default())),
        }
    }

    pub(crate) async fn run(&self) -> RunId {
        let new = NewRun {
            root: None,
            id: RunId::generate(),
            alias: None,
            content: "{}".to_owned(),
        };
        self.store.create_run(new).await.unwrap().id
    }

    pub(crate) fn settings(&self, owner: &str) -> ManagerSettings {
        ManagerSettings {
            times: Times {
                grace: Duration::from_secs(2),
                hook: Duration::from_millis(500),
                delivery: Duration::from_millis(500),
                ..Times::default()
            },
            backoff: Backoff {
                first: Duration::from_millis(10),
                longest: Duration::from_millis(100),
                most: 4,
            },
            ..ManagerSettings::new(
                self.store.clone(),
                OwnerName::new(owner).unwrap(),
                Arc::new(agent_routes()),
            )
        }
    }

    /// A process of its own.
    pub(crate) fn process(&self, owner: &str) -> InterruptManager {
        InterruptManager::new(self.settings(owner), Handle::current())
    }

    pub(crate) async fn state(&self, run: RunId) -> RunState {
        self.store.run(run).await.unwrap().unwrap().state
    }

    /// The interrupts of a run, in the order of their admission.
    pub(crate) async fn interrupts(&self, run: RunId) -> Vec<Interrupt> {
        let filter = Filter {
            run: Some(run),
            ..Filter::default()
        };
        let rows = self.store.interrupts(&filter, ALL).await.unwrap();
        rows.into_iter().map(|(_position, row)| row).collect()
    }

    pub(crate) async fn states(&self, run: RunId) -> Vec<State> {
        let interrupts = self.interrupts(run).await;
        interrupts.iter().map(|interrupt| interrupt.state).collect()
    }
}

pub(crate) fn agent_routes() -> AgentRoutes {
    AgentRoutes {
        kind: KindName::new("ORCHESTRATOR").unwrap(),
        origin: RouteName::new("ORCHESTRATOR").unwrap(),
        routes: vec![
            RouteName::new("ORCHESTRATOR").unwrap(),
            RouteName::new("DISCOVERY").unwrap(),
        ],
    }
}

pub(crate) fn person() -> Actor {
    Actor {
        name: ActorName::new("ada").unwrap(),
        role: Role::Operator,
    }
}

pub(crate) fn node(text: &str) -> NodeId {
    NodeId::new(text).unwrap()
}

/// A pause by a person.
pub(crate) fn pause(target: Target, mode: StopMode) -> StopRequest {
    StopRequest::by_user(target, mode, person(), "enough for today")
}

/// Boxes that keep what they are given, and refuse it where a test says so.
#[derive(Default)]
pub(crate) struct Boxes {
    pub(crate) questions: Mutex<Vec<Interrupt>>,
    pub(crate) messages: Mutex<Vec<String>>,
    pub(crate) refusals: Mutex<Vec<Undeliverable>>,
}

#[async_trait]
impl Deliveries for Boxes {
    async fn question(&self, interrupt: &Interrupt) -> Result<(), Undeliverable> {
        if let Some(refusal) = self.refusals.lock().unwrap().pop() {
            return Err(refusal);
        }
        self.questions.lock().unwrap().push(interrupt.clone());
        Ok(())
    }

    async fn message(&self, message: &StoredMessage) {
        let text = message.message.text.clone();
        self.messages.lock().unwrap().push(text);
    }
}

pub(crate) fn taking(run: RunId) -> Taking {
    taking_with(run, Arc::new(Boxes::default()))
}

pub(crate) fn taking_with(run: RunId, deliveries: Arc<dyn Deliveries>) -> Taking {
    Taking {
        run,
        node: node("root"),
        lost: None,
        outlasted: None,
        deliveries,
        messages_after: 0,
        leaves_agents_out: true,
    }
}

pub(crate) async fn taken(process: &InterruptManager, run: RunId) -> OwnedRun {
    process.take(taking(run)).await.unwrap()
}

/// A workflow that works until it is told to stop, says so, and lets its run go.
pub(crate) async fn work_until_stopped(kept: OwnedRun) -> Result<(), KeepError> {
    kept.begin().await?;
    kept.scope().stopping().await;
    let stopped = kept.acknowledge_stops(Evidence::Boundary, None).await?;
    assert!(stopped.is_some());
    kept.settle(interrupts::manager::RunEnd::Stopped).await
}

/// A notifier that rings in this process, for a test's processes.
#[derive(Default)]
pub(crate) struct ProcessNotifier {
    pub(crate) notified: tokio::sync::Notify,
}

/// One process's end of the notifier.
pub(crate) struct NotifierEnd {
    pub(crate) ours: Arc<ProcessNotifier>,
    pub(crate) theirs: Arc<ProcessNotifier>,
}

#[async_trait]
impl Notifier for NotifierEnd {
    async fn notify(&self, _owner: &OwnerName) {
        self.theirs.notified.notify_one();
    }

    async fn heard(&self) {
        self.ours.notified.notified().await;
    }
}
