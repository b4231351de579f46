//! A store that fails: what can be recovered from is tried again, what cannot stops the run, and nothing lies.

use std::sync::Arc;

use interrupt_router::{RunId, StopMode, StopSource};
use interrupts::OwnerName;
use interrupts::life::{Evidence, RunState, State};
use interrupts::manager::{
    Backoff, Course, InterruptManager, KeepError, ManagerSettings, OwnedRun, Recoverable as _,
    RunEnd, Target, Times,
};
use interrupts::store::{RunError, Runs as _, StoreError};
use tokio::runtime::Handle;

use crate::faulty::{Fault, FaultyStore};
use crate::scene::{Scene, node, pause, person, taking};

fn process(scene: &Scene, store: &Arc<FaultyStore>, owner: &str) -> InterruptManager {
    let settings = ManagerSettings {
        store: store.clone(),
        ..scene.settings(owner)
    };
    InterruptManager::new(settings, Handle::current())
}

fn locked(count: u32) -> Option<Fault> {
    Some(Fault::Next {
        count,
        error: StoreError::Locked,
    })
}

#[test]
fn what_can_be_recovered_from_is_tried_again_ever_later_and_not_for_ever() {
    let backoff = Backoff {
        first: std::time::Duration::from_millis(10),
        longest: std::time::Duration::from_millis(50),
        most: 4,
    };
    let waits: Vec<_> = (1..=5)
        .map(
            |failures| match backoff.course(&StoreError::Locked, failures) {
                Course::Retry { after } => (after.as_secs_f64() * 1_000.0).round(),
                Course::Stop => 0.0,
            },
        )
        .collect();
    assert_eq!(waits, [10.0, 20.0, 40.0, 50.0, 0.0]);
    let course = backoff.course(&StoreError::ReadOnly, 1);
    assert_eq!(course, Course::Stop);
    assert!(
        !StoreError::Corrupt {
            detail: String::new()
        }
        .is_recoverable()
    );
}

#[tokio::test(start_paused = true)]
async fn a_store_that_fails_for_a_while_delays_the_record_and_not_the_stop() {
    let scene = Scene::new();
    let store = FaultyStore::over(scene.store.clone());
    let one = process(&scene, &store, "one");
    let run = scene.run().await;
    let kept = one.take(taking(run)).await.unwrap();
    store.set(locked(4));
    let handle = one.request(pause(Target::Run(run), StopMode::Graceful));
    assert!(kept.scope().is_stopping());
    handle.recorded().await.unwrap();
    kept.acknowledge_stops(Evidence::Boundary, None)
        .await
        .unwrap();
    kept.settle(RunEnd::Stopped).await.unwrap();
    assert_eq!(scene.state(run).await, RunState::Paused);
}

#[tokio::test(start_paused = true)]
async fn a_store_that_is_damaged_stops_the_run_at_once_and_the_error_is_kept() {
    let scene = Scene::new();
    let store = FaultyStore::over(scene.store.clone());
    let one = process(&scene, &store, "one");
    let run = scene.run().await;
    let kept = one.take(taking(run)).await.unwrap();
    kept.begin().await.unwrap();
    let corrupt = StoreError::Corrupt {
        detail: "page 7".to_owned(),
    };
    store.set(Some(Fault::From {
        operation: 0,
        error: corrupt.clone(),
    }));
    let handle = one.request(pause(Target::Run(run), StopMode::Graceful));
    let reason = kept.scope().stopped_now().await;
    assert_eq!(reason.source, StopSource::System);
    assert!(reason.message.contains("page 7"), "{}", reason.message);
    assert!(
        handle.recorded().await.is_err(),
        "nothing is said to be recorded that is not"
    );
    assert_eq!(kept.failure(), Some(&KeepError::Store(corrupt)));
    let stopped = kept.acknowledge_stops(Evidence::Cancelled, None).await;
    assert!(
        stopped.is_err(),
        "nobody is told that it is stopped and recorded"
    );
    assert_eq!(scene.state(run).await, RunState::Running);
}

