//! Stops that come when a run has stopped already, and stops that are more than the end of a turn.

use interrupt_router::{RunId, StopMode};
use interrupts::life::{Evidence, RunState, State};
use interrupts::manager::{OwnedRun, RunEnd, StopKind, StopRequest, Taking, Target};
use interrupts::store::{
    CheckpointDraft, CheckpointId, Checkpoints as _, ForkStart, Intent, Journal as _, KnownEffect,
    NewRun, NodeActivity, NodeRow, Nodes as _, Repeating, Runs as _,
};
use interrupts::{EffectId, KindName};
use jiff::Timestamp;
use serde_json::Value;

use crate::scene::{ALL, Scene, node, pause, taken, taking, work_until_stopped};

fn of(kind: StopKind, target: Target) -> StopRequest {
    StopRequest {
        kind,
        ..pause(target, StopMode::Graceful)
    }
}

fn to_ask() -> RunEnd {
    RunEnd::Waiting {
        reason: "a question".to_owned(),
    }
}

async fn checkpoint(scene: &Scene, kept: &OwnedRun) -> CheckpointId {
    let draft = CheckpointDraft {
        run: kept.run(),
        epoch: kept.epoch(),
        parent: None,
        form: 1,
        content: "{}".to_owned(),
        intents: Vec::new(),
        pending: Vec::new(),
    };
    scene.store.save(draft).await.unwrap().id
}

async fn agent(scene: &Scene, kept: &OwnedRun, name: &str) {
    let row = NodeRow {
        run: kept.run(),
        node: node(name),
        kind: KindName::new("ORCHESTRATOR").unwrap(),
        activity: NodeActivity::Running,
        takes_messages: true,
        turn: 1,
        step: 1,
        tokens: 0,
        since: Timestamp::UNIX_EPOCH,
        waits: None,
    };
    let put = scene.store.put_nodes(kept.run(), kept.epoch(), vec![row]);
    put.await.unwrap();
}

async fn activity(scene: &Scene, run: RunId, name: &str) -> NodeActivity {
    let row = scene.store.node(run, &node(name)).await.unwrap();
    row.unwrap().activity
}

#[tokio::test]
async fn a_pause_that_meets_a_run_which_stops_to_ask_takes_hold() {
    let scene = Scene::new();
    let process = scene.process("one");
    let run = scene.run().await;
    let kept = taken(&process, run).await;
    kept.begin().await.unwrap();
    let handle = process.request(pause(Target::Run(run), StopMode::Graceful));
    kept.settle(to_ask()).await.unwrap();
    assert_eq!(scene.state(run).await, RunState::Paused);
    assert_eq!(scene.states(run).await, [State::AwaitingReview]);
    let settled = handle.settled().await.unwrap();
    assert_eq!(settled[0].state, State::AwaitingReview);
}

#[tokio::test]
async fn a_stop_after_the_last_word_about_a_pause_ends_the_run() {
    let scene = Scene::new();
    let process = scene.process("one");
    let run = scene.run().await;
    let kept = taken(&process, run).await;
    kept.begin().await.unwrap();
    process.request(pause(Target::Run(run), StopMode::Graceful));
    kept.acknowledge_stops(Evidence::Boundary, None)
        .await
        .unwrap();
    process.request(of(StopKind::Stop, Target::Run(run)));
    kept.settle(RunEnd::Stopped).await.unwrap();
    assert_eq!(scene.state(run).await, RunState::Cancelled);
    assert_eq!(scene.states(run).await, [State::Cancelled, State::Resolved]);
}

#[tokio::test]
async fn that_a_run_has_stopped_cuts_no_agent_of_it_off() {
    for kind in [StopKind::Prune, StopKind::Stop] {
        let scene = Scene::new();
        let process = scene.process("one");
        let run = scene.run().await;
        let kept = taken(&process, run).await;
        kept.begin().await.unwrap();
        let worker = node("root/worker");
        let cut = process.request(of(kind, Target::Node(run, worker.clone())));
        cut.recorded().await.unwrap();
        process.request(pause(Target::Run(run), StopMode::Graceful));
        work_until_stopped(kept).await.unwrap();
        assert_eq!(scene.state(run).await, RunState::Paused);
        let stands = [State::Delivered, State::AwaitingReview];
        assert_eq!(scene.states(run).await, stands, "{kind:?}");

        // Whoever goes on with the run leaves the agent out.
        let kept = taken(&process, run).await;
        assert!(kept.node_scope(&worker).is_stopping());
        kept.acknowledge_stops_of(&worker, Evidence::Cancelled, None)
            .await
            .unwrap();
        assert_eq!(scene.interrupts(run).await[0].state, State::Resolved);
    }
}

