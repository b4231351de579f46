//! All that runs: the database, the broker, the machines, and what the proof knows of them.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use interrupt_router::RunId;
use interrupts::store::{Page, Store};
use reqwest::{Client, StatusCode};
use serde_json::Value;
use store::{StoreLocation, StoreSettings};
use tempfile::TempDir;
use tests::providers::RIGHT_KEY;

use crate::brain::Brain;
use crate::broker::Broker;
use crate::clock::MachineClock;
use crate::count::FaultCount;
use crate::database::Database;
use crate::link::Link;
use crate::machine::{Duty, Machine};
use crate::takeovers::Takeovers;
use crate::ways::{Ways, address, apart, broker_address, token_of};

/// Everything, as one page.
pub(crate) const ALL: Page = Page {
    after: 0,
    limit: 1_000_000,
};

/// How long an answer of a server is waited for.
const ANSWER: Duration = Duration::from_secs(20);

/// How often it is looked whether a machine is there.
const LOOK: Duration = Duration::from_millis(100);

const WORKERS: usize = 3;
const SERVERS: usize = 2;

/// The installation.
pub(crate) struct Installation {
    pub(crate) folder: TempDir,
    pub(crate) database: Mutex<Database>,
    pub(crate) broker: Mutex<Broker>,
    pub(crate) workers: Vec<Machine>,
    pub(crate) servers: Vec<Machine>,
    /// Dropped after the database and the broker, which run in it.
    pub(crate) ways: Ways,
    pub(crate) brain: Brain,
    /// The store, by links that are never cut.
    pub(crate) store: Arc<dyn Store>,
    location: StoreLocation,
    /// They are never cut, and are there while they are held.
    _own: Vec<Link>,
    pub(crate) faults: FaultCount,
    pub(crate) takeovers: Takeovers,
    /// Processes that ended by themselves, with what they said.
    pub(crate) ended: Mutex<Vec<String>>,
    /// Whether the people, the supervisors and those who start runs are to go on.
    pub(crate) goes_on: AtomicBool,
    /// The runs that have ended.
    pub(crate) runs_ended: Mutex<Vec<RunId>>,
    /// How many interrupts they had.
    pub(crate) interrupts: AtomicUsize,
    client: Client,
    token: String,
    turn: AtomicUsize,
    apart: Option<Vec<&'static str>>,
}

