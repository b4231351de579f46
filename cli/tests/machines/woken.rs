//! A worker that stands still until another one has its run, and goes on: it writes nothing of that run any more, and
//! works on others.

use std::time::{Duration, Instant};

use interrupt_router::RunId;
use interrupts::store::{JournalEntry, Run};

use crate::deciders::decide_all;
use crate::installation::{ALL, Installation};
use crate::machine::Machine;
use crate::network;
use crate::starters::{ends, start};
use crate::takeovers::{are_taken_over, owned_by};

/// How long what is waited for may take.
const PATIENCE: Duration = Duration::from_secs(60);

/// Waits until a worker has a run.
async fn has(installation: &Installation, worker: &Machine, run: RunId) {
    let begun = Instant::now();
    loop {
        if let Some(owner) = worker.owner()
            && let owned = owned_by(installation, &owner).await
            && owned.iter().any(|owned| owned.id == run)
        {
            return;
        }
        assert!(
            begun.elapsed() < PATIENCE,
            "{} has not the run",
            worker.name
        );
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

async fn stands(installation: &Installation, run: RunId) -> (Run, Vec<JournalEntry>) {
    let store = &installation.store;
    (
        store.run(run).await.unwrap().unwrap(),
        store.journal(run, ALL).await.unwrap(),
    )
}

#[test]
fn a_worker_that_is_stopped_and_woken_writes_nothing_of_what_others_have_and_works_on() {
    network::run(
        "woken::a_worker_that_is_stopped_and_woken_writes_nothing_of_what_others_have_and_works_on",
        stopped_and_woken(),
    );
}

async fn stopped_and_woken() {
    let Some(installation) = Installation::new().await else {
        return;
    };
    let (first, second) = (&installation.workers[0], &installation.workers[1]);
    for worker in &installation.workers[1..] {
        worker.is_killed();
    }
    let keeping = installation.is_kept_up();
    let run = start(&installation, "Describe-the-bakery").await;
    has(&installation, first, run).await;
    first.stands_still();
    let since = Instant::now();
    second.may_come_back();
    let owned = owned_by(&installation, &first.owner().unwrap()).await;
    are_taken_over(&installation, owned, since).await;
    let (people, _told) = decide_all(&installation);
    ends(&installation, run).await;
    // From now on no other worker is there.
    second.is_killed();
    people.abort();
    let left = stands(&installation, run).await;
    first.goes_on();
    let other = start(&installation, "Describe-the-other-bakery").await;
    let (_people, _told) = decide_all(&installation);
    ends(&installation, other).await;
    assert_eq!(stands(&installation, run).await, left);
    let other = installation.store.run(other).await.unwrap().unwrap();
    assert_eq!(other.epoch, 1, "the woken worker has executed it");
    installation.store.verify_audit().await.unwrap();
    keeping.abort();
    assert_eq!(*installation.ended.lock().unwrap(), [] as [String; 0]);
}