#[tokio::test]
async fn a_run_whose_process_dies_between_the_last_of_its_stops_and_its_own_state_is_paused() {
    let scene = Scene::new();
    let process = scene.process("one");
    let run = scene.run().await;
    let kept = taken(&process, run).await;
    kept.begin().await.unwrap();
    let stopping = RunState::Stopping;
    let told = Some("both ways".to_owned());
    let changed = scene.store.change_run(run, kept.epoch(), stopping, told);
    changed.await.unwrap();
    let dead = kept.owner().clone();
    drop(kept);
    let next = scene.process("two");
    let carried = next.carry_out(run, node("root"), Some(dead), true).await;
    assert_eq!(carried.unwrap(), None);
    let row = scene.store.run(run).await.unwrap().unwrap();
    assert_eq!(row.state, RunState::Paused);
    assert_eq!(row.reason.as_deref(), Some("both ways"));
}

#[tokio::test]
async fn the_agent_that_stands_for_the_run_takes_all_of_it_along() {
    let scene = Scene::new();
    let process = scene.process("one");
    let run = scene.run().await;
    let kept = taken(&process, run).await;
    kept.begin().await.unwrap();
    process.request(of(StopKind::Stop, Target::Node(run, node("root"))));
    kept.settle(to_ask()).await.unwrap();
    assert_eq!(scene.state(run).await, RunState::Cancelled);
}

#[tokio::test]
async fn where_no_agent_can_be_left_out_a_stop_of_one_ends_the_run() {
    let scene = Scene::new();
    let process = scene.process("one");
    let run = scene.run().await;
    let kept = process
        .take(Taking {
            leaves_agents_out: false,
            ..taking(run)
        })
        .await
        .unwrap();
    kept.begin().await.unwrap();
    process.request(of(StopKind::Prune, Target::Node(run, node("root/one"))));
    kept.settle(to_ask()).await.unwrap();
    assert_eq!(scene.state(run).await, RunState::Cancelled);
    assert_eq!(scene.states(run).await, [State::Resolved]);
}

#[tokio::test]
async fn where_no_agent_can_be_left_out_a_stop_of_one_reaches_all_of_them() {
    for kind in [StopKind::Pause, StopKind::Stop, StopKind::Branch] {
        let scene = Scene::new();
        let process = scene.process("one");
        let run = scene.run().await;
        // One is asked for before the run is taken, which is told to whoever takes it.
        let early = process.request(of(kind, Target::Node(run, node("root/done"))));
        early.recorded().await.unwrap();
        let as_one = Taking {
            leaves_agents_out: false,
            ..taking(run)
        };
        let kept = process.take(as_one).await.unwrap();
        assert!(
            kept.node_scope(&node("root/works")).is_stopping(),
            "{kind:?}"
        );
        kept.begin().await.unwrap();
        assert_eq!(scene.state(run).await, RunState::Stopping);
        work_until_stopped(kept).await.unwrap();
        assert_ne!(scene.states(run).await, [State::Delivered], "{kind:?}");
    }
}

#[tokio::test]
async fn the_agents_of_a_run_that_is_stopped_for_good_are_cancelled_with_it() {
    let scene = Scene::new();
    let process = scene.process("one");
    let run = scene.run().await;
    let kept = taken(&process, run).await;
    kept.begin().await.unwrap();
    agent(&scene, &kept, "root/one").await;
    process.request(of(StopKind::Stop, Target::Run(run)));
    work_until_stopped(kept).await.unwrap();
    let row = activity(&scene, run, "root/one").await;
    assert_eq!(row, NodeActivity::Cancelled);
}

