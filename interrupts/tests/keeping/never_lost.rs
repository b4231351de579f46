//! A stop that is asked for at any moment around a run's start, its steps and its waits is never lost.

use std::sync::Arc;
use std::time::{Duration, Instant};

use interrupt_router::{NodeId, RunId, StopMode};
use interrupts::life::{Evidence, RunState, State};
use interrupts::manager::{InterruptManager, OwnedRun, RunEnd, Target};
use tokio::sync::oneshot;

use crate::scene::{Scene, node, pause, taken};

/// How many moments lie between the earliest one and the last.
const MOMENTS: u32 = 10_000;
/// So many share a store, so that no look into it has to pass over thousands of others.
const OF_ONE_STORE: usize = 100;
/// Far more than a stop takes, so that one that takes it was lost.
const LOST: Duration = Duration::from_secs(20);

/// Works in steps, each with a wait, until told to stop; the stop of a node counts as much as one of the run.
async fn work(kept: OwnedRun, worker: NodeId) {
    kept.begin().await.unwrap();
    let scope = kept.node_scope(&worker);
    while !scope.is_stopping() {
        for _turn in 0..3 {
            tokio::task::yield_now().await;
        }
        let wait = tokio::time::sleep(Duration::from_micros(50));
        tokio::select! {
            _reason = scope.stopping() => {}
            () = wait => {}
        }
    }
    let stopped = kept
        .acknowledge_stops(Evidence::Boundary, None)
        .await
        .unwrap();
    assert!(
        stopped.is_some(),
        "the stop is in force when it is acknowledged"
    );
    kept.settle(RunEnd::Stopped).await.unwrap();
}

/// Asks for a stop from a thread of its own, after so many nanoseconds.
fn ask_after(
    process: &InterruptManager,
    target: Target,
    nanoseconds: u64,
) -> std::thread::JoinHandle<interrupts::manager::StopHandle> {
    let process = process.clone();
    let began = Instant::now();
    std::thread::spawn(move || {
        while began.elapsed() < Duration::from_nanos(nanoseconds) {
            std::hint::spin_loop();
        }
        process.request(pause(target, StopMode::Graceful))
    })
}

async fn interrupted_at(scene: &Scene, process: &InterruptManager, offset: u32) {
    let run: RunId = scene.run().await;
    let worker = node("root/worker");
    let target = match offset % 3 {
        0 => Target::Run(run),
        1 => Target::Node(run, worker.clone()),
        _ => Target::Node(run, node("root")),
    };
    // From before the run is taken to well after it works.
    let asking = ask_after(process, target, u64::from(offset) * 60);
    let kept = taken(process, run).await;
    let working = tokio::spawn(work(kept, worker));
    let (done, joined) = oneshot::channel();
    std::thread::spawn(move || {
        let _receiver_waits = done.send(asking.join().unwrap());
    });
    let handle = joined.await.unwrap();
    let settled = tokio::time::timeout(LOST, async {
        working.await.unwrap();
        handle.settled().await.unwrap()
    })
    .await
    .unwrap_or_else(|_elapsed| panic!("the stop at offset {offset} was lost"));
    assert_eq!(settled[0].state, State::AwaitingReview);
    assert_eq!(scene.state(run).await, RunState::Paused);
    assert_eq!(scene.states(run).await, [State::AwaitingReview]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_stops_at_each_moment_around_start_steps_and_waits_none_is_lost() {
    // `STOPS` of them, 1,000 if it is not set, up to one for each moment.
    let stops = std::env::var("STOPS").map_or(1_000, |stops| stops.parse().unwrap());
    let apart = (MOMENTS / stops).max(1) as usize;
    let moments: Vec<u32> = (0..MOMENTS).step_by(apart).collect();
    for of_one_store in moments.chunks(OF_ONE_STORE) {
        let scene = Scene::new();
        let process = scene.process("one");
        for offset in of_one_store {
            interrupted_at(&scene, &process, *offset).await;
        }
        // The recorder of runs that nobody keeps may still be at its last request.
        tokio::time::timeout(LOST, async {
            while process.status().known > 0 {
                tokio::task::yield_now().await;
            }
        })
        .await
        .expect("nothing is left of runs that stopped");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn stops_of_everything_around_the_start_are_not_lost_either() {
    for offset in 0..400_u64 {
        let scene = Scene::new();
        let process = scene.process("one");
        let run = scene.run().await;
        let asking = ask_after(&process, Target::Everything, offset * 500);
        let kept = taken(&process, run).await;
        let worker = tokio::spawn(work(kept, node("root/worker")));
        tokio::time::timeout(LOST, worker).await.unwrap().unwrap();
        asking.join().unwrap();
        assert_eq!(scene.states(run).await, [State::AwaitingReview]);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_many_threads_that_ask_at_once_each_is_told_of_the_one_stop() {
    let scene = Scene::new();
    let process = Arc::new(scene.process("one"));
    let run = scene.run().await;
    let kept = taken(&process, run).await;
    let threads: Vec<_> = (0..50)
        .map(|number| {
            let mode = if number % 10 == 9 {
                StopMode::Immediate
            } else {
                StopMode::Graceful
            };
            let process = Arc::clone(&process);
            std::thread::spawn(move || process.request(pause(Target::Run(run), mode)))
        })
        .collect();
    let handles: Vec<_> = threads
        .into_iter()
        .map(|thread| thread.join().unwrap())
        .collect();
    assert!(kept.scope().is_stopped_now());
    let first = handles[0].recorded().await.unwrap();
    for handle in &handles {
        assert_eq!(handle.recorded().await.unwrap(), first);
    }
    let interrupts = scene.interrupts(run).await;
    assert_eq!(interrupts.len(), 1);
    assert_eq!(interrupts[0].mode, StopMode::Immediate);
}
