//! A broker, a store, and servers over both.

use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};
use std::process::Child;
use std::sync::Arc;
use std::time::{Duration, Instant};

use async_nats::jetstream;
use interrupts::OwnerName;
use interrupts::store::Store;
use reqwest::{Client, StatusCode};
use serde_json::{Value, json};
use store::{StoreLocation, StoreSettings};
use tempfile::TempDir;
use tests::nats::NatsServer;

use crate::program::{end, interrupt, irq, spawn, workspace};

/// How long what is waited for may take.
const PATIENCE: Duration = Duration::from_secs(60);

/// The stream of all events.
const STREAM: &str = "IRQ_EVENTS";

/// What an installation needs.
pub(crate) struct Scene {
    pub(crate) nats: NatsServer,
    folder: TempDir,
    workspace: TempDir,
    client: Client,
    token: String,
}

/// A server that runs.
pub(crate) struct Server {
    child: Child,
    url: String,
    /// What it said before it said where its page is, and a little later.
    pub(crate) said: String,
}

/// A message of the stream.
#[derive(Debug, Clone)]
pub(crate) struct Heard {
    pub(crate) subject: String,
    pub(crate) media_type: String,
    pub(crate) event: Value,
}

impl Heard {
    /// Its place in the feed.
    pub(crate) fn position(&self) -> u64 {
        self.event["sequence"].as_str().unwrap().parse().unwrap()
    }
}

impl Scene {
    /// One with a broker of its own; none where no broker is installed.
    pub(crate) fn new() -> Option<Self> {
        Self::with(NatsServer::start()?)
    }

