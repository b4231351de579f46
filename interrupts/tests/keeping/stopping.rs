//! Stops, from the request to the record.

use interrupt_router::StopMode;
use interrupts::life::{Evidence, RunState, Scope, State, Verdict};
use interrupts::manager::{RunEnd, StopKind, StopRequest, Target};

use crate::scene::{Scene, node, pause, person, taken, work_until_stopped};

#[tokio::test]
async fn a_pause_reaches_the_scope_at_once_and_is_settled_when_the_run_is_recorded_as_paused() {
    let scene = Scene::new();
    let process = scene.process("one");
    let run = scene.run().await;
    let kept = taken(&process, run).await;
    kept.begin().await.unwrap();
    let scope = kept.node_scope(&node("root/discovery/worker"));
    let handle = process.request(pause(Target::Run(run), StopMode::Graceful));
    assert!(scope.is_stopping() && !scope.is_stopped_now());
    assert!(process.is_interrupted(&Target::Run(run)));

    let id = handle.recorded().await.unwrap()[0];
    kept.look().await.unwrap();
    assert_eq!(scene.state(run).await, RunState::Stopping);
    assert_eq!(scene.states(run).await, [State::Delivered]);

    let stopped = kept
        .acknowledge_stops(Evidence::Boundary, None)
        .await
        .unwrap()
        .unwrap();
    assert_eq!(stopped.state, RunState::Paused);
    kept.settle(RunEnd::Stopped).await.unwrap();
    let settled = handle.settled().await.unwrap();
    assert_eq!(
        (settled[0].id, settled[0].state),
        (id, State::AwaitingReview)
    );
    assert_eq!(settled[0].scope, Scope::Run);
    let row = interrupts::store::Runs::run(&*scene.store, run)
        .await
        .unwrap()
        .unwrap();
    assert_eq!((row.state, row.lease), (RunState::Paused, None));
    assert_eq!(process.status().runs, []);
    assert_eq!(process.status().known, 0);
}

#[tokio::test]
async fn a_stop_ends_the_run_and_takes_the_place_of_a_pause_that_is_under_way() {
    let scene = Scene::new();
    let process = scene.process("one");
    let run = scene.run().await;
    let kept = taken(&process, run).await;
    kept.begin().await.unwrap();
    process.request(pause(Target::Run(run), StopMode::Graceful));
    let stop = process.request(StopRequest {
        kind: StopKind::Stop,
        ..pause(Target::Run(run), StopMode::Immediate)
    });
    assert!(kept.scope().is_stopped_now());
    work_until_stopped_already(kept).await;
    let settled = stop.settled().await.unwrap();
    assert_eq!(settled[0].state, State::Resolved);
    let decision = settled[0].decision.as_ref().unwrap();
    assert_eq!(decision.verdict, Verdict::Applied);
    assert_eq!(scene.state(run).await, RunState::Cancelled);
    assert_eq!(scene.states(run).await, [State::Cancelled, State::Resolved]);
}

async fn work_until_stopped_already(kept: interrupts::manager::OwnedRun) {
    kept.acknowledge_stops(Evidence::Cancelled, None)
        .await
        .unwrap();
    kept.settle(RunEnd::Stopped).await.unwrap();
}

#[tokio::test]
async fn a_second_request_joins_the_first_and_makes_it_harder() {
    let scene = Scene::new();
    let process = scene.process("one");
    let run = scene.run().await;
    let kept = taken(&process, run).await;
    let first = process.request(pause(Target::Run(run), StopMode::Graceful));
    assert!(!kept.scope().is_stopped_now());
    let second = process.request(pause(Target::Run(run), StopMode::Immediate));
    assert!(kept.scope().is_stopped_now());
    assert_eq!(
        first.recorded().await.unwrap(),
        second.recorded().await.unwrap()
    );
    let interrupts = scene.interrupts(run).await;
    assert_eq!(interrupts.len(), 1);
    assert_eq!(interrupts[0].mode, StopMode::Immediate);
}

#[tokio::test]
async fn a_worker_is_pruned_alone_and_the_run_goes_on() {
    let scene = Scene::new();
    let process = scene.process("one");
    let run = scene.run().await;
    let kept = taken(&process, run).await;
    kept.begin().await.unwrap();
    let (worker, sibling) = (node("root/worker-1"), node("root/worker-2"));
    let scope = kept.node_scope(&worker.child("helper").unwrap());
    let request = StopRequest {
        kind: StopKind::Prune,
        ..pause(Target::Node(run, worker.clone()), StopMode::Graceful)
    };
    let handle = process.request(request);
    assert!(
        scope.is_stopped_now(),
        "what is cut off has no step to finish"
    );
    assert!(!kept.node_scope(&sibling).is_stopping() && !kept.scope().is_stopping());
    let pruned = kept
        .acknowledge_stops_of(&worker, Evidence::Cancelled, None)
        .await
        .unwrap();
    assert_eq!(pruned[0].state, State::Resolved);
    assert_eq!(handle.settled().await.unwrap()[0].state, State::Resolved);
    assert_eq!(scene.state(run).await, RunState::Running);
    kept.settle(RunEnd::Completed).await.unwrap();
    assert_eq!(scene.state(run).await, RunState::Completed);
}

#[tokio::test]
async fn a_request_for_everything_reaches_runs_that_are_taken_later() {
    let scene = Scene::new();
    let process = scene.process("one");
    let handle = process.request(pause(Target::Everything, StopMode::Graceful));
    assert_eq!(handle.settled().await.unwrap(), [], "no run is kept yet");
    let run = scene.run().await;
    let kept = taken(&process, run).await;
    assert!(kept.scope().is_stopping());
    work_until_stopped(kept).await.unwrap();
    assert_eq!(scene.states(run).await, [State::AwaitingReview]);

    process.new_turn();
    let next = scene.run().await;
    let kept = taken(&process, next).await;
    assert!(!kept.scope().is_stopping(), "a new turn has new tokens");
}

#[tokio::test]
async fn an_actor_named_like_the_owner_is_told_of_by_status() {
    let scene = Scene::new();
    let process = scene.process("one");
    let run = scene.run().await;
    let kept = taken(&process, run).await;
    let handle = process.request(StopRequest::pause(
        Target::Node(run, node("root/a")),
        person(),
        "look at this",
    ));
    let id = handle.recorded().await.unwrap()[0];
    let status = process.status();
    assert_eq!(status.runs[0].epoch, kept.epoch());
    assert_eq!(status.runs[0].stops[0].interrupt, id);
    assert!(!status.runs[0].stops[0].settled);
}