#[tokio::test(start_paused = true)]
async fn a_lease_that_cannot_be_renewed_in_time_is_given_up_before_another_may_take_it() {
    let scene = Scene::new();
    let store = FaultyStore::over(scene.store.clone());
    let one = process(&scene, &store, "one");
    let run = scene.run().await;
    let kept = one.take(taking(run)).await.unwrap();
    let began = tokio::time::Instant::now();
    store.set(Some(Fault::From {
        operation: 0,
        error: StoreError::Unavailable {
            detail: "the cable is out".to_owned(),
        },
    }));
    kept.scope().stopped_now().await;
    assert!(began.elapsed() <= one.settings().times.lease);
    while !kept.is_lost() {
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    }
    assert!(began.elapsed() <= one.settings().times.lease + std::time::Duration::from_secs(1));
}

#[tokio::test(start_paused = true)]
async fn whoever_loses_a_run_because_the_store_fails_is_told_what_is_wrong_with_it() {
    let scene = Scene::new();
    let store = FaultyStore::over(scene.store.clone());
    let one = process(&scene, &store, "one");
    let run = scene.run().await;
    let kept = one.take(taking(run)).await.unwrap();
    store.set(Some(Fault::From {
        operation: 0,
        error: StoreError::Full,
    }));
    // What is asked of it keeps the looking busy, so that the lease is what gives out first.
    let _asked = one.request(pause(Target::Run(run), StopMode::Graceful));
    while !kept.is_lost() {
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    }
    let settled = kept.settle(RunEnd::Stopped).await;
    assert_eq!(settled, Err(KeepError::Store(StoreError::Full)));
}

/// A run that is told to pause by its process, stops, and says so.
async fn pause_a_run(process: &InterruptManager, run: RunId) -> Result<(), KeepError> {
    let kept = process.take(taking(run)).await?;
    kept.begin().await?;
    let _handle = process.request(pause(Target::Run(run), StopMode::Graceful));
    stop(kept).await
}

async fn stop(kept: OwnedRun) -> Result<(), KeepError> {
    kept.acknowledge_stops(Evidence::Boundary, None).await?;
    kept.settle(RunEnd::Stopped).await
}

#[tokio::test(start_paused = true)]
async fn a_process_that_dies_at_any_operation_leaves_a_run_that_the_next_one_stops_or_resumes() {
    let dead = StoreError::Closed;
    let whole = operations_of_a_pause().await;
    assert!(whole > 8, "the sweep has something to sweep: {whole}");
    for operation in 0..whole {
        let scene = Scene::new();
        let store = FaultyStore::over(scene.store.clone());
        let one = process(&scene, &store, "one");
        let run = scene.run().await;
        store.set(Some(Fault::From {
            operation,
            error: dead.clone(),
        }));
        let died = pause_a_run(&one, run).await;
        drop(one);

        let two = scene.process("two");
        let mut takeover = taking(run);
        takeover.lost = Some(OwnerName::new("one").unwrap());
        let kept = two.take(takeover).await.unwrap();
        let asked = !scene.interrupts(run).await.is_empty();
        assert_eq!(
            kept.scope().is_stopping(),
            asked,
            "at {operation}: {died:?}"
        );
        if asked {
            stop(kept).await.unwrap();
            assert_eq!(scene.state(run).await, RunState::Paused, "at {operation}");
            assert_eq!(
                scene.states(run).await,
                [State::AwaitingReview],
                "at {operation}"
            );
        } else {
            assert!(died.is_err(), "what was said to be stopped is recorded");
        }
    }
}

async fn operations_of_a_pause() -> u32 {
    let scene = Scene::new();
    let store = FaultyStore::over(scene.store.clone());
    let one = process(&scene, &store, "one");
    let run = scene.run().await;
    pause_a_run(&one, run).await.unwrap();
    store.operations()
}

#[tokio::test]
async fn an_owner_is_not_taken_for_gone_because_it_was_not_asked() {
    let scene = Scene::new();
    let (one, two) = (scene.process("one"), scene.process("two"));
    let run = scene.run().await;
    let _kept = one.take(taking(run)).await.unwrap();
    let refused = two.take(taking(run)).await.err().unwrap();
    assert!(matches!(refused, KeepError::Run(RunError::Owned { .. })));
    assert_eq!(two.status().known, 0);
}

