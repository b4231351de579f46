//! Workers as processes of their own, which race for the reroutes of one store: each is consumed once.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::time::Instant;

use futures_util::future::join_all;
use interrupt_router::InterruptId;
use interrupt_router::reroute::RerouteState;
use interrupts::life::{Refusal, State};
use interrupts::store::{
    Audit as _, ChangeError, Deciders, Delivery, Interrupts as _, Reroutes as _, Run,
};
use store::{PostgresLocation, PostgresStore};

use crate::postgres::{new_run, open};
use crate::scene::{choosing, delivery, event, own_place, person, question, rerouting, shown};

const WORKER_PLACE: &str = "IRQ_TEST_WORKER_PLACE";

/// How many workers race.
const WORKERS: usize = 16;

/// How many reroutes they race for at once, each of a run of its own.
const AT_ONCE: usize = 250;

/// What a worker says of a reroute that it has consumed.
const WON: &str = "won:";

/// What it says when it has tried all that it was given.
const DONE: &str = "done:";

/// How many reroutes there are; the long proof says another number.
fn wanted() -> usize {
    let said = std::env::var("REROUTES").ok();
    said.and_then(|text| text.parse().ok()).unwrap_or(500)
}

/// A worker decides what it is told, until it is told nothing more. Without a place it is none, and there is nothing to do.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn worker_that_decides_what_it_is_told() {
    let Ok(place) = std::env::var(WORKER_PLACE) else {
        return;
    };
    let store = Arc::new(open(&place.parse().unwrap()).await);
    let mut output = std::io::stdout().lock();
    for line in std::io::stdin().lines() {
        let line = line.unwrap();
        let ids = line.split(' ').map(|id| id.parse::<InterruptId>().unwrap());
        let tried = ids.map(|id| {
            let store = Arc::clone(&store);
            async move {
                let open = store.interrupt(id).await.unwrap().unwrap();
                // Whoever sees it before anybody has decided it may be the one.
                match store.decide(id, person(&open), choosing(None)).await {
                    Ok(_decided) => true,
                    Err(ChangeError::Refused(Refusal::Ended { .. })) => false,
                    Err(ChangeError::Refused(other)) => panic!("{other:?}"),
                    Err(other) => panic!("{other}"),
                }
            }
        });
        let won = join_all(tried).await;
        let won = won.iter().filter(|won| **won).count();
        writeln!(output, "\n{WON}{won}\n{DONE}").unwrap();
        output.flush().unwrap();
    }
}

struct Worker {
    child: Child,
    input: Option<ChildStdin>,
    lines: std::io::Lines<BufReader<ChildStdout>>,
}

impl Worker {
    fn start(place: &PostgresLocation) -> Self {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args([
                "--exact",
                "--nocapture",
                "workers::worker_that_decides_what_it_is_told",
            ])
            .env(WORKER_PLACE, place.to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        Self {
            input: child.stdin.take(),
            lines,
            child,
        }
    }

    fn is_told(&mut self, ids: &str) {
        writeln!(self.input.as_mut().unwrap(), "{ids}").unwrap();
    }

    /// How many it has won.
    fn has_won(&mut self) -> usize {
        let mut won = None;
        for line in self.lines.by_ref() {
            let line = line.unwrap();
            if let Some(count) = line.strip_prefix(WON) {
                won = Some(count.parse().unwrap());
            }
            if line.starts_with(DONE) {
                return won.unwrap();
            }
        }
        panic!("a worker has ended")
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        drop(self.input.take());
        let _killed = self.child.kill();
        let _buried = self.child.wait();
    }
}

/// A question that waits for a person, with a reroute bound to it, of this name.
async fn bound(store: &PostgresStore, run: &Run, name: &str) -> InterruptId {
    let published = rerouting(run, name, "OTHER");
    store.admit(published).await.unwrap();
    let raised = interrupts::store::RaisedQuestion {
        admission: question(run, format!("question-{name}")),
        delivery: Delivery {
            lost: None,
            ..delivery("owner", 1_000)
        },
        deciders: Deciders::default(),
    };
    let raised = store.raise(raised).await.unwrap().into_interrupt();
    let open = store.require_review(raised.id, raised.epoch, shown()).await;
    let open = open.unwrap();
    assert!(open.bound.is_some(), "{open:?}");
    open.id
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_16_workers_that_race_for_reroutes_one_consumes_each() {
    let Some(place) = own_place() else { return };
    let store = open(&place).await;
    let mut workers: Vec<_> = (0..WORKERS).map(|_worker| Worker::start(&place)).collect();
    let runs = join_all((0..AT_ONCE).map(|_run| new_run(&store))).await;
    let (mut winners, mut consumed, begun) = (vec![0; WORKERS], 0, Instant::now());
    while consumed < wanted() {
        let names: Vec<String> = (0..AT_ONCE)
            .map(|run| format!("{consumed}-{run}"))
            .collect();
        let pairs = runs.iter().zip(&names);
        let ids = join_all(pairs.map(|(run, name)| bound(&store, run, name))).await;
        let told: Vec<String> = ids.iter().map(InterruptId::to_string).collect();
        for worker in &mut workers {
            worker.is_told(&told.join(" "));
        }
        let mut won = 0;
        for (worker, wins) in workers.iter_mut().zip(&mut winners) {
            let count = tokio::task::block_in_place(|| worker.has_won());
            (won, *wins) = (won + count, *wins + count);
        }
        assert_eq!(won, AT_ONCE, "each is consumed by one");
        let by: BTreeMap<_, _> = names.iter().zip(&ids).collect();
        join_all(
            by.into_iter()
                .map(|(name, id)| is_consumed(&store, name, *id)),
        )
        .await;
        consumed += won;
    }
    println!(
        "{consumed} reroutes, consumed once each, of {WORKERS} workers by {} to {} each, in {:.0} s",
        winners.iter().min().unwrap(),
        winners.iter().max().unwrap(),
        begun.elapsed().as_secs_f64()
    );
    assert!(
        winners.iter().filter(|wins| **wins > 0).count() > 1,
        "there was no race"
    );
    store.verify_audit().await.unwrap();
}

/// A reroute was consumed by the decision of the interrupt that it was bound to.
async fn is_consumed(store: &PostgresStore, name: &str, id: InterruptId) {
    let interrupt = store.interrupt(id).await.unwrap().unwrap();
    assert_eq!(interrupt.state, State::Rerouted);
    let row = store.reroute(&event(name)).await.unwrap().unwrap();
    let RerouteState::Consumed {
        interrupt: by,
        decision,
    } = row.state
    else {
        panic!("{:?}", row.state);
    };
    assert_eq!(
        (by, Some(decision)),
        (id, interrupt.decision.map(|it| it.id))
    );
}
