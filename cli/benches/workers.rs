//! What the worker protocol costs: how soon a worker is told of a decision, and how many questions a second are asked,
//! decided and taken.
//!
//! `cargo bench -p interrupt-router-cli --bench workers`; `ROUNDS=2000` says how often each worker asks, 200 otherwise. The real server
//! keeps its store in a file; the load is made by a compiled client. The floor is a bare long poll: a server of a few
//! lines in this process that parks a request and lets it go, asked by the same client over the same kind of socket. It
//! writes nothing, so a bare flush is printed beside it.
//!
//! At last, how soon a worker that is idle has a run whose question was decided, while 10, 100 and as many others as
//! `OTHERS=1000` says wait for people, and while as many are at work: that should not depend on how many they are.

use std::io::{BufRead, BufReader, Write as _};
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
use tokio::task::JoinHandle;

const USUAL: usize = 200;
/// How many workers there are.
const MOST: usize = 64;
/// How long it takes at the most until all requests are parked.
const UNTIL_ALL_WAIT: Duration = Duration::from_millis(200);
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
        let flush = flush()?;
        println!(
            "What is decided is on the disk before it is told; a bare flush takes {flush:.0?}"
        );
        println!(
            "{MOST} wait, one is told after the other, {} times",
            rounds.min(MOST)
        );
        let bare = in_turn(&Arc::new(Bare::start().await?), rounds).await?;
        let told = in_turn(&Arc::new(Asking::of(MOST).await?), rounds).await?;
        compare(&bare, &told);
        for workers in [1, MOST] {
            println!("{workers} at once, {rounds} times each");
            let bare = at_once(&Bare::start().await?, workers, rounds).await?;
            let told = at_once(&Asking::of(workers).await?, workers, rounds).await?;
            compare(&bare, &told);
        }
        let others = match std::env::var("OTHERS") {
            Ok(text) => text.parse()?,
            Err(_) => 1_000,
        };
        let asking = Asking::of(0).await?;
        let mut waiting = Vec::new();
        for others in [10, 100, others] {
            let taken = taken(&asking.server, &mut waiting, others).await?;
            taken.print(&format!("taken beside {} that wait", others + TAKINGS));
        }
        let mut at_work = 0;
        for others in [10, 100, others] {
            while at_work < others {
                try_join_all((0..10).map(|_| works(&asking.server))).await?;
                at_work += 10;
            }
            let taken = taken(&asking.server, &mut waiting, 0).await?;
            taken.print(&format!("taken beside {at_work} at work"));
        }
        Ok(())
    })
}

/// How often a run is taken again.
const TAKINGS: usize = 50;

/// Makes it so that this many runs wait, and then has questions decided and their runs taken by a worker that waits for any.
async fn taken(
    server: &Server,
    waiting: &mut Vec<String>,
    others: usize,
) -> Result<Figures, Failure> {
    while waiting.len() < others + TAKINGS {
        let all = (0..16).map(|_| waits(server));
        waiting.extend(try_join_all(all).await?);
    }
    let began = Instant::now();
    let mut times = Vec::new();
    for _taking in 0..TAKINGS {
        let question = waiting.pop().ok_or("none waits")?;
        let takes = async {
            let path = format!("workflows/{WORKFLOW}/leases?wait_ms=20000");
            let taking = json!({"worker": "idle", "lease_ms": 3_600_000});
            server.work("POST", &path, &taking).await?;
            Ok::<_, Failure>(Instant::now())
        };
        let decides = async {
            tokio::time::sleep(UNTIL_ALL_WAIT).await;
            let begun = Instant::now();
            server.decide(&question).await?;
            Ok::<_, Failure>(begun)
        };
        let (taken, begun) = tokio::try_join!(takes, decides)?;
        times.push(taken.duration_since(begun));
    }
    Ok(Figures::of(times, began.elapsed()))
}

/// A run that a worker has, and in which epoch.
async fn works(server: &Server) -> Result<(String, u64), Failure> {
    let runs = format!("workflows/{WORKFLOW}/runs");
    let run = server.work("POST", &runs, &json!({"input": 0})).await?;
    let id = text(&run, "run_id");
    let taking = json!({"worker": "asker", "lease_ms": 3_600_000});
    let taken = server
        .work("POST", &format!("work/{id}/lease"), &taking)
        .await?;
    Ok((id, taken["epoch"].as_u64().unwrap_or_default()))
}

/// A run that waits for an answer, and that no worker has. Returns its question.
async fn waits(server: &Server) -> Result<String, Failure> {
    let (id, epoch) = works(server).await?;
    let path = format!("work/{id}/questions/q?epoch={epoch}");
    let question = json!({"agent_id": "root", "kind": "CLERK", "reason": "Shall it go on?"});
    let asked = server.work("PUT", &path, &question).await?;
    let released = format!("work/{id}/lease?epoch={epoch}&waiting=true");
    server.work("DELETE", &released, &Value::Null).await?;
    Ok(text(&asked, "interrupt_id"))
}

/// How long it takes at the median until a disk says that it has a page.
fn flush() -> Result<Duration, Failure> {
    let mut file = tempfile::tempfile_in(env!("CARGO_TARGET_TMPDIR"))?;
    let mut times = Vec::new();
    for _time in 0..200 {
        file.write_all(&[1; 4_096])?;
        let begun = Instant::now();
        file.sync_all()?;
        times.push(begun.elapsed());
    }
    times.sort_unstable();
    Ok(times[times.len() / 2])
}

fn compare(bare: &Figures, told: &Figures) {
    bare.print("a bare long poll, let go");
    told.print("decide: the worker is told");
    let ratio = told.at(50).as_secs_f64() / bare.at(50).as_secs_f64();
    println!("  told after {ratio:.2} times a bare long poll at the median");
}

