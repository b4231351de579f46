//! What a run costs the server's memory while it waits for a person.
//!
//! `cargo bench -p interrupt-router-cli --bench waiting`; `RUNS=100000` says how many, 2,000 otherwise. The real server is asked
//! over the network for runs whose first agent asks a question. Prints both sides: runs that are kept in memory, of
//! which there are at most 200, and runs that were put aside, with what each quarter of them added: what runs need on
//! their way is kept for the next ones, and is there from the first quarter on.
//!
//! At last, with 1,000 runs put aside, sixteen clients read every list of the interface and of the page at once, in as
//! many rounds as `READS` says: what the server had before, most of all meanwhile, and after.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use interrupts::life::RunState;
use interrupts::store::{Page, Run, Store};
use reqwest::{Client, StatusCode};
use serde_json::json;
use store::{StoreLocation, StoreSettings};
use tempfile::TempDir;

const USUAL: usize = 2_000;
const WAITING: usize = 1_000;
const READERS: usize = 16;
const KEPT_AT_MOST: usize = 200;
const PUBLISHERS: usize = 8;
const PARTS: usize = 4;
const PAGE: u32 = 500;
const PATIENCE: Duration = Duration::from_secs(3_600);

type Failure = Box<dyn std::error::Error + Send + Sync>;

fn main() -> Result<(), Failure> {
    // Test runners ask a bench to list its tests: it has none, and must not measure then.
    if std::env::args().any(|argument| argument == "--list") {
        return Ok(());
    }
    let runs = match std::env::var("RUNS") {
        Ok(text) => text.parse()?,
        Err(_) => USUAL,
    };
    let rounds = match std::env::var("READS") {
        Ok(text) => text.parse()?,
        Err(_) => 10,
    };
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()?;
    runtime.block_on(async {
        measure("kept in memory", "1d", runs.min(KEPT_AT_MOST), Held::Here).await?;
        measure("put aside", "1s", runs, Held::Nowhere).await?;
        read_lists(WAITING, rounds).await
    })
}

/// Who executes the runs once all of them wait.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Held {
    Here,
    Nowhere,
}

async fn measure(
    name: &str,
    put_aside_after: &str,
    runs: usize,
    held: Held,
) -> Result<(), Failure> {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR"))?;
    let file = folder.path().join("irq.db");
    let server = Server::start(&folder, &file, put_aside_after)?;
    // What a server has once and for all is there before the first figure.
    server.start_runs(20).await?;
    waiting(&file, 20, held).await?;
    let before = server.resident()?;
    let began = Instant::now();
    let mut after = before;
    for part in 0..PARTS {
        let (from, to) = (runs * part / PARTS, runs * (part + 1) / PARTS);
        server.start_runs(to - from).await?;
        waiting(&file, to + 20, held).await?;
        let earlier = std::mem::replace(&mut after, server.resident()?);
        let added = (after as f64 - earlier as f64) / (to - from) as f64;
        println!(
            "  {from:>7} to {to:>7} runs: {earlier:>7} to {after:>7} KiB, {added:>8.2} KiB each"
        );
    }
    let each = after.saturating_sub(before) as f64 / runs as f64;
    println!(
        "{name:<16} {runs:>7} runs wait after {:>6.0?}: {:>6} KiB before, {:>7} KiB after, {:>8.2} KiB each",
        began.elapsed(),
        before,
        after,
        each
    );
    Ok(())
}

/// Every list, in its longest part.
const LISTS: [&str; 14] = [
    "/v1/interrupts?status=open&limit=500",
    "/v1/runs?limit=500",
    "/v1/agents?limit=500",
    "/v1/history?limit=500",
    "/v1/rules?limit=500",
    "/v1/tokens",
    "/v1/records/interrupts?of=[{},{%22after%22:0,%22limit%22:500}]",
    "/v1/records/runs?of=[[],{%22after%22:0,%22limit%22:500}]",
    "/v1/records/audit?of={%22after%22:0,%22limit%22:500}",
    "/metrics",
    "/",
    "/inbox/count",
    "/agents",
    "/runs",
];

/// Reads every list at once from many clients, again and again.
async fn read_lists(runs: usize, rounds: usize) -> Result<(), Failure> {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR"))?;
    let file = folder.path().join("irq.db");
    let server = Server::start(&folder, &file, "1s")?;
    server.start_runs(runs).await?;
    waiting(&file, runs, Held::Nowhere).await?;
    let before = server.resident()?;
    let mut most = before;
    let began = Instant::now();
    for round in 0..rounds {
        let readers = (0..READERS).map(|reader| server.read_all(reader + round));
        futures_util::future::try_join_all(readers).await?;
        most = most.max(server.resident()?);
    }
    println!(
        "lists of {runs} waiting runs, read {} times in {:.0?}: {before} KiB before, {most} KiB at most between, {} KiB at most ever, {} KiB after",
        rounds * READERS * LISTS.len(),
        began.elapsed(),
        server.status("VmHWM:")?,
        server.resident()?
    );
    Ok(())
}