#[tokio::test]
async fn a_branch_leaves_a_run_that_was_forked_where_this_one_stopped() {
    let scene = Scene::new();
    let process = scene.process("one");
    let run = scene.run().await;
    let kept = taken(&process, run).await;
    kept.begin().await.unwrap();
    let at = checkpoint(&scene, &kept).await;
    process.request(of(StopKind::Branch, Target::Run(run)));
    kept.acknowledge_stops(Evidence::Boundary, Some(at))
        .await
        .unwrap();
    kept.settle(RunEnd::Stopped).await.unwrap();
    assert_eq!(scene.state(run).await, RunState::Paused);
    let decision = scene.interrupts(run).await.remove(0).decision.unwrap();
    let left: Value = serde_json::from_str(&decision.content.unwrap()).unwrap();
    assert_eq!(left["checkpoint"], at.to_string());
    let branch: RunId = left["branch"].as_str().unwrap().parse().unwrap();
    let branch = scene.store.run(branch).await.unwrap().unwrap();
    assert_eq!(branch.forked_from, Some(at));
    assert_eq!(branch.state, RunState::Created);
}

#[tokio::test]
async fn a_fork_that_has_not_begun_is_branched_unless_it_would_go_on_without_what_was_said_to_it() {
    let scene = Scene::new();
    let process = scene.process("one");
    let run = scene.run().await;
    let kept = taken(&process, run).await;
    kept.begin().await.unwrap();
    let before = intent(run, "before");
    for intent in [before.clone(), intent(run, "open")] {
        scene.store.begin(kept.epoch(), intent).await.unwrap();
    }
    let done = scene
        .store
        .finish(kept.epoch(), before.effect, "{}".to_owned());
    done.await.unwrap();
    let at = checkpoint(&scene, &kept).await;
    kept.settle(to_ask()).await.unwrap();
    // The last one was branched by a process that died before it had said so.
    for (is_told, is_there) in [(false, false), (true, false), (true, true)] {
        let new = new_run(RunId::generate());
        let words = KnownEffect {
            node: node("root"),
            kind: KindName::new("input").unwrap(),
            place: format!("input/{}", new.id),
            content: r#"{"input":"keep it short"}"#.to_owned(),
            result: "{}".to_owned(),
        };
        let start = ForkStart {
            said: is_told.then_some(words),
            ..ForkStart::default()
        };
        let fork = scene.store.fork_run_with(at, new, start).await.unwrap().id;
        let branching = process.request(of(StopKind::Branch, Target::Run(fork)));
        branching.recorded().await.unwrap();
        if is_there {
            let stop = scene.interrupts(fork).await.remove(0);
            let branch = new_run(RunId::from_uuid(stop.id.uuid()));
            scene.store.fork_run(at, branch).await.unwrap();
        }
        let carried = process.carry_out(fork, node("root"), None, true);
        carried.await.unwrap();
        let decision = scene.interrupts(fork).await.remove(0).decision.unwrap();
        let left: Value = serde_json::from_str(&decision.content.unwrap()).unwrap();
        let is_branched = !is_told || is_there;
        assert_eq!(left["branch"].is_string(), is_branched, "{left}");
        assert_eq!(left["not_branched"].is_string(), !is_branched, "{left}");
        let Some(branch) = left["branch"].as_str() else {
            continue;
        };
        let journal = scene.store.journal(branch.parse().unwrap(), ALL).await;
        let places: Vec<_> = journal
            .unwrap()
            .into_iter()
            .filter_map(|entry| entry.intent.place)
            .collect();
        assert_eq!(places, ["before"]);
    }
}

fn new_run(id: RunId) -> NewRun {
    NewRun {
        root: None,
        id,
        alias: None,
        content: "{}".to_owned(),
    }
}

fn intent(run: RunId, place: &str) -> Intent {
    Intent {
        effect: EffectId::in_run(run, place),
        run,
        node: node("root"),
        kind: KindName::new("model_call").unwrap(),
        repeating: Repeating::Idempotent,
        content: "{}".to_owned(),
        place: Some(place.to_owned()),
    }
}
