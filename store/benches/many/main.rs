//! What a store in PostgreSQL costs where there are many: stores that share it, interrupts that are open, runs that
//! wait, processes that listen; and how long it takes to list, to decide and to resume among them.
//! docs/simulation.md was computed from what this printed.
//!
//! `OPEN=1000000 tests/postgres/with cargo bench -p interrupt-router-store --features postgres --bench many`

mod questions;

use std::future::Future;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use interrupt_router::RunId;
use interrupts::OwnerName;
use interrupts::life::RunState;
use interrupts::store::{Delivery, Interrupts as _, NewRun, Outbox as _, Page, Run, Runs as _};
use jiff::SignedDuration;
use store::{PostgresLocation, PostgresNotifier, PostgresStore, StoreSettings};
use tokio_postgres::{Client, NoTls};

/// How often a thing is done whose median is printed, unless it takes long.
const TIMES: usize = 300;
/// For how long it is done at most.
const AT_MOST: Duration = Duration::from_secs(20);
const LEASE: SignedDuration = SignedDuration::from_secs(600);
/// What a worker looks for that goes on with the runs of dead ones.
const WITHOUT_A_PROCESS: [RunState; 4] = [
    RunState::Created,
    RunState::Running,
    RunState::Stopping,
    RunState::Paused,
];

type Failure = Box<dyn std::error::Error + Send + Sync>;

fn main() -> Result<(), Failure> {
    // Test runners ask a bench to list its tests: it has none, and must not measure then.
    if std::env::args().any(|argument| argument == "--list") {
        return Ok(());
    }
    let server = std::env::var("IRQ_TEST_POSTGRES")
        .map_err(|_unset| "IRQ_TEST_POSTGRES names no server; `tests/postgres/with` starts one")?;
    let open = std::env::var("OPEN").unwrap_or_else(|_unset| "100000".to_owned());
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()?;
    runtime.block_on(measure(&server, open.parse()?))
}

async fn measure(server: &str, open: u64) -> Result<(), Failure> {
    let place: PostgresLocation = format!("{server}?schema=many").parse()?;
    let store = Arc::new(PostgresStore::open(&place, StoreSettings::default()).await?);
    let (client, connection) = tokio_postgres::connect(server, NoTls).await?;
    tokio::spawn(connection);
    client.batch_execute("SET search_path = many").await?;
    alone(&store, &client).await?;
    for stores in [1, 2, 4] {
        for runs in [1, 16] {
            sharing(&place, stores, runs).await?;
        }
    }
    listening(&place, &store).await?;
    questions::to_list(&store).await?;
    let mut rows = 1_000;
    while rows <= open {
        with_open(&store, &client, rows).await?;
        rows *= 10;
    }
    Ok(())
}