    pub(crate) fn with(nats: NatsServer) -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let mut scene = Self {
            nats,
            folder,
            workspace: workspace(),
            client: tls::client().pool_max_idle_per_host(0).build().unwrap(),
            token: String::new(),
        };
        scene.token = scene.token_of("script", "admin");
        Some(scene)
    }

    pub(crate) fn store(&self) -> PathBuf {
        self.folder.path().join("irq.db")
    }

    pub(crate) fn workspace(&self) -> &Path {
        self.workspace.path()
    }

    /// Makes a token.
    pub(crate) fn token_of(&self, name: &str, role: &str) -> String {
        let made = end(irq()
            .args(["token", "create", "--name", name, "--role", role])
            .env("IRQ_STORE", self.store()))
        .exits_with(0);
        made.output.trim().to_owned()
    }

    /// Starts a server that publishes to the broker.
    pub(crate) fn serve(&self) -> Server {
        self.serve_at(&format!("nats://{}", self.nats.address()), &[])
    }

    /// Starts a server with this broker and more arguments, and waits until it has said where it is.
    pub(crate) fn serve_at(&self, nats: &str, arguments: &[&str]) -> Server {
        let mut command = irq();
        command
            .args(["serve", "--listen", "127.0.0.1:0", "--bus", nats])
            .arg("--workspace")
            .arg(self.workspace.path())
            .args(arguments)
            .env("IRQ_STORE", self.store());
        let mut child = spawn(&mut command);
        let mut errors = BufReader::new(child.stderr.take().unwrap());
        let mut output = BufReader::new(child.stdout.take().unwrap());
        let mut page = String::new();
        output.read_line(&mut page).unwrap();
        let mut said = String::new();
        if page.is_empty() {
            errors.read_to_string(&mut said).unwrap();
            panic!("it did not start: {said}");
        }
        while !said.contains("Serving on") {
            errors.read_line(&mut said).unwrap();
        }
        // What it logs must not fill a pipe that is not read.
        std::thread::spawn(move || std::io::copy(&mut errors, &mut std::io::stderr()));
        let (url, _launch) = page.split_once("/?").unwrap();
        Server {
            child,
            url: url.to_owned(),
            said,
        }
    }

    /// A supervisor's connection to the broker.
    pub(crate) async fn supervisor(&self) -> async_nats::Client {
        async_nats::connect(self.nats.address()).await.unwrap()
    }

    pub(crate) async fn get(&self, server: &Server, path: &str) -> Value {
        let request = self.client.get(format!("{}{path}", server.url));
        let response = request.bearer_auth(&self.token).send().await.unwrap();
        assert!(response.status().is_success(), "{path}: {response:?}");
        response.json().await.unwrap()
    }

    pub(crate) async fn text(&self, server: &Server, path: &str) -> String {
        let request = self.client.get(format!("{}{path}", server.url));
        let response = request.bearer_auth(&self.token).send().await.unwrap();
        assert!(response.status().is_success(), "{path}: {response:?}");
        response.text().await.unwrap()
    }

    /// A CloudEvent over REST, with a token.
    pub(crate) async fn post_event(
        &self,
        server: &Server,
        token: Option<&str>,
        event: &Value,
    ) -> (StatusCode, Value) {
        let mut request = self
            .client
            .post(format!("{}/v1/events", server.url))
            .header("content-type", "application/cloudevents+json")
            .body(event.to_string());
        if let Some(token) = token {
            request = request.bearer_auth(token);
        }
        let response = request.send().await.unwrap();
        (response.status(), response.json().await.unwrap())
    }

    /// Starts a run that ends by itself.
    pub(crate) async fn start(&self, server: &Server) -> String {
        self.start_with(server, &json!({"goal": "Describe the bakery"}))
            .await
    }

    /// Starts a run whose orchestrator asks one question.
    pub(crate) async fn start_asking(&self, server: &Server) -> String {
        let script = json!({"version": 1, "steps": [interrupt("HUMAN_REVIEW")]});
        let order = json!({"goal": "Describe the bakery", "options": {"script": script}});
        self.start_with(server, &order).await
    }

    async fn start_with(&self, server: &Server, order: &Value) -> String {
        let request = self.client.post(format!("{}/v1/runs", server.url));
        let started = request.bearer_auth(&self.token).json(order).send().await;
        let run: Value = started.unwrap().json().await.unwrap();
        run["run_id"]
            .as_str()
            .unwrap_or_else(|| panic!("{run}"))
            .to_owned()
    }

    /// Looks until something is there.
    pub(crate) async fn until<T>(
        &self,
        server: &Server,
        path: &str,
        find: impl Fn(&Value) -> Option<T>,
    ) -> T {
        let end = Instant::now() + PATIENCE;
        loop {
            let value = self.get(server, path).await;
            if let Some(found) = find(&value) {
                return found;
            }
            assert!(Instant::now() < end, "{path} stays {value:#}");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// Whether a run works.
    pub(crate) async fn is_under_way(&self, server: &Server, run: &str) -> bool {
        self.get(server, &format!("/v1/runs/{run}")).await["status"] == "running"
    }

    /// Waits until a run has ended.
    pub(crate) async fn ends(&self, server: &Server, run: &str) {
        let path = format!("/v1/runs/{run}");
        let is_over = |run: &Value| {
            let status = run["status"].as_str().unwrap();
            matches!(status, "completed" | "failed" | "cancelled").then_some(())
        };
        self.until(server, &path, is_over).await;
    }

    /// The first question that waits for a person.
    pub(crate) async fn question(&self, server: &Server) -> Value {
        self.until(server, "/v1/interrupts?status=open", |page| {
            let open = page["interrupts"].as_array().unwrap();
            open.iter()
                .find(|it| it["state"] == "awaiting_review")
                .cloned()
        })
        .await
    }

    /// Waits until the server says this of itself, and returns all that it says.
    pub(crate) async fn says(&self, server: &Server, text: &str) -> String {
        let end = Instant::now() + PATIENCE;
        loop {
            let said = self.text(server, "/readyz").await;
            if said.contains(text) {
                return said;
            }
            assert!(Instant::now() < end, "it never says `{text}`: {said}");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// The store, beside the servers.
    pub(crate) async fn opened(&self) -> Arc<dyn Store> {
        let location = StoreLocation::File(self.store());
        location.open(StoreSettings::default()).await.unwrap()
    }

    /// The position up to which the broker has acknowledged everything, as the store knows it.
    pub(crate) async fn acknowledged(&self) -> u64 {
        let consumer = OwnerName::new("bus").unwrap();
        self.opened().await.cursor(&consumer).await.unwrap()
    }

    /// Waits until the broker has everything that the store has told.
    pub(crate) async fn is_published(&self) -> u64 {
        let store = self.opened().await;
        let consumer = OwnerName::new("bus").unwrap();
        let end = Instant::now() + PATIENCE;
        loop {
            let through = store.cursor(&consumer).await.unwrap();
            let page = interrupts::store::Page {
                after: through,
                limit: 1,
            };
            if store.outbox(page).await.unwrap().is_empty() {
                return through;
            }
            assert!(Instant::now() < end, "it stays at {through}");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// Makes the stream, as its owner may: it knows an event again for this time alone.
    pub(crate) async fn has_stream(&self, duplicate_window: Duration) {
        let stream = jetstream::stream::Config {
            name: STREAM.to_owned(),
            subjects: vec!["irq.v1.*.*.*.*.*".to_owned()],
            duplicate_window,
            ..Default::default()
        };
        let client = self.supervisor().await;
        jetstream::new(client).create_stream(stream).await.unwrap();
    }

    /// All that the stream has, in its order.
    pub(crate) async fn heard(&self) -> Vec<Heard> {
        let client = self.supervisor().await;
        let stream = jetstream::new(client).get_stream(STREAM).await.unwrap();
        let state = &stream.cached_info().state;
        let mut heard = Vec::new();
        if state.messages == 0 {
            return heard;
        }
        for sequence in state.first_sequence..=state.last_sequence {
            let message = stream.get_raw_message(sequence).await.unwrap();
            heard.push(Heard {
                subject: message.subject.to_string(),
                media_type: message.headers.get("Content-Type").unwrap().to_string(),
                event: serde_json::from_slice(&message.payload).unwrap(),
            });
        }
        heard
    }
}

impl Server {
    /// Kills it as a power failure would.
    pub(crate) fn dies(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Stops it in order, and returns its exit code.
    pub(crate) fn stops(mut self) -> Option<i32> {
        let pid = i32::try_from(self.child.id()).unwrap();
        let pid = rustix::process::Pid::from_raw(pid).unwrap();
        rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
        self.child.wait().unwrap().code()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _killed = self.child.kill();
        let _buried = self.child.wait();
    }
}

/// The positions of messages, in the order of the stream.
pub(crate) fn positions(heard: &[Heard]) -> Vec<u64> {
    heard.iter().map(Heard::position).collect()
}
