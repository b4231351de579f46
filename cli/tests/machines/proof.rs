//! The proof.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use interrupts::OwnerName;
use interrupts::life::Interrupt;
use interrupts::store::{Filter, Page};
use serde_json::Value;
use tests::auditor::{Attempt, Evidence, Report, audit};
use tokio::task::JoinSet;

use crate::count::Fault;
use crate::deciders::{Told, decide_all};
use crate::faults::Injector;
use crate::installation::{ALL, Installation};
use crate::network;
use crate::publishers::{Publishers, attempts};
use crate::starters::start_all;
use crate::takeovers::{ALLOWED, LEASE};

/// How many runs are under way at once: two workers have room for all of them.
const AT_ONCE: usize = 8;

/// How long it may take until all is said once the faults are over.
const PATIENCE: Duration = Duration::from_secs(60);

/// How many interrupts there are to be; the long proof says another number.
fn wanted() -> usize {
    let said = std::env::var("INTERRUPTS").ok();
    said.and_then(|text| text.parse().ok()).unwrap_or(60)
}

#[test]
fn nothing_is_lost_or_doubled_whatever_machine_fails() {
    network::run(
        "proof::nothing_is_lost_or_doubled_whatever_machine_fails",
        whatever_machine_fails(),
    );
}

async fn whatever_machine_fails() {
    let Some(installation) = Installation::new().await else {
        return;
    };
    let begun = Instant::now();
    let keeping = installation.is_kept_up();
    let (people, told) = decide_all(&installation);
    let supervisors = Publishers::publish_all(&installation).await;
    let runs = start_all(&installation, AT_ONCE);
    inject(&installation, wanted()).await;
    installation.goes_on.store(false, Ordering::SeqCst);
    all_end(runs).await;
    let through = is_published(&installation).await;
    supervisors.abort();
    people.abort();
    keeping.abort();
    let attempts = attempts(&installation);
    let report = audited(&installation, &attempts).await;
    says(&installation, &report, &attempts, begun.elapsed());
    assert_eq!(report.findings, []);
    decisions_stand(&installation, &told).await;
    is_heard(&installation, through).await;
    is_verified(&installation).await;
    let missing = installation.faults.missing(installation.ways.are_cables());
    assert_eq!(missing, [] as [Fault; 0]);
    assert!(report.decisions > 0 && report.consumed > 0);
}

/// All kinds of faults, again and again until there are so many interrupts.
async fn inject(installation: &Arc<Installation>, wanted: usize) {
    for round in 0.. {
        let (mut of_workers, mut around) = (
            Injector::new(installation, round),
            Injector::new(installation, round + 1_000_000),
        );
        // Nothing happens to the database while it is measured how soon runs are taken.
        tokio::join!(of_workers.the_workers(), around.around());
        tokio::join!(of_workers.the_database(), around.links());
        around.the_broker_is_wiped().await;
        let so_far = installation.interrupts.load(Ordering::SeqCst);
        println!(
            "round {round}: {so_far} interrupts, {} faults",
            installation.faults.total()
        );
        if so_far >= wanted {
            return;
        }
    }
}

async fn all_end(mut runs: JoinSet<()>) {
    while let Some(ended) = runs.join_next().await {
        ended.unwrap();
    }
}

