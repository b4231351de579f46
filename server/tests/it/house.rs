//! A server that listens, with a token for each role.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use agents::plan_execute::{PlanChange, PlanEditing, change_plan};
use async_trait::async_trait;
use control::ResumeOrder;
use control::{TokenOrder, issue_token};
use interrupt_router::{NodeId, RunId};
use interrupts::NoNotifier;
use interrupts::SystemClock;
use interrupts::life::{Actor, Role};
use interrupts::store::{CheckpointId, NewRun, Store, TokenScope};
use interrupts::{ActorName, OwnerName, WorkflowName};
use journal::ResumeRequest;
use planning::{PlanChangeRequest, StoredPlan};
use reqwest::{Client, RequestBuilder, Response, StatusCode};
use serde_json::Value;
use server::{
    Drained, LaunchError, LaunchOrder, PlanOrder, PlanOrderError, RunLauncher, ServerConfig, serve,
};
use store::{MemoryStore, StoreSettings};
use tokio::net::TcpListener;
use tokio::sync::Mutex;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

/// The roles, by the names in which people write them.
pub(crate) const ROLES: [(&str, Role); 6] = [
    ("viewer", Role::Observer),
    ("agent", Role::Requester),
    ("worker", Role::Worker),
    ("reviewer", Role::Reviewer),
    ("supervisor", Role::Supervisor),
    ("admin", Role::Operator),
];

/// A server that listens.
pub(crate) struct House {
    pub(crate) address: SocketAddr,
    pub(crate) store: Arc<dyn Store>,
    pub(crate) launcher: Arc<Launches>,
    pub(crate) client: Client,
    /// A token for each role; that of an agent is bound to a run that is none.
    pub(crate) tokens: BTreeMap<&'static str, String>,
    stop: CancellationToken,
    served: JoinHandle<Drained>,
}

/// What a server was asked to execute.
pub(crate) struct Launches {
    store: Arc<dyn Store>,
    pub(crate) woken: Mutex<Vec<RunId>>,
    pub(crate) resumed: Mutex<Vec<RunId>>,
    /// The new input that came with it.
    pub(crate) given: Mutex<Vec<String>>,
    /// Held, no suggestion comes to its end.
    pub(crate) thinking: Mutex<()>,
    /// How many suggestions were thought of.
    pub(crate) thoughts: AtomicU32,
}

#[async_trait]
impl RunLauncher for Launches {
    fn late_results(&self) -> u64 {
        3
    }

    async fn start(&self, order: LaunchOrder) -> Result<RunId, LaunchError> {
        if order.goal.is_empty() {
            return Err(LaunchError::Order {
                field: "goal".to_owned(),
                reason: "it is empty".to_owned(),
            });
        }
        let asked = order.asked().to_string();
        let new = NewRun {
            root: None,
            id: order.id,
            alias: order.alias,
            content: serde_json::json!({"goal": order.goal, "asked": asked}).to_string(),
        };
        match self.store.create_run(new).await {
            Ok(run) => Ok(run.id),
            Err(interrupts::store::RunError::Taken { run }) => Err(LaunchError::Taken { run }),
            Err(error) => Err(LaunchError::Unavailable {
                detail: error.to_string(),
            }),
        }
    }

    async fn wake(&self, run: RunId) -> Result<(), LaunchError> {
        self.woken.lock().await.push(run);
        Ok(())
    }

    async fn resume(&self, run: RunId, request: ResumeRequest) -> Result<(), LaunchError> {
        let row = self.store.run(run).await.unwrap().unwrap();
        let (store, node) = (&*self.store, NodeId::root());
        request.keep(store, run, row.epoch, &node).await.unwrap();
        self.resumed.lock().await.push(run);
        self.given.lock().await.extend(request.input);
        Ok(())
    }

    async fn accept_catalogue(&self, run: RunId, by: Actor) -> Result<(), LaunchError> {
        let row = self.store.run(run).await.unwrap().unwrap();
        let name = row.catalogue.expect("the run names a catalogue");
        let catalogue = self.store.catalogue(name).await.unwrap().unwrap();
        let followed = self
            .store
            .follow_catalogue(run, row.epoch, catalogue, Some(by));
        followed.await.unwrap();
        Ok(())
    }

    async fn fork(
        &self,
        checkpoint: CheckpointId,
        id: RunId,
        order: ResumeOrder,
        _by: Actor,
    ) -> Result<RunId, LaunchError> {
        let new = NewRun {
            root: None,
            id,
            alias: None,
            content: serde_json::json!({"input": order.input}).to_string(),
        };
        match self.store.fork_run(checkpoint, new).await {
            Ok(run) => Ok(run.id),
            Err(interrupts::store::RunError::Taken { run }) => Err(LaunchError::Taken { run }),
            Err(error) => Err(LaunchError::in_state(error.to_string())),
        }
    }

    async fn change_plan(&self, order: PlanOrder) -> Result<StoredPlan, PlanOrderError> {
        let bench = PlanEditing {
            store: Arc::clone(&self.store),
            run: order.run,
            by: order.by,
            owner: OwnerName::new("server").unwrap(),
            // Who had the run in the scene is gone.
            lost: Some(OwnerName::new("worker").unwrap()),
            if_version: order.if_version,
            clock: Arc::new(SystemClock),
        };
        let change = match order.wish {
            PlanChangeRequest::Propose { tasks } => PlanChange::Propose { tasks },
            PlanChangeRequest::Undo => PlanChange::Undo,
            PlanChangeRequest::Redo => PlanChange::Redo,
            PlanChangeRequest::Suggest { request } => {
                // A model that thinks until the test lets it answer.
                let _turn = self.thinking.lock().await;
                self.thoughts.fetch_add(1, Ordering::Relaxed);
                let tasks = vec![request];
                PlanChange::Propose { tasks }
            }
        };
        Ok(change_plan(bench, change).await?)
    }
}

