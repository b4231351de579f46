//! What many machines cost, with real processes over one PostgreSQL: from an interrupt at a server until an agent at a
//! worker has it and stands still, over REST and over NATS, and how many runs workers end in a second.
//!
//! `tests/nats/install && tests/postgres/with cargo bench -p interrupt-router-cli --bench fleet`; `ROUNDS=200` says how many
//! agents are interrupted, 60 otherwise, `RUNS=200` how many runs are ended, 60 otherwise. The floors are a commit with a
//! `NOTIFY` that another connection hears, and a request over NATS that another client answers.

use std::io::{BufRead, BufReader, Read as _};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use async_nats::HeaderMap;
use futures_util::StreamExt as _;
use futures_util::future::try_join_all;
use interrupt_router::RunId;
use interrupts::Notifier as _;
use interrupts::life::{RunState, State};
use interrupts::store::{NodeActivity, Nodes as _, Notification, Outbox as _, Page, Runs as _};
use jiff::Timestamp;
use reqwest::Client;
use serde_json::{Value, json};
use store::{PostgresLocation, PostgresNotifier, PostgresStore, StoreSettings};
use tempfile::TempDir;
use tests::nats::NatsServer;
use tests::postgres::own_store;
use tokio_postgres::{AsyncMessage, NoTls};

/// How often a floor is measured.
const FLOORS: usize = 300;
/// How fast agents speak that are interrupted, in tokens a second: they are in a call all the time.
const PACE: &str = "20";
/// How many runs a worker executes at once.
const SLOTS: &str = "4";
/// How long anything may take.
const PATIENCE: Duration = Duration::from_secs(120);

const ALL: Page = Page {
    after: 0,
    limit: 1_000_000,
};

type Failure = Box<dyn std::error::Error + Send + Sync>;

fn main() -> Result<(), Failure> {
    // Test runners ask a bench to list its tests: it has none, and must not measure then.
    if std::env::args().any(|argument| argument == "--list") {
        return Ok(());
    }
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()?;
    runtime.block_on(async {
        interrupting(number("ROUNDS", 60)?).await?;
        for workers in [1, 2, 4] {
            ending(workers, number("RUNS", 60)?).await?;
        }
        Ok(())
    })
}

fn number(name: &str, usual: usize) -> Result<usize, Failure> {
    match std::env::var(name) {
        Ok(text) => Ok(text.parse()?),
        Err(_) => Ok(usual),
    }
}

fn say(what: &str, mut times: Vec<Duration>) {
    times.sort_unstable();
    let at = |percent: usize| {
        let place = (times.len() * percent / 100).min(times.len().saturating_sub(1));
        times.get(place).copied().unwrap_or_default()
    };
    println!("{what:<44} p50 {:>8.2?}  p99 {:>8.2?}", at(50), at(99));
}

/// From an interrupt until the agent has it, and until its run stands still.
async fn interrupting(rounds: usize) -> Result<(), Failure> {
    let nats = NatsServer::start().ok_or("there is no NATS server: tests/nats/install")?;
    let address = nats.address();
    say("a bare insert and NOTIFY, heard", bare_notify().await?);
    say(
        "a bare request over NATS, answered",
        bare_request(&address).await?,
    );
    let fleet = Fleet::start(&["--bus", &format!("nats://{address}")], 1, PACE).await?;
    let client = async_nats::connect(&address).await?;
    for over in [Over::Rest, Over::Nats] {
        let (mut admitted, mut told, mut still) = (Vec::new(), Vec::new(), Vec::new());
        for _round in 0..rounds {
            let run = fleet.starts("Describe the bakery").await?;
            fleet.is_in_a_call(run).await?;
            let after = fleet.last().await?;
            let begun = Timestamp::now();
            let (interrupted, seen) = tokio::join!(
                fleet.interrupts(run, over, &client),
                fleet.sees_it_stop(run, after)
            );
            interrupted?;
            let seen = seen?;
            for (at, times) in seen.into_iter().zip([&mut admitted, &mut told, &mut still]) {
                times.push(at.duration_since(begun).unsigned_abs());
            }
        }
        let name = match over {
            Over::Rest => "REST",
            Over::Nats => "NATS",
        };
        say(&format!("over {name}: it is admitted"), admitted);
        say(&format!("over {name}: the worker has it"), told);
        say(&format!("over {name}: the run stands still"), still);
    }
    Ok(())
}