/// Waits until the broker has all events. Returns the last position.
async fn is_published(installation: &Installation) -> u64 {
    let consumer = OwnerName::new("bus").unwrap();
    let end = Instant::now() + PATIENCE;
    loop {
        let through = installation.store.cursor(&consumer).await.unwrap();
        let page = Page {
            after: through,
            limit: 1,
        };
        if installation.store.outbox(page).await.unwrap().is_empty() {
            return through;
        }
        assert!(
            Instant::now() < end,
            "the broker has events up to {through}"
        );
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

async fn audited(installation: &Installation, attempts: &[Attempt]) -> Report {
    let calls = installation.brain.calls();
    let evidence = Evidence {
        store: &*installation.store,
        attempts,
        calls: &calls,
    };
    audit(&evidence).await.unwrap()
}

/// Each decision that a person was told to have been accepted stands as it was made.
async fn decisions_stand(installation: &Installation, told: &Told) {
    let all = installation.store.interrupts(&Filter::default(), ALL).await;
    let of = |interrupt: &Interrupt| {
        let content = interrupt.decision.as_ref()?.content.as_deref()?;
        let content: Value = serde_json::from_str(content).ok()?;
        Some(content["text"].as_str()?.to_owned())
    };
    let stored: BTreeMap<String, Option<String>> = all
        .unwrap()
        .iter()
        .map(|(_position, interrupt)| (interrupt.id.to_string(), of(interrupt)))
        .collect();
    let accepted = told.accepted();
    assert!(!accepted.is_empty());
    for (interrupt, words) in accepted {
        assert_eq!(stored.get(&interrupt), Some(&Some(words)), "{interrupt}");
    }
}

/// The stream has all that happened since the broker was wiped last, in order. Several servers publish, so that what the
/// old one had acknowledged may be there once more.
async fn is_heard(installation: &Installation, through: u64) {
    let addresses = installation.broker.lock().unwrap().addresses();
    let client = async_nats::connect(addresses).await.unwrap();
    let stream = async_nats::jetstream::new(client)
        .get_stream("IRQ_EVENTS")
        .await;
    let stream = stream.unwrap();
    let state = &stream.cached_info().state;
    let mut positions = Vec::new();
    for sequence in state.first_sequence..=state.last_sequence {
        let message = stream.get_raw_message(sequence).await.unwrap();
        let event: Value = serde_json::from_slice(&message.payload).unwrap();
        positions.push(event["sequence"].as_str().unwrap().parse::<u64>().unwrap());
    }
    let mut once = positions.clone();
    once.sort_unstable();
    once.dedup();
    let first = once.first().copied().unwrap_or(through + 1);
    assert_eq!(once, (first..=through).collect::<Vec<_>>());
    println!(
        "the broker has the events {first} to {through}, {} of them twice",
        positions.len() - once.len()
    );
}

async fn is_verified(installation: &Installation) {
    let mut verify = installation.irq(&["history", "--verify"]);
    let verified = tokio::task::spawn_blocking(move || verify.output().unwrap());
    let verified = verified.await.unwrap();
    assert!(verified.status.success(), "{verified:?}");
}

fn says(installation: &Installation, report: &Report, attempts: &[Attempt], took: Duration) {
    let takeovers = installation.takeovers.sorted();
    let seconds = |at: usize| takeovers.get(at).map_or(0.0, Duration::as_secs_f64);
    println!(
        "{} interrupts, {} decisions, {} reroutes consumed, {} runs, {} attempts to publish, {} results, {} calls, \
         {} answers lost with their callers, in {:.0} s",
        report.interrupts,
        report.decisions,
        report.consumed,
        installation.runs_ended.lock().unwrap().len(),
        attempts.len(),
        report.results,
        installation.brain.calls().len(),
        report.lost_answers,
        took.as_secs_f64(),
    );
    println!(
        "{} takeovers after {:.1} s at the least, {:.1} s at the median, {:.1} s at the most; the lease is {} s, \
         {:.1} s more are allowed; other processes {} whether one lives; what they send goes through {}",
        takeovers.len(),
        seconds(0),
        seconds(takeovers.len() / 2),
        seconds(takeovers.len().saturating_sub(1)),
        LEASE.as_secs(),
        ALLOWED.as_secs_f64(),
        match installation.is_apart() {
            true => "cannot see",
            false => "see",
        },
        match installation.ways.are_cables() {
            true => "a network of namespaces",
            false => "ports of one machine",
        },
    );
    println!(
        "{} faults:\n{}",
        installation.faults.total(),
        installation.faults.lines()
    );
    let ended = installation.ended.lock().unwrap();
    println!("{} processes ended by themselves:", ended.len());
    for said in ended.iter() {
        println!("  {said}");
    }
}