/// Waits until so many runs wait for an answer.
async fn waiting(file: &Path, runs: usize, held: Held) -> Result<(), Failure> {
    let store = StoreLocation::File(file.to_owned())
        .open(StoreSettings::default())
        .await?;
    let end = Instant::now() + PATIENCE;
    while Instant::now() < end {
        if count(&*store, held).await? >= runs {
            // Nothing is half way any more.
            tokio::time::sleep(Duration::from_secs(2)).await;
            return Ok(());
        }
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
    Err("the runs do not come to wait".into())
}

async fn count(store: &dyn Store, held: Held) -> Result<usize, Failure> {
    let states = match held {
        Held::Here => [RunState::Running],
        Held::Nowhere => [RunState::Waiting],
    };
    let (mut after, mut count) = (0, 0);
    loop {
        let page = Page { after, limit: PAGE };
        let found: Vec<(u64, Run)> = store.runs(&states, page).await?;
        count += found
            .iter()
            .filter(|(_, run)| (held == Held::Here) == run.lease.is_some())
            .count();
        match found.last() {
            Some((position, _)) => after = *position,
            None => return Ok(count),
        }
    }
}

/// The real server.
struct Server {
    child: Child,
    /// What it prints goes somewhere as long as it runs.
    _output: BufReader<ChildStdout>,
    address: String,
    token: String,
    client: Client,
}

impl Server {
    fn start(folder: &TempDir, file: &Path, put_aside_after: &str) -> Result<Self, Failure> {
        let program = PathBuf::from(env!("CARGO_BIN_EXE_irq"));
        let token = Command::new(&program)
            .args(["token", "create", "--name", "bench", "--role", "admin"])
            .env("IRQ_STORE", file)
            .output()?;
        let mut child = Command::new(&program)
            .args([
                "serve",
                "--listen",
                "127.0.0.1:0",
                "--requests-per-second",
                "1000000",
            ])
            .arg("--put-aside-after")
            .arg(put_aside_after)
            .arg("--workspace")
            .arg(folder.path())
            .env("IRQ_STORE", file)
            .env("IRQ_LOG", "error")
            .stdout(Stdio::piped())
            .spawn()?;
        let output = child.stdout.take().ok_or("the server has no output")?;
        let mut page = String::new();
        let mut output = BufReader::new(output);
        output.read_line(&mut page)?;
        // The scheme and the host; the rest lets one person in.
        let address: Vec<&str> = page.trim().splitn(4, '/').take(3).collect();
        Ok(Self {
            child,
            _output: output,
            address: address.join("/"),
            token: String::from_utf8(token.stdout)?.trim().to_owned(),
            client: tls::client().build()?,
        })
    }

    async fn start_runs(&self, runs: usize) -> Result<(), Failure> {
        let of_each = |publisher| runs / PUBLISHERS + usize::from(publisher < runs % PUBLISHERS);
        let publishers = (0..PUBLISHERS).map(|publisher| self.publish(of_each(publisher)));
        futures_util::future::try_join_all(publishers).await?;
        Ok(())
    }

    async fn publish(&self, runs: usize) -> Result<(), Failure> {
        let asks = json!({"agent": "ORCHESTRATOR", "turn": 1,
            "interrupt": {"type": "HUMAN_REVIEW", "reason": "which one?"}});
        let script = json!({"version": 1, "steps": [asks]});
        let order = json!({"goal": "Describe this project", "options": {"script": script}});
        for _run in 0..runs {
            loop {
                let request = self.client.post(format!("{}/v1/runs", self.address));
                let answer = request.bearer_auth(&self.token).json(&order).send().await?;
                match answer.status() {
                    StatusCode::CREATED => break,
                    StatusCode::TOO_MANY_REQUESTS => {
                        tokio::time::sleep(Duration::from_millis(50)).await;
                    }
                    status => return Err(format!("{status}: {}", answer.text().await?).into()),
                }
            }
        }
        Ok(())
    }

    /// The memory that it has, in KiB.
    fn resident(&self) -> Result<u64, Failure> {
        self.status("VmRSS:")
    }

    /// Reads every list once, beginning with one of them.
    async fn read_all(&self, first: usize) -> Result<(), Failure> {
        for place in 0..LISTS.len() {
            let list = LISTS[(first + place) % LISTS.len()];
            let request = self.client.get(format!("{}{list}", self.address));
            let answer = request.bearer_auth(&self.token).send().await?;
            if !answer.status().is_success() {
                return Err(format!("{list}: {}", answer.status()).into());
            }
            answer.bytes().await?;
        }
        Ok(())
    }

    /// A figure of the process, in KiB.
    fn status(&self, name: &str) -> Result<u64, Failure> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let line = status.lines().find_map(|line| line.strip_prefix(name));
        let text = line.ok_or("the system does not tell the memory of a process")?;
        Ok(text.trim().trim_end_matches("kB").trim().parse()?)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _killed = self.child.kill();
        let _buried = self.child.wait();
    }
}
