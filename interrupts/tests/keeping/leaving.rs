//! Stops of agents that come to their end before the stop takes hold.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use interrupt_router::{NodeId, RunId, StopMode};
use interrupts::KindName;
use interrupts::life::{Evidence, Interrupt, RunState, State};
use interrupts::manager::{
    Deliveries, OwnedRun, RunEnd, StopKind, StopRequest, Target, Undeliverable,
};
use interrupts::store::{
    Audit as _, AuditSubject, NodeActivity, NodeRow, Nodes as _, Runs as _, StoredMessage,
};
use jiff::Timestamp;

use crate::scene::{ALL, Scene, node, pause, taken, taking_with};

const KINDS: [StopKind; 4] = [
    StopKind::Pause,
    StopKind::Stop,
    StopKind::Prune,
    StopKind::Branch,
];

fn worker() -> NodeId {
    node("root/worker")
}

fn of_worker(run: RunId, kind: StopKind, mode: StopMode) -> StopRequest {
    StopRequest {
        kind,
        ..pause(Target::Node(run, worker()), mode)
    }
}

/// The table of a workflow, which says whether the worker has ended.
#[derive(Default)]
struct Table(AtomicBool);

#[async_trait]
impl Deliveries for Table {
    async fn question(&self, _: &Interrupt) -> Result<(), Undeliverable> {
        Err(Undeliverable::NodeEnded)
    }

    fn has_ended(&self, _: &NodeId) -> bool {
        self.0.load(Ordering::SeqCst)
    }

    async fn message(&self, _: &StoredMessage) {}
}

async fn told(scene: &Scene, stop: &Interrupt) -> Vec<String> {
    let rows = scene.store.audit(ALL).await.unwrap();
    let details = rows.iter().filter_map(|row| {
        let subject = row.read().unwrap().subject;
        let AuditSubject::Interrupt {
            interrupt, audited, ..
        } = subject
        else {
            return None;
        };
        audited.detail.filter(|_| interrupt == stop.id)
    });
    details.collect()
}

async fn ends_completed(scene: &Scene, kept: OwnedRun) {
    let run = kept.run();
    kept.settle(RunEnd::Completed).await.unwrap();
    assert_eq!(scene.state(run).await, RunState::Completed);
}

#[tokio::test]
async fn a_stop_that_its_agent_leaves_behind_is_withdrawn_and_whoever_asked_is_told_at_once() {
    for kind in KINDS {
        for mode in [StopMode::Graceful, StopMode::Immediate] {
            let scene = Scene::new();
            let process = scene.process("one");
            let run = scene.run().await;
            let kept = taken(&process, run).await;
            kept.begin().await.unwrap();
            let handle = process.request(of_worker(run, kind, mode));
            handle.recorded().await.unwrap();

            let withdrawn = kept.has_ended(&worker()).await.unwrap();
            assert_eq!(withdrawn.len(), 1, "{kind:?} {mode:?}");
            let settled = handle.settled().await.unwrap();
            assert_eq!(settled[0].state, State::Cancelled, "{kind:?} {mode:?}");
            let told = told(&scene, &settled[0]).await;
            assert_eq!(told.last().unwrap(), "its node has ended");
            // Nothing of the run waits for it any more.
            let stopped = kept.acknowledge_stops(Evidence::Boundary, None).await;
            assert_eq!(stopped.unwrap(), None);
            ends_completed(&scene, kept).await;
        }
    }
}

#[tokio::test]
async fn a_stop_of_those_above_stays_when_an_agent_leaves() {
    let scene = Scene::new();
    let process = scene.process("one");
    let run = scene.run().await;
    let kept = taken(&process, run).await;
    kept.begin().await.unwrap();
    let of_run = process.request(pause(Target::Run(run), StopMode::Graceful));
    of_run.recorded().await.unwrap();
    let above = Target::Node(run, node("root"));
    let of_parent = process.request(pause(above, StopMode::Graceful));
    of_parent.recorded().await.unwrap();
    assert_eq!(kept.has_ended(&worker()).await.unwrap(), []);
    let states = scene.states(run).await;
    assert_eq!(states, [State::Delivered, State::Delivered]);
}

