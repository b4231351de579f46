//! What it costs to accept an interrupt durably, beside what the disk itself costs.
//!
//! Prints both sides: a bare insert that is flushed, and an admission; one admission a commit, and as many as
//! 64 publishers bring at once.

use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use interrupt_router::{InterruptId, InterruptType, NodeId, RunId, StopMode, StopSource};
use interrupts::life::{Actor, Admission, ExpiryOutcome, Recurrence, Role, Scope, USUAL_ATTEMPTS};
use interrupts::store::{Interrupts as _, NewRun, Runs as _};
use interrupts::{ActorName, IdempotencyKey, KindName, RouteName};
use rusqlite::Connection;
use store::{SqliteStore, StoreSettings};

const ALONE: usize = 2_000;
const PUBLISHERS: usize = 64;
const OF_EACH: usize = 400;

/// As in `irq`.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

type Failure = Box<dyn std::error::Error + Send + Sync>;

fn main() -> Result<(), Failure> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()?;
    runtime.block_on(measure())
}

async fn measure() -> Result<(), Failure> {
    // In the target folder, for a folder of temporary files may lie in memory.
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR"))?;
    let bare = bare_file(&folder.path().join("bare.sqlite"))?;
    let settings = StoreSettings::default();
    let store = Arc::new(SqliteStore::open(folder.path().join("store.sqlite"), settings).await?);
    let run = RunId::generate();
    let new = NewRun {
        root: None,
        id: run,
        alias: None,
        content: "{}".to_owned(),
    };
    store.create_run(new).await?;

    let (mut inserts, mut admissions) = (Vec::new(), Vec::new());
    let body = "x".repeat(1_000);
    for number in 0..ALONE {
        // In turns, so that both meet the same disk.
        let began = Instant::now();
        bare.prepare_cached("INSERT INTO bare (body) VALUES (?)")?
            .execute((&body,))?;
        inserts.push(began.elapsed());
        let admission = admission(run, format!("alone-{number}"))?;
        let began = Instant::now();
        store.admit(admission).await?;
        admissions.push(began.elapsed());
    }
    let (insert, admit) = (spread(inserts), spread(admissions));
    println!(
        "bare fsynced insert      p50 {:>9.1?}  p99 {:>9.1?}",
        insert.0, insert.1
    );
    println!(
        "admit, durable           p50 {:>9.1?}  p99 {:>9.1?}",
        admit.0, admit.1
    );
    println!(
        "admit / bare insert      p50 {:>8.2}x",
        ratio(admit.0, insert.0)
    );

    let one_a_commit = 1.0 / admit.2.as_secs_f64();
    let began = Instant::now();
    let publishers =
        (0..PUBLISHERS).map(|publisher| tokio::spawn(publish(Arc::clone(&store), run, publisher)));
    let mut latencies = Vec::new();
    for published in join_all(publishers).await {
        latencies.extend(published??);
    }
    let many = latencies.len() as f64 / began.elapsed().as_secs_f64();
    let grouped = spread(latencies);
    println!("one admission a commit   {one_a_commit:>9.0}/s");
    println!(
        "64 publishers            {many:>9.0}/s  p50 {:>9.1?}  p99 {:>9.1?}",
        grouped.0, grouped.1
    );
    println!("64 publishers / one      {:>8.1}x", many / one_a_commit);
    Ok(())
}

async fn publish(
    store: Arc<SqliteStore>,
    run: RunId,
    publisher: usize,
) -> Result<Vec<Duration>, Failure> {
    let mut latencies = Vec::with_capacity(OF_EACH);
    for number in 0..OF_EACH {
        let admission = admission(run, format!("{publisher}-{number}"))?;
        let began = Instant::now();
        store.admit(admission).await?;
        latencies.push(began.elapsed());
    }
    Ok(latencies)
}

fn bare_file(path: &std::path::Path) -> Result<Connection, Failure> {
    let bare = Connection::open(path)?;
    bare.execute_batch(
        "PRAGMA journal_mode = wal; PRAGMA synchronous = full;
         CREATE TABLE bare (id INTEGER PRIMARY KEY, body TEXT NOT NULL) STRICT;",
    )?;
    Ok(bare)
}

fn admission(run: RunId, key: String) -> Result<Admission, Failure> {
    let routes = ["ORCHESTRATOR", "DISCOVERY_COLLECTOR", "REVIEW_AGENT"];
    Ok(Admission {
        id: InterruptId::generate(),
        run,
        node: NodeId::root(),
        kind: KindName::new("DISCOVERY_AGENT")?,
        origin: RouteName::new("ORCHESTRATOR")?,
        routes: routes
            .into_iter()
            .map(RouteName::new)
            .collect::<Result<_, _>>()?,
        interrupt_type: InterruptType::HumanReview,
        source: StopSource::Programmatic,
        requested_by: Actor {
            name: ActorName::new("agent")?,
            role: Role::Requester,
        },
        mode: StopMode::Graceful,
        scope: Scope::Agent,
        reason: "two plans are equally good".to_owned(),
        content: r#"{"question":"which of the two shall it be?"}"#.to_owned(),
        key: IdempotencyKey::new(key)?,
        allowed: Vec::new(),
        patience: None,
        on_expiry: ExpiryOutcome::Reject,
        most_attempts: USUAL_ATTEMPTS,
        recurrence: Recurrence::Verbatim,
        reroute: None,
    })
}

/// The median, the 99th percentile and the mean.
fn spread(mut times: Vec<Duration>) -> (Duration, Duration, Duration) {
    times.sort();
    let at = |share: usize| {
        times
            .get(times.len() * share / 100)
            .copied()
            .unwrap_or_default()
    };
    let mean = times.iter().sum::<Duration>() / u32::try_from(times.len()).unwrap_or(1).max(1);
    (at(50), at(99), mean)
}

fn ratio(one: Duration, other: Duration) -> f64 {
    one.as_secs_f64() / other.as_secs_f64()
}
