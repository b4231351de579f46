//! What PostgreSQL costs, beside what the server itself costs: an insert with a commit, and a `NOTIFY` that another
//! connection hears.
//!
//! `tests/postgres/with cargo bench -p interrupt-router-store --features postgres --bench across`

use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use interrupt_router::{InterruptId, InterruptType, NodeId, RunId, StopMode, StopSource};
use interrupts::life::{Actor, Admission, ExpiryOutcome, Recurrence, Role, Scope, USUAL_ATTEMPTS};
use interrupts::store::{Interrupts as _, NewRun, Outbox as _, Page, Runs as _};
use interrupts::{ActorName, IdempotencyKey, KindName, Notifier as _, RouteName};
use store::{PostgresLocation, PostgresNotifier, PostgresStore, StoreSettings};
use tokio_postgres::{AsyncMessage, Client, NoTls};

const ALONE: usize = 1_000;
const ROUNDS: usize = 500;
/// How many publish at once, and how often each.
const AT_ONCE: [(usize, usize); 2] = [(64, 200), (512, 40)];

type Failure = Box<dyn std::error::Error + Send + Sync>;

fn main() -> Result<(), Failure> {
    // Test runners ask a bench to list its tests: it has none, and must not measure then.
    if std::env::args().any(|argument| argument == "--list") {
        return Ok(());
    }
    let server = std::env::var("IRQ_TEST_POSTGRES")
        .map_err(|_unset| "IRQ_TEST_POSTGRES names no server; `tests/postgres/with` starts one")?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()?;
    runtime.block_on(measure(&server))
}

async fn measure(server: &str) -> Result<(), Failure> {
    let place: PostgresLocation = format!("{server}?schema=across").parse()?;
    let store = Arc::new(PostgresStore::open(&place, StoreSettings::default()).await?);
    let run = RunId::generate();
    let new = NewRun {
        root: None,
        id: run,
        alias: None,
        content: "{}".to_owned(),
    };
    store.create_run(new).await?;
    let bare = connect(server).await?;
    bare.batch_execute("CREATE TABLE bare (id BIGSERIAL PRIMARY KEY, body TEXT NOT NULL)")
        .await?;
    accepting(&store, run, &bare).await?;
    hearing(server, &place, &store, run, &bare).await
}

async fn connect(server: &str) -> Result<Client, Failure> {
    let (client, connection) = tokio_postgres::connect(server, NoTls).await?;
    tokio::spawn(connection);
    Ok(client)
}

/// Admissions, one after the other and many at once.
async fn accepting(store: &Arc<PostgresStore>, run: RunId, bare: &Client) -> Result<(), Failure> {
    let insert = bare.prepare("INSERT INTO bare (body) VALUES ($1)").await?;
    let body = "x".repeat(1_000);
    let (mut inserts, mut admissions) = (Vec::new(), Vec::new());
    for number in 0..ALONE {
        // In turns, so that both meet the same disk.
        let began = Instant::now();
        bare.execute(&insert, &[&body]).await?;
        inserts.push(began.elapsed());
        let admission = admission(run, format!("alone-{number}"))?;
        let began = Instant::now();
        store.admit(admission).await?;
        admissions.push(began.elapsed());
    }
    let (insert, admit) = (spread(inserts), spread(admissions));
    say("bare insert, committed", insert);
    say("admit, durable", admit);
    println!(
        "{:<34} {:>8.2}x",
        "admit / bare insert",
        ratio(admit.0, insert.0)
    );
    for (publishers, of_each) in AT_ONCE {
        let began = Instant::now();
        let publish = |publisher| {
            let store = Arc::clone(store);
            tokio::spawn(async move {
                let mut latencies = Vec::new();
                for number in 0..of_each {
                    let key = format!("{publishers}-{publisher}-{number}");
                    let admission = admission(run, key)?;
                    let began = Instant::now();
                    store.admit(admission).await?;
                    latencies.push(began.elapsed());
                }
                Ok::<_, Failure>(latencies)
            })
        };
        let mut latencies = Vec::new();
        for published in join_all((0..publishers).map(publish)).await {
            latencies.extend(published??);
        }
        let rate = latencies.len() as f64 / began.elapsed().as_secs_f64();
        say(
            &format!("{publishers} publishers, {rate:.0}/s"),
            spread(latencies),
        );
    }
    Ok(())
}

/// How long it takes from an admission at one store until another one has read it.
async fn hearing(
    server: &str,
    place: &PostgresLocation,
    store: &Arc<PostgresStore>,
    run: RunId,
    bare: &Client,
) -> Result<(), Failure> {
    let (listener, mut connection) = tokio_postgres::connect(server, NoTls).await?;
    let (heard, mut hears) = tokio::sync::mpsc::unbounded_channel();
    tokio::spawn(async move {
        while let Some(Ok(message)) =
            std::future::poll_fn(|context| connection.poll_message(context)).await
        {
            if let AsyncMessage::Notification(_news) = message {
                let _gone = heard.send(Instant::now());
            }
        }
    });
    listener.batch_execute("LISTEN bare").await?;
    let other = PostgresStore::open(place, StoreSettings::default()).await?;
    let notifier = PostgresNotifier::open(place);
    notifier.heard().await;
    let mut after = last(&other).await?;
    let (mut bares, mut heards) = (Vec::new(), Vec::new());
    for number in 0..ROUNDS {
        let began = Instant::now();
        bare.batch_execute("INSERT INTO bare (body) VALUES ('x'); NOTIFY bare")
            .await?;
        let at = hears.recv().await.ok_or("the server went away")?;
        bares.push(at.duration_since(began));
        let admission = admission(run, format!("heard-{number}"))?;
        let began = Instant::now();
        let admitting = {
            let store = Arc::clone(store);
            tokio::spawn(async move { store.admit(admission).await })
        };
        let read = loop {
            notifier.heard().await;
            let page = Page { after, limit: 100 };
            let rows = other.outbox(page).await?;
            if let Some(row) = rows.last() {
                break row.position;
            }
        };
        heards.push(began.elapsed());
        after = read;
        admitting.await??;
    }
    let (bare, heard) = (spread(bares), spread(heards));
    say("bare insert and NOTIFY, heard", bare);
    say("admit, read by another store", heard);
    println!(
        "{:<34} {:>8.2?}",
        "beyond the bare commit and hop",
        heard.0.saturating_sub(bare.0)
    );
    Ok(())
}

async fn last(store: &PostgresStore) -> Result<u64, Failure> {
    let mut after = 0;
    loop {
        let rows = store
            .outbox(Page {
                after,
                limit: 1_000,
            })
            .await?;
        match rows.last() {
            Some(row) => after = row.position,
            None => return Ok(after),
        }
    }
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

fn say(what: &str, (median, high): (Duration, Duration)) {
    println!("{what:<34} p50 {median:>9.1?}  p99 {high:>9.1?}");
}

/// The median and the 99th percentile.
fn spread(mut times: Vec<Duration>) -> (Duration, Duration) {
    times.sort();
    let at = |share: usize| times.get(times.len() * share / 100).copied();
    (at(50).unwrap_or_default(), at(99).unwrap_or_default())
}

fn ratio(one: Duration, other: Duration) -> f64 {
    one.as_secs_f64() / other.as_secs_f64()
}