#[tokio::test]
async fn a_stop_that_is_taken_after_its_agent_has_left_is_withdrawn_too() {
    for kind in KINDS {
        let scene = Scene::new();
        let process = scene.process("one");
        let run = scene.run().await;
        let table = Arc::new(Table::default());
        let kept = process.take(taking_with(run, Arc::clone(&table) as _));
        let kept = kept.await.unwrap();
        kept.begin().await.unwrap();
        // The agent is gone, and the store does not say so yet.
        table.0.store(true, Ordering::SeqCst);
        kept.has_ended(&worker()).await.unwrap();
        let elsewhere = scene.process("two");
        let handle = elsewhere.request(of_worker(run, kind, StopMode::Graceful));
        handle.recorded().await.unwrap();
        kept.look().await.unwrap();
        assert_eq!(scene.states(run).await, [State::Cancelled], "{kind:?}");
        assert_eq!(
            kept.acknowledge_stops(Evidence::Boundary, None).await,
            Ok(None)
        );
        ends_completed(&scene, kept).await;
    }
}

#[tokio::test]
async fn a_stop_of_the_whole_run_is_taken_though_its_first_agent_has_left() {
    let scene = Scene::new();
    let process = scene.process("one");
    let run = scene.run().await;
    let table = Arc::new(Table(AtomicBool::new(true)));
    let kept = process.take(taking_with(run, table)).await.unwrap();
    kept.begin().await.unwrap();
    let of_run = pause(Target::Run(run), StopMode::Graceful);
    let elsewhere = scene.process("two");
    let handle = elsewhere.request(of_run);
    handle.recorded().await.unwrap();
    kept.look().await.unwrap();
    assert_eq!(scene.states(run).await, [State::Delivered]);
    assert!(kept.scope().is_stopping());
}

#[tokio::test]
async fn a_stop_of_an_agent_that_has_ended_is_refused_and_holds_nothing() {
    for kind in KINDS {
        let scene = Scene::new();
        let process = scene.process("one");
        let run = scene.run().await;
        let kept = taken(&process, run).await;
        kept.begin().await.unwrap();
        let row = NodeRow {
            run,
            node: worker(),
            kind: KindName::new("ORCHESTRATOR").unwrap(),
            activity: NodeActivity::Completed,
            takes_messages: false,
            turn: 1,
            step: 1,
            tokens: 0,
            since: Timestamp::UNIX_EPOCH,
            waits: None,
        };
        let put = scene.store.put_nodes(run, kept.epoch(), vec![row]);
        put.await.unwrap();
        let handle = process.request(of_worker(run, kind, StopMode::Immediate));
        let refused = handle.recorded().await.unwrap_err();
        assert!(refused.came_after_the_end(), "{refused}");
        assert!(refused.to_string().contains("completed"), "{refused}");
        assert_eq!(
            kept.acknowledge_stops(Evidence::Boundary, None).await,
            Ok(None)
        );
        ends_completed(&scene, kept).await;
    }
}

#[tokio::test]
async fn of_an_agent_that_is_cut_off_the_cut_is_applied_and_any_other_stop_withdrawn() {
    for cut in [StopKind::Stop, StopKind::Prune] {
        for other in [StopKind::Pause, StopKind::Branch] {
            let scene = Scene::new();
            let process = scene.process("one");
            let run = scene.run().await;
            let kept = taken(&process, run).await;
            kept.begin().await.unwrap();
            for kind in [cut, other] {
                let handle = process.request(of_worker(run, kind, StopMode::Graceful));
                handle.recorded().await.unwrap();
            }
            let applied = kept.was_cut_off(&worker()).await.unwrap();
            assert_eq!(applied.len(), 1);
            let states = scene.states(run).await;
            assert_eq!(
                states,
                [State::Resolved, State::Cancelled],
                "{cut:?} {other:?}"
            );
            let runs = scene.store.runs(&[], ALL).await.unwrap();
            assert_eq!(runs.len(), 1, "nothing was forked off");
        }
    }
}