/// Workers that wait, and what lets each of them go on.
trait Waiting: Send + Sync + 'static {
    /// What it waits with, once it has asked.
    type Question: Clone + Send;

    fn ask(
        &self,
        worker: usize,
        round: usize,
    ) -> impl Future<Output = Result<Self::Question, Failure>> + Send;

    /// When it was told.
    fn wait(
        &self,
        question: Self::Question,
    ) -> impl Future<Output = Result<Instant, Failure>> + Send;

    fn let_go(&self, question: Self::Question) -> impl Future<Output = Result<(), Failure>> + Send;
}

/// All wait, and each is told while the others wait: what a decision costs where the server has time for it.
async fn in_turn<W: Waiting>(waiting: &Arc<W>, rounds: usize) -> Result<Figures, Failure> {
    let mut times = Vec::new();
    let mut whole = Duration::ZERO;
    for round in 0..rounds.min(MOST) {
        let all = (0..MOST).map(|worker| waiting.ask(worker, round));
        let questions = try_join_all(all).await?;
        let waits: Vec<_> = questions
            .iter()
            .map(|question| {
                let (waiting, question) = (Arc::clone(waiting), question.clone());
                tokio::spawn(async move { waiting.wait(question).await })
            })
            .collect();
        tokio::time::sleep(UNTIL_ALL_WAIT).await;
        let began = Instant::now();
        for (question, wait) in questions.into_iter().zip(waits) {
            let begun = Instant::now();
            let (let_go, told) = tokio::join!(waiting.let_go(question), wait);
            let_go?;
            times.push(told??.duration_since(begun));
        }
        whole += began.elapsed();
    }
    Ok(Figures::of(times, whole))
}

/// All at once, as fast as they can: the server has more to do than it can.
async fn at_once<W: Waiting>(
    waiting: &W,
    workers: usize,
    rounds: usize,
) -> Result<Figures, Failure> {
    let began = Instant::now();
    let all = (0..workers).map(|worker| async move {
        let mut times = Vec::with_capacity(rounds);
        for round in 0..rounds {
            let question = waiting.ask(worker, round).await?;
            let begun = Instant::now();
            let (told, let_go) =
                tokio::join!(waiting.wait(question.clone()), waiting.let_go(question));
            let_go?;
            times.push(told?.duration_since(begun));
        }
        Ok::<_, Failure>(times)
    });
    let times = try_join_all(all).await?.concat();
    Ok(Figures::of(times, began.elapsed()))
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

/// A server of a few lines in this process.
struct Bare {
    address: String,
    client: Client,
    serving: JoinHandle<std::io::Result<()>>,
}

impl Bare {
    async fn start() -> Result<Self, Failure> {
        let parked: Parked = Arc::new((0..MOST).map(|_| Notify::new()).collect());
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
        Ok(Self {
            address: format!("http://{}", listener.local_addr()?),
            client: tls::client().build()?,
            serving: tokio::spawn(async move { axum::serve(listener, router).await }),
        })
    }
}

impl Drop for Bare {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

impl Waiting for Bare {
    type Question = usize;

    async fn ask(&self, worker: usize, _round: usize) -> Result<usize, Failure> {
        Ok(worker)
    }

    async fn wait(&self, worker: usize) -> Result<Instant, Failure> {
        let waits = self.client.get(format!("{}/wait/{worker}", self.address));
        waits.send().await?.bytes().await?;
        Ok(Instant::now())
    }

    async fn let_go(&self, worker: usize) -> Result<(), Failure> {
        let lets_go = self
            .client
            .post(format!("{}/let-go/{worker}", self.address));
        lets_go.send().await?.bytes().await?;
        Ok(())
    }
}

/// Workers that have a run each, and ask.
struct Asking {
    server: Server,
    /// Each one's run, and the epoch in which it has it.
    runs: Vec<(String, u64)>,
}

/// A question that was asked.
#[derive(Clone)]
struct Question {
    path: String,
    interrupt: String,
}

impl Asking {
    async fn of(workers: usize) -> Result<Self, Failure> {
        let server = Server::start()?;
        let workflow = json!({"kinds": [{"name": "CLERK"}]});
        server
            .work("PUT", &format!("workflows/{WORKFLOW}"), &workflow)
            .await?;
        let all = (0..workers).map(|worker| {
            let server = &server;
            async move {
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
            }
        });
        let runs = try_join_all(all).await?;
        Ok(Self { server, runs })
    }
}

impl Waiting for Asking {
    type Question = Question;

    async fn ask(&self, worker: usize, round: usize) -> Result<Question, Failure> {
        let (run, epoch) = &self.runs[worker];
        let path = format!("work/{run}/questions/q{round}?epoch={epoch}");
        let question = json!({"agent_id": "root", "kind": "CLERK", "reason": "Shall it go on?"});
        let asked = self.server.work("PUT", &path, &question).await?;
        let interrupt = text(&asked, "interrupt_id");
        Ok(Question { path, interrupt })
    }

    async fn wait(&self, question: Question) -> Result<Instant, Failure> {
        let wait = format!("{}&wait_ms=20000", question.path);
        let told = self.server.work("GET", &wait, &Value::Null).await?;
        match told["state"].as_str() {
            Some("decided") => Ok(Instant::now()),
            _ => Err(format!("it is not decided: {told}").into()),
        }
    }

    async fn let_go(&self, question: Question) -> Result<(), Failure> {
        self.server.decide(&question.interrupt).await
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
            client: tls::client().build()?,
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
        let told = response.text().await?;
        // What only succeeds says nothing.
        let told: Value = match told.is_empty() {
            true => Value::Null,
            false => serde_json::from_str(&told)?,
        };
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