async fn owned(store: &PostgresStore) -> Result<Run, Failure> {
    let new = NewRun {
        root: None,
        id: RunId::generate(),
        alias: None,
        // As long as the order of a run is.
        content: format!(r#"{{"goal":"{}"}}"#, "x".repeat(800)),
    };
    let run = store.create_run(new).await?.id;
    let run = store.own_run(run, delivery("worker")?).await?;
    Ok(store
        .change_run(run.id, run.epoch, RunState::Running, None)
        .await?)
}

fn delivery(owner: &str) -> Result<Delivery, Failure> {
    Ok(Delivery {
        owner: OwnerName::new(owner)?,
        lease: LEASE,
        lost: None,
    })
}

/// What one process does with nothing beside it.
async fn alone(store: &PostgresStore, client: &Client) -> Result<(), Failure> {
    let run = owned(store).await?;
    say("bare read", || client.simple_query("SELECT 1")).await?;
    say("renew_run", || store.renew_run(run.id, run.epoch, LEASE)).await?;
    let other = delivery("other")?;
    say("own_run, refused", || async {
        let refused = store.own_run(run.id, other.clone()).await;
        refused.err().map(drop).ok_or("two owners")
    })
    .await?;
    say("run", || store.run(run.id)).await?;
    let page = Page {
        after: i64::MAX as u64,
        limit: 500,
    };
    say("outbox, no news", || store.outbox(page)).await?;
    for _ in 1..200 {
        owned(store).await?;
    }
    let page = Page {
        after: 0,
        limit: 200,
    };
    say("runs, a page of 200", || {
        store.runs(&WITHOUT_A_PROCESS, page)
    })
    .await
}

/// Stores in processes of their own, as it were, in each of which so many runs are renewed all the time.
async fn sharing(place: &PostgresLocation, stores: usize, runs: usize) -> Result<(), Failure> {
    let (mut renewing, each) = (Vec::new(), 200);
    for _ in 0..stores {
        let store = Arc::new(PostgresStore::open(place, StoreSettings::default()).await?);
        for _ in 0..runs {
            let run = owned(&store).await?;
            renewing.push((Arc::clone(&store), run));
        }
    }
    let began = Instant::now();
    let renewed = renewing.into_iter().map(|(store, run)| {
        tokio::spawn(async move {
            for _ in 0..each {
                store.renew_run(run.id, run.epoch, LEASE).await?;
            }
            Ok::<_, Failure>(())
        })
    });
    for renewed in join_all(renewed).await {
        renewed??;
    }
    let rate = (stores * runs * each) as f64 / began.elapsed().as_secs_f64();
    println!(
        "{stores} stores, {runs:>2} runs in each{:>14.0} renewals/s",
        rate
    );
    Ok(())
}

/// What a commit that tells costs with so many who listen.
async fn listening(place: &PostgresLocation, store: &PostgresStore) -> Result<(), Failure> {
    let mut notifiers = Vec::new();
    for listeners in [0, 50, 200] {
        while notifiers.len() < listeners {
            notifiers.push(PostgresNotifier::open(place));
        }
        // Until all of them listen.
        tokio::time::sleep(Duration::from_secs(1)).await;
        say(&format!("three commits, {listeners} listen"), || {
            owned(store)
        })
        .await?;
    }
    Ok(())
}

/// Looks of one process, while so many questions are open and as many runs wait for them.
async fn with_open(store: &PostgresStore, client: &Client, rows: u64) -> Result<(), Failure> {
    let fill = format!(
        "INSERT INTO runs (position, id, state, body) \
         SELECT 1000000 + n, 'run_' || md5(n::text), 'waiting', repeat('x', 300) \
         FROM generate_series(1, {rows}) n ON CONFLICT DO NOTHING; \
         INSERT INTO interrupts (position, id, key, digest, run, node, state, live, body) \
         SELECT 1000000 + n, 'int_' || md5(n::text), 'key-' || n, '', 'run_' || md5(n::text), 'root', \
         'awaiting_review', 1, repeat('x', 300) FROM generate_series(1, {rows}) n ON CONFLICT DO NOTHING; \
         VACUUM ANALYZE; CHECKPOINT"
    );
    for statement in fill.split("; ") {
        client.batch_execute(statement).await?;
    }
    println!("{rows} open interrupts, as many runs that wait");
    say("  sweep, nothing due", || store.sweep(100)).await?;
    // Behind the runs that work: all that follow wait for people, and are none that is looked for.
    let page = Page {
        after: 999_999,
        limit: 200,
    };
    say("  look, beyond those that work", || {
        store.runs(&WITHOUT_A_PROCESS, page)
    })
    .await?;
    questions::measure(store, client).await
}

/// Prints how long something takes.
async fn say<T, E, F>(what: &str, mut attempt: impl FnMut() -> F) -> Result<(), Failure>
where
    F: Future<Output = Result<T, E>>,
    Failure: From<E>,
{
    let (mut times, begun) = (Vec::new(), Instant::now());
    while times.len() < TIMES && begun.elapsed() < AT_MOST {
        let began = Instant::now();
        attempt().await?;
        times.push(began.elapsed());
    }
    say_all(what, times);
    Ok(())
}

/// Prints how long something took.
fn say_all(what: &str, mut times: Vec<Duration>) {
    times.sort();
    let at = |share: usize| times.get(times.len() * share / 100).copied();
    let (median, high) = (at(50).unwrap_or_default(), at(99).unwrap_or_default());
    println!("{what:<34} p50 {median:>9.1?}  p99 {high:>9.1?}");
}