async fn bare_notify() -> Result<Vec<Duration>, Failure> {
    let server = std::env::var("IRQ_TEST_POSTGRES")?;
    let (writer, connection) = tokio_postgres::connect(&server, NoTls).await?;
    tokio::spawn(connection);
    let (listener, mut connection) = tokio_postgres::connect(&server, NoTls).await?;
    let (heard, mut hears) = tokio::sync::mpsc::unbounded_channel();
    tokio::spawn(async move {
        let mut next =
            futures_util::stream::poll_fn(move |context| connection.poll_message(context));
        while let Some(Ok(message)) = next.next().await {
            if let AsyncMessage::Notification(_news) = message {
                let _gone = heard.send(Instant::now());
            }
        }
    });
    writer
        .batch_execute("CREATE TABLE bare (body TEXT NOT NULL)")
        .await?;
    listener.batch_execute("LISTEN bare").await?;
    let mut times = Vec::new();
    for _time in 0..FLOORS {
        let begun = Instant::now();
        writer
            .batch_execute("INSERT INTO bare VALUES ('x'); NOTIFY bare")
            .await?;
        let at = hears.recv().await.ok_or("the server went away")?;
        times.push(at.duration_since(begun));
    }
    Ok(times)
}

async fn bare_request(address: &str) -> Result<Vec<Duration>, Failure> {
    let (answers, asks) = (
        async_nats::connect(address).await?,
        async_nats::connect(address).await?,
    );
    let mut asked = answers.subscribe("bare").await?;
    answers.flush().await?;
    tokio::spawn(async move {
        while let Some(message) = asked.next().await {
            if let Some(reply) = message.reply {
                let _gone = answers.publish(reply, "here".into()).await;
            }
        }
    });
    // The broker may hear of the subscription a moment later.
    while asks.request("bare", "there?".into()).await.is_err() {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let mut times = Vec::new();
    for _time in 0..FLOORS {
        let begun = Instant::now();
        asks.request("bare", "there?".into()).await?;
        times.push(begun.elapsed());
    }
    Ok(times)
}

/// How many runs so many workers end in a second.
async fn ending(workers: usize, runs: usize) -> Result<(), Failure> {
    let fleet = Fleet::start(&[], workers, "0").await?;
    let begun = Instant::now();
    let started = (0..runs).map(|number| fleet.starts(format!("Describe the bakery, {number}")));
    let started = try_join_all(started).await?;
    loop {
        fleet.notifier.heard().await;
        let ended = fleet.store.runs(&[RunState::Completed], ALL).await?.len();
        if ended >= started.len() {
            break;
        }
        if begun.elapsed() > PATIENCE {
            return Err(format!("{ended} of {runs} runs have ended").into());
        }
    }
    let rate = runs as f64 / begun.elapsed().as_secs_f64();
    let steps = fleet.last().await? as f64 / begun.elapsed().as_secs_f64();
    println!("{workers} workers: {rate:.1} runs a second, with {steps:.0} events a second in all");
    Ok(())
}

/// How an interrupt comes.
#[derive(Clone, Copy)]
enum Over {
    Rest,
    Nats,
}

/// A server and workers.
struct Fleet {
    store: PostgresStore,
    notifier: PostgresNotifier,
    client: Client,
    token: String,
    address: String,
    _server: Process,
    _workers: Vec<Process>,
    _folder: TempDir,
}

impl Fleet {
    async fn start(of_server: &[&str], workers: usize, pace: &str) -> Result<Self, Failure> {
        let place = own_store().ok_or("tests/postgres/with starts a server")?;
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR"))?;
        std::fs::write(folder.path().join("README.md"), "# Bakery\n\nBread.\n")?;
        let made = irq(&place, folder.path())
            .args(["token", "create", "--name", "bench", "--role", "admin"])
            .stderr(Stdio::null())
            .output()?;
        let token = String::from_utf8(made.stdout)?.trim().to_owned();
        let mut serve = irq(&place, folder.path());
        serve.args(["serve", "--listen", "127.0.0.1:0", "--runs-by-workers"]);
        serve
            .args(["--requests-per-second", "1000000"])
            .args(of_server);
        let (server, page) = Process::start(serve)?;
        let (address, _launch) = page.split_once("/?").ok_or("it did not start")?;
        let mut all = Vec::new();
        for _worker in 0..workers {
            let mut work = irq(&place, folder.path());
            work.args(["worker", "--slots", SLOTS, "--pace", pace]);
            all.push(Process::start(work)?.0);
        }
        let location: PostgresLocation = place.parse()?;
        Ok(Self {
            store: PostgresStore::open(&location, StoreSettings::default()).await?,
            notifier: PostgresNotifier::open(&location),
            client: tls::client().build()?,
            token,
            address: address.to_owned(),
            _server: server,
            _workers: all,
            _folder: folder,
        })
    }

    async fn starts(&self, goal: impl Into<String>) -> Result<RunId, Failure> {
        let run = self.posts("runs", &json!({ "goal": goal.into() })).await?;
        Ok(run["run_id"].as_str().unwrap_or_default().parse()?)
    }

    async fn posts(&self, path: &str, body: &Value) -> Result<Value, Failure> {
        let request = self.client.post(format!("{}/v1/{path}", self.address));
        let response = request.bearer_auth(&self.token).json(body).send().await?;
        let status = response.status();
        let told: Value = response.json().await?;
        match status.is_success() {
            true => Ok(told),
            false => Err(format!("{status}: {told}").into()),
        }
    }

    /// Waits until an agent of the run asks its model.
    async fn is_in_a_call(&self, run: RunId) -> Result<(), Failure> {
        let begun = Instant::now();
        while begun.elapsed() < PATIENCE {
            let nodes = self.store.nodes(Some(run), ALL).await?;
            if nodes
                .iter()
                .any(|(_position, node)| node.activity == NodeActivity::Running)
            {
                // It is in the midst of the answer then.
                tokio::time::sleep(Duration::from_millis(100)).await;
                return Ok(());
            }
            self.notifier.heard().await;
        }
        Err("no agent runs".into())
    }

    async fn last(&self) -> Result<u64, Failure> {
        let rows = self.store.outbox(ALL).await?;
        Ok(rows.last().map_or(0, |row| row.position))
    }

    async fn interrupts(
        &self,
        run: RunId,
        over: Over,
        client: &async_nats::Client,
    ) -> Result<(), Failure> {
        let mut stop =
            json!({"type": "PAUSE", "mode": "immediate", "scope": "run", "reason": "the bench"});
        match over {
            Over::Rest => {
                self.posts(&format!("agents/{run}/interrupts"), &stop)
                    .await?;
            }
            Over::Nats => {
                stop["agent_id"] = json!(run.to_string());
                let event = json!({
                    "specversion": "1.0", "id": run.to_string(), "source": "/bench",
                    "type": "dev.irq.command.interrupt.v1", "data": stop,
                });
                let mut headers = HeaderMap::new();
                headers.insert("Content-Type", "application/cloudevents+json");
                headers.insert("Authorization", format!("Bearer {}", self.token));
                let body = event.to_string().into();
                let subject = "irq.v1.local.cmd.interrupt";
                let answer = client.request_with_headers(subject, headers, body).await?;
                let answer: Value = serde_json::from_slice(&answer.payload)?;
                if answer["accepted"] != 1 {
                    return Err(format!("it is not accepted: {answer}").into());
                }
            }
        }
        Ok(())
    }

    /// When the stop was admitted, when the worker had it, and when the run stood still: the times of the transactions, by
    /// the clock of the database, which is that of this machine.
    async fn sees_it_stop(&self, run: RunId, mut after: u64) -> Result<[Timestamp; 3], Failure> {
        let (mut admitted, mut has_it) = (None, None);
        let begun = Instant::now();
        while begun.elapsed() < PATIENCE {
            self.notifier.heard().await;
            let page = Page { after, limit: 500 };
            for row in self.store.outbox(page).await? {
                after = row.position;
                if let Notification::Interrupt { run: of, state, .. } = row.notification
                    && of == run
                {
                    admitted.get_or_insert(row.at);
                    if state != State::Requested {
                        has_it.get_or_insert(row.at);
                    }
                }
                if let Notification::Run { run: of, state, .. } = row.notification
                    && of == run
                    && state == RunState::Paused
                {
                    let still = row.at;
                    return Ok([admitted.unwrap_or(still), has_it.unwrap_or(still), still]);
                }
            }
        }
        Err(format!("{run} does not stop").into())
    }
}

fn irq(place: &str, folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_irq"));
    command.env("IRQ_STORE", place).current_dir(folder);
    command
}

/// A process of the program, which ends with this value.
struct Process {
    child: Child,
    /// What it prints goes somewhere as long as it runs.
    _output: BufReader<ChildStdout>,
}

impl Process {
    /// Starts it, and waits until it has printed its first line.
    fn start(mut command: Command) -> Result<(Self, String), Failure> {
        let command = command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn()?;
        let mut output = BufReader::new(child.stdout.take().ok_or("no output")?);
        let mut errors = child.stderr.take().ok_or("no errors")?;
        let mut line = String::new();
        output.read_line(&mut line)?;
        if line.is_empty() {
            let mut said = String::new();
            errors.read_to_string(&mut said)?;
            return Err(format!("it did not start: {said}").into());
        }
        // Its log is read all the time: a full pipe would stop it.
        std::thread::spawn(move || std::io::copy(&mut errors, &mut std::io::sink()));
        let process = Self {
            child,
            _output: output,
        };
        Ok((process, line))
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ended = self.child.kill().and_then(|()| self.child.wait());
    }
}
