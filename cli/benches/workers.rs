//! What the worker protocol costs: how soon a worker is told of a decision, and how many questions a second are asked,
//! decided and taken.
//!
//! `cargo bench -p interrupt-router --bench workers`; `ROUNDS=2000` says how often each worker asks, 200 otherwise. The real server
//! keeps its store in a file; the load is made by a compiled client. The floor is a bare long poll: a server of a few
//! lines in this process that parks a request and lets it go, asked by the same client over the same kind of socket.

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::Router;
use axum::extract::{Path, State};
use axum::routing::{get, post};
use futures_util::future::try_join_all;
use reqwest::Client;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio::sync::Notify;

const USUAL: usize = 200;
const WORKFLOW: &str = "bench";

type Failure = Box<dyn std::error::Error + Send + Sync>;

fn main() -> Result<(), Failure> {
    // Test runners ask a bench to list its tests: it has none, and must not measure then.
    if std::env::args().any(|argument| argument == "--list") {
        return Ok(());
    }
    let rounds = match std::env::var("ROUNDS") {
        Ok(text) => text.parse()?,
        Err(_) => USUAL,
    };
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()?;
    runtime.block_on(async {
        for workers in [1, 64] {
            let bare = bare(workers, rounds).await?;
            let server = Server::start()?;
            let told = told(&server, workers, rounds).await?;
            println!("{workers} at once, {rounds} times each");
            bare.print("a bare long poll, let go");
            told.print("decide: the worker is told");
            let ratio = told.at(50).as_secs_f64() / bare.at(50).as_secs_f64();
            println!("  told after {ratio:.2} times a bare long poll at the median");
        }
        Ok(())
    })
}

/// How long things took, and how many there were in a second.
struct Figures {
    times: Vec<Duration>,
    whole: Duration,
}

impl Figures {
    fn of(mut times: Vec<Duration>, whole: Duration) -> Self {
        times.sort_unstable();
        Self { times, whole }
    }

    fn at(&self, percent: usize) -> Duration {
        let place = (self.times.len() * percent / 100).min(self.times.len() - 1);
        self.times[place]
    }

    fn print(&self, what: &str) {
        let second = self.times.len() as f64 / self.whole.as_secs_f64();
        println!(
            "  {what:<28} p50 {:>8.2?}  p99 {:>8.2?}  {second:>7.0} whole rounds a second",
            self.at(50),
            self.at(99)
        );
    }
}

/// Requests that are parked, one for each worker.
type Parked = Arc<Vec<Notify>>;

async fn bare(workers: usize, rounds: usize) -> Result<Figures, Failure> {
    let parked: Parked = Arc::new((0..workers).map(|_| Notify::new()).collect());
    let router = Router::new()
        .route(
            "/wait/{worker}",
            get(
                |State(parked): State<Parked>, Path(worker): Path<usize>| async move {
                    parked[worker].notified().await;
                    "told"
                },
            ),
        )
        .route(
            "/let-go/{worker}",
            post(
                |State(parked): State<Parked>, Path(worker): Path<usize>| async move {
                    parked[worker].notify_one();
                    "let go"
                },
            ),
        )
        .with_state(parked);
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    let serving = tokio::spawn(async move { axum::serve(listener, router).await });
    let client = Client::new();
    let began = Instant::now();
    let all = (0..workers).map(|worker| {
        let client = client.clone();
        async move {
            let mut times = Vec::with_capacity(rounds);
            for _ in 0..rounds {
                let waits = client.get(format!("http://{address}/wait/{worker}")).send();
                let lets_go = client
                    .post(format!("http://{address}/let-go/{worker}"))
                    .send();
                let begun = Instant::now();
                let waited = async {
                    waits.await?.bytes().await?;
                    Ok::<Duration, reqwest::Error>(begun.elapsed())
                };
                let (time, let_go) = tokio::join!(waited, lets_go);
                let_go?.bytes().await?;
                times.push(time?);
            }
            Ok::<_, Failure>(times)
        }
    });
    let times = try_join_all(all).await?.concat();
    serving.abort();
    Ok(Figures::of(times, began.elapsed()))
}