impl Installation {
    /// One with nothing running but its database and its broker; none where the tests have none of them.
    pub(crate) async fn new() -> Option<Arc<Self>> {
        let begun = tokio::task::spawn_blocking(|| {
            let ways = Ways::of(WORKERS + SERVERS);
            let database = Database::start(ways.places_of_database())?;
            let broker = Broker::start(&ways.places_of_broker())?;
            Some((ways, database, broker))
        });
        let (ways, database, broker) = begun.await.unwrap()?;
        let mut folder = tempfile::tempdir().unwrap();
        // What is left explains a failure.
        folder.disable_cleanup(std::env::var_os("CRASHES_KEEP").is_some());
        let workspace = folder.path().join("workspace");
        std::fs::create_dir_all(workspace.join("src")).unwrap();
        std::fs::write(workspace.join("README.md"), "# Bakery\n\nBread.\n").unwrap();
        std::fs::write(workspace.join("src/oven.rs"), "pub fn bake() {}\n").unwrap();
        let own = ways.own(database.ports()).await;
        let location = address(&own);
        let token = token_of(&location, "script");
        let location: StoreLocation = location.parse().unwrap();
        let store = location.open(StoreSettings::default()).await.unwrap();
        let machines = machines(&ways, &database, &broker, folder.path()).await;
        let (workers, servers) = machines.into_iter().partition(Machine::is_worker);
        Some(Arc::new(Self {
            folder,
            ways,
            database: Mutex::new(database),
            broker: Mutex::new(broker),
            workers,
            servers,
            brain: Brain::start().await,
            store,
            location,
            _own: own,
            faults: FaultCount::default(),
            takeovers: Takeovers::default(),
            ended: Mutex::default(),
            goes_on: AtomicBool::new(true),
            runs_ended: Mutex::default(),
            interrupts: AtomicUsize::default(),
            // A connection to a server that was killed must not be used for the next one.
            client: tls::client()
                .pool_max_idle_per_host(0)
                .timeout(ANSWER)
                .build()
                .unwrap(),
            token,
            turn: AtomicUsize::default(),
            apart: apart(),
        }))
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Whether each process of `irq` has a list of processes of its own.
    pub(crate) const fn is_apart(&self) -> bool {
        self.apart.is_some()
    }

    pub(crate) fn machines(&self) -> impl Iterator<Item = &Machine> {
        self.workers.iter().chain(&self.servers)
    }

    pub(crate) fn token(&self) -> &str {
        &self.token
    }

    /// Keeps all machines up, until it is dropped.
    pub(crate) fn is_kept_up(self: &Arc<Self>) -> tokio::task::JoinHandle<()> {
        let installation = Arc::clone(self);
        tokio::spawn(async move {
            loop {
                for machine in installation.machines() {
                    let command = || installation.command(machine);
                    let said = tokio::task::block_in_place(|| machine.is_kept_up(command));
                    installation.ended.lock().unwrap().extend(said);
                }
                tokio::time::sleep(LOOK).await;
            }
        })
    }

    fn command(&self, machine: &Machine) -> Command {
        let mut words = self.ways.enter(machine.number);
        if let Some(apart) = &self.apart {
            words.push("unshare".to_owned());
            words.extend(apart.iter().map(|word| (*word).to_owned()));
        }
        words.push(env!("CARGO_BIN_EXE_irq").to_owned());
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]);
        match machine.duty {
            Duty::Worker => command.arg("worker"),
            Duty::Server(listens) => command
                .args([
                    "serve",
                    "--runs-by-workers",
                    "--requests-per-second",
                    "5000",
                ])
                .args(["--listen", &listens.to_string(), "--behind-proxy"])
                .args(["--host", &listens.ip().to_string(), "--bus"])
                .arg(broker_address(&machine.broker))
                .args(["--model", "openai:gpt-5-mini", "--base-url"])
                .arg(self.model_of(machine))
                .arg("--workspace")
                .arg(self.file("workspace")),
        };
        command
            .env("IRQ_STORE", address(&machine.database))
            .env("IRQ_CONFIG", "/dev/null")
            .env("IRQ_USER", "ada")
            .env("OPENAI_API_KEY", RIGHT_KEY)
            .env_remove("NO_COLOR");
        command
    }

    /// Where the model is.
    fn model_of(&self, machine: &Machine) -> String {
        let brain = self.brain.address();
        format!("{}/v1", self.ways.seen_from(machine.number, brain))
    }

    /// A command that looks at the store, by links that are never cut.
    pub(crate) fn irq(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_irq"));
        command
            .args(arguments)
            .env("IRQ_STORE", self.location.to_string())
            .env("IRQ_CONFIG", "/dev/null");
        command
    }

    /// The addresses of the servers, another one first each time.
    pub(crate) fn addresses(&self) -> impl Iterator<Item = String> {
        let first = self.turn.fetch_add(1, Ordering::Relaxed);
        let count = self.servers.len();
        (0..count).map(
            move |next| match self.servers[(first + next) % count].duty {
                Duty::Server(listens) => format!("http://{listens}"),
                Duty::Worker => String::new(),
            },
        )
    }

    /// What the first server says that answers; none where no server does.
    pub(crate) async fn get(&self, path: &str) -> Option<(StatusCode, Option<String>, Value)> {
        for address in self.addresses() {
            let request = self.client.get(format!("{address}{path}"));
            let Ok(response) = request.bearer_auth(&self.token).send().await else {
                continue;
            };
            let status = response.status();
            let version = response.headers().get("etag");
            let version = version.and_then(|it| Some(it.to_str().ok()?.to_owned()));
            if let (false, Ok(body)) = (status.is_server_error(), response.json().await) {
                return Some((status, version, body));
            }
        }
        None
    }

    /// Sends something to one server; none where it does not answer.
    pub(crate) async fn post(
        &self,
        path: &str,
        headers: &[(&str, &str)],
        body: &Value,
    ) -> Option<(StatusCode, Value)> {
        let address = self.addresses().next().unwrap();
        let mut request = self.client.post(format!("{address}{path}"));
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let request = request.bearer_auth(&self.token).body(body.to_string());
        let response = request.send().await.ok()?;
        let status = response.status();
        let body = response.json().await.ok()?;
        Some((status, body))
    }
}

/// The workers, and then the servers.
async fn machines(
    ways: &Ways,
    database: &Database,
    broker: &Broker,
    folder: &Path,
) -> Vec<Machine> {
    let library = MachineClock::library(folder);
    let mut machines = Vec::new();
    for number in 0..WORKERS + SERVERS {
        let links = (
            ways.to_database(number, database.ports()).await,
            ways.to_broker(number, &broker.ports()).await,
        );
        let (name, duty) = match number < WORKERS {
            true => (format!("worker-{number}"), Duty::Worker),
            false => {
                let listens = ways.listens(number);
                (format!("server-{number}"), Duty::Server(listens))
            }
        };
        let clock = MachineClock::new(folder, &name, &library);
        machines.push(Machine::new((number, name), duty, links, clock, folder));
    }
    machines
}