#[tokio::test(start_paused = true)]
async fn a_run_is_not_said_to_have_stopped_while_the_request_is_still_being_recorded() {
    let scene = Scene::new();
    let store = FaultyStore::over(scene.store.clone());
    let one = process(&scene, &store, "one");
    let run = scene.run().await;
    let gate = store.hold_admissions();
    // Nobody keeps the run yet, so its recorder is another one than the run's own.
    let handle = one.request(pause(Target::Run(run), StopMode::Graceful));
    tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    let kept = one.take(taking(run)).await.unwrap();
    assert!(kept.scope().is_stopping());
    let stopping = tokio::spawn(stop(kept));
    tokio::time::sleep(std::time::Duration::from_secs(3)).await;
    assert!(!stopping.is_finished());
    gate.add_permits(1);
    stopping.await.unwrap().unwrap();
    let settled = handle.settled().await.unwrap();
    assert_eq!(settled[0].state, State::AwaitingReview);
    assert_eq!(scene.state(run).await, RunState::Paused);
}

#[tokio::test(start_paused = true)]
async fn a_request_whose_recording_is_cut_short_is_recorded_after_its_run_was_let_go() {
    let scene = Scene::new();
    let store = FaultyStore::over(scene.store.clone());
    let one = process(&scene, &store, "one");
    let run = scene.run().await;
    let kept = one.take(taking(run)).await.unwrap();
    let gate = store.hold_admissions();
    let handle = one.request(pause(Target::Run(run), StopMode::Graceful));
    tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    drop(kept);
    gate.add_permits(2);
    handle.recorded().await.unwrap();
    assert_eq!(
        scene.states(run).await,
        [State::Requested],
        "for its next owner"
    );
}

#[tokio::test(start_paused = true)]
async fn a_run_that_completes_before_a_shutdown_is_recorded_leaves_the_shutdown_clean() {
    let scene = Scene::new();
    let store = FaultyStore::over(scene.store.clone());
    let one = process(&scene, &store, "one");
    let run = scene.run().await;
    let kept = one.take(taking(run)).await.unwrap();
    kept.begin().await.unwrap();
    let gate = store.hold_admissions();
    let leaving = {
        let one = one.clone();
        tokio::spawn(async move { one.execute_shutdown("the machine goes down").await })
    };
    kept.scope().stopping().await;
    scene
        .store
        .change_run(run, kept.epoch(), RunState::Completed, None)
        .await
        .unwrap();
    gate.add_permits(1);
    drop(kept);
    let report = leaving.await.unwrap();
    assert_eq!(report.unrecorded, []);
    assert!(report.is_clean(), "{report:?}");
}

#[tokio::test(start_paused = true)]
async fn the_pauses_of_a_run_are_lifted_together_or_not_at_all_whenever_the_store_fails() {
    for operation in 0.. {
        let scene = Scene::new();
        let run = scene.run().await;
        let before = scene.process("before");
        let of_agent = pause(Target::Node(run, node("root/worker")), StopMode::Graceful);
        for asked in [pause(Target::Run(run), StopMode::Graceful), of_agent] {
            before.request(asked).recorded().await.unwrap();
        }
        let store = FaultyStore::over(scene.store.clone());
        let one = process(&scene, &store, "one");
        let kept = one.take(taking(run)).await.unwrap();
        store.set(Some(Fault::From {
            operation,
            error: StoreError::ReadOnly,
        }));
        let resumed = kept.resume(&person(), Some("\"go on\"".to_owned())).await;
        let states = scene.states(run).await;
        let lifted = states.iter().filter(|it| **it == State::Resolved).count();
        assert!(
            lifted == 0 || lifted == 2,
            "{states:?} after {operation} operations"
        );
        if resumed.is_ok() {
            assert_eq!(lifted, 2);
            return;
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_process_that_stood_still_stops_the_run_before_it_does_anything_that_another_may_have_done()
 {
    let scene = Scene::new();
    let settings = scene.settings("one");
    let times = Times {
        // It does not find out by itself that time has passed.
        heartbeat: std::time::Duration::from_secs(1_000),
        ..settings.times
    };
    let one = InterruptManager::new(ManagerSettings { times, ..settings }, Handle::current());
    let run = scene.run().await;
    let kept = one.take(taking(run)).await.unwrap();
    let lease = times.lease;
    tokio::time::advance(lease - std::time::Duration::from_secs(1)).await;
    kept.stops_where_lost();
    assert!(!kept.is_lost() && !kept.scope().is_stopping());
    tokio::time::advance(std::time::Duration::from_secs(1)).await;
    kept.stops_where_lost();
    assert!(kept.is_lost() && kept.scope().is_stopping());
}