async fn told(server: &Server, workers: usize, rounds: usize) -> Result<Figures, Failure> {
    let workflow = json!({"kinds": [{"name": "CLERK"}]});
    server
        .work("PUT", &format!("workflows/{WORKFLOW}"), &workflow)
        .await?;
    let all = (0..workers).map(|worker| async move {
        let runs = format!("workflows/{WORKFLOW}/runs");
        let run = server
            .work("POST", &runs, &json!({"input": worker}))
            .await?;
        let id = text(&run, "run_id");
        let taking = json!({"worker": format!("w{worker}"), "lease_ms": 3_600_000});
        let taken = server
            .work("POST", &format!("work/{id}/lease"), &taking)
            .await?;
        Ok::<_, Failure>((id, taken["epoch"].as_u64().unwrap_or_default()))
    });
    let runs = try_join_all(all).await?;
    let began = Instant::now();
    let all = runs.iter().map(|(run, epoch)| async move {
        let mut times = Vec::with_capacity(rounds);
        for round in 0..rounds {
            times.push(asked(server, run, *epoch, round).await?);
        }
        Ok::<_, Failure>(times)
    });
    let times = try_join_all(all).await?.concat();
    Ok(Figures::of(times, began.elapsed()))
}

/// Asks, decides, and waits to be told: how long that took from the decision on.
async fn asked(server: &Server, run: &str, epoch: u64, round: usize) -> Result<Duration, Failure> {
    let path = format!("work/{run}/questions/q{round}");
    let question = json!({"agent_id": "root", "kind": "CLERK", "reason": "Shall it go on?"});
    let asked = server
        .work("PUT", &format!("{path}?epoch={epoch}"), &question)
        .await?;
    let interrupt = text(&asked, "interrupt_id");
    let wait = format!("{path}?epoch={epoch}&wait_ms=20000");
    let begun = Instant::now();
    let waited = async {
        let told = server.work("GET", &wait, &Value::Null).await?;
        Ok::<_, Failure>((told, begun.elapsed()))
    };
    let (told, decided) = tokio::join!(waited, server.decide(&interrupt));
    decided?;
    let (told, time) = told?;
    match told["state"].as_str() {
        Some("decided") => Ok(time),
        _ => Err(format!("it is not decided: {told}").into()),
    }
}

fn text(value: &Value, member: &str) -> String {
    value[member].as_str().unwrap_or_default().to_owned()
}

/// The real server.
struct Server {
    child: Child,
    /// What it prints goes somewhere as long as it runs.
    _output: BufReader<ChildStdout>,
    _folder: TempDir,
    address: String,
    admin: String,
    worker: String,
    client: Client,
}

impl Server {
    fn start() -> Result<Self, Failure> {
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR"))?;
        let store = folder.path().join("irq.db");
        let program = PathBuf::from(env!("CARGO_BIN_EXE_irq"));
        let token = |arguments: &[&str]| -> Result<String, Failure> {
            let made = Command::new(&program)
                .args(["token", "create"])
                .args(arguments)
                .env("IRQ_STORE", &store)
                .stderr(Stdio::null())
                .output()?;
            Ok(String::from_utf8(made.stdout)?.trim().to_owned())
        };
        let admin = token(&["--name", "bench", "--role", "admin"])?;
        let worker = token(&["--name", "w", "--role", "worker", "--workflow", WORKFLOW])?;
        let mut child = Command::new(&program)
            .args(["serve", "--listen", "127.0.0.1:0"])
            .args(["--requests-per-second", "1000000"])
            .env("IRQ_STORE", &store)
            .current_dir(&folder)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let mut output = BufReader::new(child.stdout.take().ok_or("no output")?);
        let mut page = String::new();
        output.read_line(&mut page)?;
        let (address, _launch) = page.split_once("/?").ok_or("it did not start")?;
        Ok(Self {
            child,
            address: address.to_owned(),
            _output: output,
            _folder: folder,
            admin,
            worker,
            client: Client::new(),
        })
    }

    async fn work(&self, method: &str, path: &str, body: &Value) -> Result<Value, Failure> {
        let address = format!("{}/v1/{path}", self.address);
        let request = self.client.request(method.parse()?, address);
        let request = request.bearer_auth(&self.worker);
        let request = match body.is_null() {
            true => request,
            false => request.json(body),
        };
        let response = request.send().await?;
        let status = response.status();
        let told: Value = response.json().await?;
        match status.is_success() {
            true => Ok(told),
            false => Err(format!("{status}: {told}").into()),
        }
    }

    async fn decide(&self, interrupt: &str) -> Result<(), Failure> {
        let address = format!("{}/v1/interrupts/{interrupt}/decisions", self.address);
        let request = self.client.post(address).bearer_auth(&self.admin);
        let request = request.header("If-Match", "*");
        let decided = request.json(&json!({"decision": "approve"})).send().await?;
        let status = decided.status();
        let told = decided.text().await?;
        match status.is_success() {
            true => Ok(()),
            false => Err(format!("{status}: {told}").into()),
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // The store goes with the folder.
        let _ended = self.child.kill().and_then(|()| self.child.wait());
    }
}