impl House {
    /// A server over an empty store in memory.
    pub(crate) async fn open() -> Self {
        Self::over(Arc::new(MemoryStore::new(StoreSettings::default())), |_| {}).await
    }

    /// A server over an empty store in memory, set up otherwise.
    pub(crate) async fn with(set_up: impl FnOnce(&mut ServerConfig)) -> Self {
        Self::over(Arc::new(MemoryStore::new(StoreSettings::default())), set_up).await
    }

    /// A server over a store.
    pub(crate) async fn over(
        store: Arc<dyn Store>,
        set_up: impl FnOnce(&mut ServerConfig),
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let launcher = Arc::new(Launches {
            store: Arc::clone(&store),
            woken: Mutex::default(),
            resumed: Mutex::default(),
            given: Mutex::default(),
            thinking: Mutex::default(),
            thoughts: AtomicU32::new(0),
        });
        let mut config = ServerConfig::new(Arc::clone(&store), Arc::new(NoNotifier));
        config.catalogues = agents::catalogue::built_in();
        config.launcher = Arc::clone(&launcher) as Arc<dyn RunLauncher>;
        config.limits.feed_poll = Duration::from_millis(5);
        set_up(&mut config);
        let mut tokens = BTreeMap::new();
        for (name, role) in ROLES {
            let secret = match role {
                Role::Requester => agent(&*store, name, RunId::generate(), None).await,
                Role::Worker => worker(&*store, name, "support").await,
                Role::Observer
                | Role::Reviewer
                | Role::Supervisor
                | Role::Operator
                | Role::System => token(&*store, name, role).await,
            };
            tokens.insert(name, secret);
        }
        let stop = CancellationToken::new();
        let told = stop.clone();
        let served = tokio::spawn(async move { serve(listener, config, told).await.unwrap() });
        Self {
            address,
            store,
            launcher,
            client: tls::client().build().unwrap(),
            tokens,
            stop,
            served,
        }
    }

    /// Binds the token of the role `agent` to a run.
    pub(crate) async fn bind_agent(&mut self, run: RunId) {
        let bound = agent(&*self.store, "agent", run, None).await;
        self.tokens.insert("agent", bound);
    }

    /// Tells the server to stop, and waits until it has.
    pub(crate) async fn close(self) -> Drained {
        self.stop.cancel();
        self.served.await.unwrap()
    }

    /// Tells the server to stop.
    pub(crate) fn tell_to_stop(&self) {
        self.stop.cancel();
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    pub(crate) fn get(&self, role: &str, path: &str) -> RequestBuilder {
        self.client
            .get(self.url(path))
            .bearer_auth(&self.tokens[role])
    }

    pub(crate) fn post(&self, role: &str, path: &str, body: &Value) -> RequestBuilder {
        self.client
            .post(self.url(path))
            .bearer_auth(&self.tokens[role])
            .json(body)
    }

    pub(crate) fn delete(&self, role: &str, path: &str) -> RequestBuilder {
        self.client
            .delete(self.url(path))
            .bearer_auth(&self.tokens[role])
    }

    /// What is read at a path.
    pub(crate) async fn read(&self, path: &str) -> Value {
        let response = self.get("viewer", path).send().await.unwrap();
        assert_eq!(response.status(), StatusCode::OK, "{path}");
        response.json().await.unwrap()
    }
}

/// A token of somebody.
pub(crate) async fn token(store: &dyn Store, name: &str, role: Role) -> String {
    issued(store, name, role, None).await
}

/// The token of an agent, which is bound to a run, or to an agent of it.
pub(crate) async fn agent(store: &dyn Store, name: &str, run: RunId, node: Option<&str>) -> String {
    let node = node.map(|node| NodeId::new(node).unwrap());
    issued(
        store,
        name,
        Role::Requester,
        Some(TokenScope::Run { run, node }),
    )
    .await
}

/// The token of a worker, which is bound to its workflow.
pub(crate) async fn worker(store: &dyn Store, name: &str, workflow: &str) -> String {
    let workflow = WorkflowName::new(workflow).unwrap();
    issued(
        store,
        name,
        Role::Worker,
        Some(TokenScope::Workflow { workflow }),
    )
    .await
}

async fn issued(store: &dyn Store, name: &str, role: Role, scope: Option<TokenScope>) -> String {
    let order = TokenOrder {
        name: ActorName::new(name).unwrap(),
        role,
        lifetime: None,
        once: false,
        scope,
        by: None,
    };
    issue_token(store, order).await.unwrap().secret
}

/// The code of a problem, after a look at all that every problem has.
pub(crate) async fn problem(response: Response, status: StatusCode) -> Value {
    assert_eq!(response.status(), status);
    assert_eq!(
        response.headers()["content-type"],
        "application/problem+json"
    );
    let problem: Value = response.json().await.unwrap();
    assert_eq!(problem["status"], status.as_u16(), "{problem}");
    for member in ["title", "detail", "code", "hint"] {
        let text = problem[member].as_str().unwrap_or_default();
        assert!(!text.is_empty(), "{member} of {problem}");
    }
    let named = format!("/problems/{}", problem["code"].as_str().unwrap());
    assert_eq!(problem["type"], named);
    problem
}
