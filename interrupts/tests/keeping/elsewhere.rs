//! Several processes: requests from elsewhere, takeovers, lost leases, pauses that are resumed.

use std::sync::Arc;
use std::time::Duration;

use interrupt_router::{DecisionId, StopMode, StopSource};
use interrupts::OwnerName;
use interrupts::life::{Choosing, Evidence, Judge, RunState, State, Verdict};
use interrupts::manager::{
    InterruptManager, KeepError, ManagerSettings, RunEnd, StopKind, StopRequest, Target, Times,
    UnkeptRun,
};
use interrupts::store::{Interrupts as _, RunError};
use tokio::runtime::Handle;

use crate::scene::{
    NotifierEnd, ProcessNotifier, Scene, node, pause, person, taken, taking, work_until_stopped,
};

/// Two processes on one store, each with its end of the notifier.
fn two_with_a_bell(scene: &Scene) -> (InterruptManager, InterruptManager) {
    let (first, second) = (
        Arc::new(ProcessNotifier::default()),
        Arc::new(ProcessNotifier::default()),
    );
    let process = |owner: &str, ours: &Arc<ProcessNotifier>, theirs: &Arc<ProcessNotifier>| {
        let settings = ManagerSettings {
            notifier: Arc::new(NotifierEnd {
                ours: Arc::clone(ours),
                theirs: Arc::clone(theirs),
            }),
            times: Times {
                // Only the notifier can be why it is heard.
                poll: Duration::from_secs(100_000),
                heartbeat: Duration::from_secs(50_000),
                lease: Duration::from_secs(100_000),
                ..Times::default()
            },
            ..scene.settings(owner)
        };
        InterruptManager::new(settings, Handle::current())
    };
    (
        process("one", &first, &second),
        process("two", &second, &first),
    )
}

#[tokio::test(start_paused = true)]
async fn what_comes_for_a_run_that_nobody_keeps_is_told_to_whoever_has_begun_to_follow() {
    let scene = Scene::new();
    let (run, one) = (scene.run().await, scene.process("one"));
    let mut news = one.news_of_unkept_runs().await;
    let two = scene.process("two");
    let asked = two.request(pause(Target::Run(run), StopMode::Graceful));
    asked.recorded().await.unwrap();
    let told = tokio::time::timeout(Duration::from_secs(60), news.recv()).await;
    assert_eq!(told, Ok(Some(UnkeptRun::Reached(run))));
}

#[tokio::test]
async fn a_request_of_another_process_is_heard_with_the_bell() {
    let scene = Scene::new();
    let (one, two) = two_with_a_bell(&scene);
    let run = scene.run().await;
    let working = tokio::spawn(work_until_stopped(taken(&one, run).await));
    let handle = two.request(pause(Target::Run(run), StopMode::Graceful));
    assert!(!two.is_interrupted(&Target::Run(scene.run().await)));
    handle.recorded().await.unwrap();
    working.await.unwrap().unwrap();
    assert_eq!(scene.state(run).await, RunState::Paused);
    assert_eq!(scene.states(run).await, [State::AwaitingReview]);
}

#[tokio::test(start_paused = true)]
async fn without_a_bell_it_is_heard_at_the_next_poll() {
    let scene = Scene::new();
    let (one, two) = (scene.process("one"), scene.process("two"));
    let run = scene.run().await;
    let kept = taken(&one, run).await;
    let scope = kept.node_scope(&node("root/worker"));
    // The watcher has read to the end of the outbox.
    tokio::time::sleep(Duration::from_secs(1)).await;
    let working = tokio::spawn(work_until_stopped(kept));
    let request = pause(Target::Run(run), StopMode::Immediate);
    let handle = two.request(request);
    handle.recorded().await.unwrap();
    assert!(!scope.is_stopping());
    let began = tokio::time::Instant::now();
    let reason = scope.stopped_now().await;
    assert!(began.elapsed() <= Duration::from_millis(500));
    assert_eq!(reason.source, StopSource::User);
    working.await.unwrap().unwrap();
    let settled = handle.settled().await.unwrap();
    assert_eq!(settled[0].state, State::AwaitingReview);
}

#[tokio::test(start_paused = true)]
async fn a_harder_request_of_another_process_hardens_the_stop_that_is_under_way() {
    let scene = Scene::new();
    let (one, two) = (scene.process("one"), scene.process("two"));
    let run = scene.run().await;
    let kept = taken(&one, run).await;
    let first = one.request(pause(Target::Run(run), StopMode::Graceful));
    let first = first.recorded().await.unwrap();
    let second = two.request(pause(Target::Run(run), StopMode::Immediate));
    assert_eq!(second.recorded().await.unwrap(), first);
    kept.scope().stopped_now().await;
    assert_eq!(scene.interrupts(run).await.len(), 1);
}

#[tokio::test]
async fn a_stop_that_stands_in_the_store_is_in_force_when_its_run_is_taken() {
    let scene = Scene::new();
    let (one, two) = (scene.process("one"), scene.process("two"));
    let run = scene.run().await;
    let request = pause(Target::Node(run, node("root/worker")), StopMode::Graceful);
    two.request(request).recorded().await.unwrap();
    let kept = taken(&one, run).await;
    assert!(kept.node_scope(&node("root/worker/helper")).is_stopping());
    assert!(!kept.scope().is_stopping());
}

#[tokio::test]
async fn what_a_process_that_died_left_is_taken_over_and_finished() {
    let scene = Scene::new();
    let (one, two) = (scene.process("one"), scene.process("two"));
    let run = scene.run().await;
    let kept = taken(&one, run).await;
    kept.begin().await.unwrap();
    let handle = one.request(pause(Target::Run(run), StopMode::Graceful));
    let id = handle.recorded().await.unwrap()[0];
    kept.look().await.unwrap();
    assert_eq!(scene.interrupts(run).await[0].epoch, 1);
    drop(kept);

    let refused = two.take(taking(run)).await.err().unwrap();
    assert!(matches!(refused, KeepError::Run(RunError::Owned { .. })));
    let mut takeover = taking(run);
    takeover.lost = Some(OwnerName::new("one").unwrap());
    let kept = two.take(takeover).await.unwrap();
    assert!(kept.scope().is_stopping());
    let interrupt = scene.interrupts(run).await.remove(0);
    assert_eq!((interrupt.id, interrupt.epoch), (id, 2));
    assert_eq!(interrupt.lease.unwrap().owner, *kept.owner());
    let stopped = kept
        .acknowledge_stops(Evidence::Boundary, None)
        .await
        .unwrap()
        .unwrap();
    assert_eq!(stopped.stops[0].id, id);
    kept.settle(RunEnd::Stopped).await.unwrap();
    assert_eq!(scene.state(run).await, RunState::Paused);
}

#[tokio::test(start_paused = true)]
async fn an_owner_whose_run_was_taken_stops_at_once_and_writes_nothing_more() {
    let scene = Scene::new();
    let (one, two) = (scene.process("one"), scene.process("two"));
    let run = scene.run().await;
    let old = taken(&one, run).await;
    old.begin().await.unwrap();
    let mut takeover = taking(run);
    takeover.lost = Some(OwnerName::new("one").unwrap());
    let new = two.take(takeover).await.unwrap();
    // Its next heartbeat tells it.
    let reason = old.scope().stopped_now().await;
    assert_eq!(reason.source, StopSource::System);
    assert!(old.is_lost());
    let refused = old.acknowledge_stops(Evidence::Cancelled, None).await;
    assert_eq!(refused, Err(KeepError::Lost { run }));
    assert!(old.settle(RunEnd::Completed).await.is_err());
    assert_eq!(scene.state(run).await, RunState::Running);
    new.settle(RunEnd::Completed).await.unwrap();
    assert_eq!(scene.state(run).await, RunState::Completed);
}

#[tokio::test]
async fn an_owner_that_does_not_know_yet_that_its_run_was_taken_changes_nothing() {
    let scene = Scene::new();
    let (one, two) = (scene.process("one"), scene.process("two"));
    let run = scene.run().await;
    let old = taken(&one, run).await;
    let mut takeover = taking(run);
    takeover.lost = Some(OwnerName::new("one").unwrap());
    let new = two.take(takeover).await.unwrap();
    new.begin().await.unwrap();
    assert_eq!(
        old.settle(RunEnd::Completed).await,
        Err(KeepError::Lost { run })
    );
    assert_eq!(scene.state(run).await, RunState::Running);
}

#[tokio::test]
async fn a_run_is_kept_once_in_a_process() {
    let scene = Scene::new();
    let one = scene.process("one");
    let run = scene.run().await;
    let kept = taken(&one, run).await;
    let refused = one.take(taking(run)).await.err();
    assert_eq!(refused, Some(KeepError::Kept { run }));
    kept.settle(RunEnd::Waiting {
        reason: "a question".to_owned(),
    })
    .await
    .unwrap_err();
    let kept = one.take(taking(run)).await;
    assert!(kept.is_err(), "the lease of what was not settled runs out");
}

#[tokio::test]
async fn a_pause_is_lifted_by_who_resumes_and_a_stop_is_not() {
    let scene = Scene::new();
    let one = scene.process("one");
    let run = scene.run().await;
    let kept = taken(&one, run).await;
    one.request(pause(Target::Run(run), StopMode::Graceful));
    work_until_stopped(kept).await.unwrap();

    let two = scene.process("two");
    let kept = taken(&two, run).await;
    assert!(kept.scope().is_stopping(), "nobody has resumed it yet");
    let content = r#"{"input":"go on"}"#.to_owned();
    let lifted = kept.resume(&person(), Some(content)).await.unwrap();
    assert!(!kept.scope().is_stopping());
    let decision = lifted[0].decision.as_ref().unwrap();
    assert_eq!(decision.verdict, Verdict::Respond);
    kept.begin().await.unwrap();
    assert_eq!(scene.state(run).await, RunState::Running);

    let stop = StopRequest {
        kind: StopKind::Stop,
        ..pause_of(run)
    };
    two.request(stop).recorded().await.unwrap();
    drop(kept);
    let mut again = taking(run);
    again.lost = Some(OwnerName::new("two").unwrap());
    let kept = two.take(again).await.unwrap();
    assert!(kept.resume(&person(), None).await.unwrap().is_empty());
    assert!(
        kept.scope().is_stopping(),
        "a stop is not lifted by resuming"
    );
}

#[tokio::test]
async fn what_is_said_with_a_resume_goes_with_one_of_the_pauses_that_it_lifts() {
    let scene = Scene::new();
    let run = scene.run().await;
    let one = scene.process("one");
    let of_agent = pause(Target::Node(run, node("root/worker")), StopMode::Graceful);
    for asked in [pause_of(run), of_agent] {
        one.request(asked).recorded().await.unwrap();
    }
    let kept = taken(&scene.process("two"), run).await;
    let content = r#"{"input":"go on"}"#.to_owned();
    let lifted = kept.resume(&person(), Some(content.clone())).await.unwrap();
    let said = lifted.iter().map(|it| it.decision.clone().unwrap().content);
    let said: Vec<_> = said.collect();
    assert_eq!(said, [Some(content), None]);
}

#[tokio::test]
async fn what_is_said_with_a_resume_goes_with_no_pause_that_somebody_else_has_decided() {
    let scene = Scene::new();
    let run = scene.run().await;
    let one = scene.process("one");
    work_until_stopped({
        let kept = taken(&one, run).await;
        one.request(pause_of(run)).recorded().await.unwrap();
        kept
    })
    .await
    .unwrap();
    let kept = taken(&scene.process("two"), run).await;
    let pause = scene.interrupts(run).await.remove(0);
    let judge = Judge::Person {
        actor: person(),
        version: pause.version,
        shown: pause.review.as_ref().unwrap().shown,
    };
    let choosing = Choosing {
        id: DecisionId::generate(),
        verdict: Verdict::Resume,
        target: None,
        content: None,
    };
    let decided = scene.store.decide(pause.id, judge, choosing).await.unwrap();
    let content = r#"{"input":"go on"}"#.to_owned();
    let lifted = kept.resume(&person(), Some(content)).await.unwrap();
    assert_eq!(lifted, [decided]);
    assert!(!kept.scope().is_stopping());
}

fn pause_of(run: interrupt_router::RunId) -> StopRequest {
    pause(Target::Run(run), StopMode::Graceful)
}

#[tokio::test]
async fn a_pause_that_was_cut_short_by_a_death_does_not_stop_the_run_that_is_resumed() {
    let scene = Scene::new();
    let one = scene.process("one");
    let run = scene.run().await;
    let kept = taken(&one, run).await;
    kept.begin().await.unwrap();
    one.request(pause_of(run)).recorded().await.unwrap();
    kept.look().await.unwrap();
    drop(kept);

    let two = scene.process("two");
    let mut takeover = taking(run);
    takeover.lost = Some(OwnerName::new("one").unwrap());
    let kept = two.take(takeover).await.unwrap();
    // Asked for in this process before it resumes: this one is not lifted.
    let other = two.request(pause(
        Target::Node(run, node("root/worker")),
        StopMode::Graceful,
    ));
    other.recorded().await.unwrap();
    kept.resume(&person(), None).await.unwrap();
    assert!(!kept.scope().is_stopping());
    assert!(kept.node_scope(&node("root/worker")).is_stopping());
    let pause = scene.interrupts(run).await.remove(0);
    assert_eq!(pause.decision.unwrap().verdict, Verdict::Resume);
}

#[tokio::test]
async fn a_stop_of_a_run_that_nobody_runs_is_carried_out_by_whoever_asks() {
    let scene = Scene::new();
    let one = scene.process("one");
    let run = scene.run().await;
    let kept = taken(&one, run).await;
    one.request(pause_of(run));
    work_until_stopped(kept).await.unwrap();

    let two = scene.process("two");
    let stop = StopRequest {
        kind: StopKind::Stop,
        ..pause_of(run)
    };
    let handle = two.request(stop);
    handle.recorded().await.unwrap();
    assert_eq!(scene.state(run).await, RunState::Paused);
    let stopped = two
        .carry_out(run, node("root"), None, true)
        .await
        .unwrap()
        .unwrap();
    assert_eq!(stopped.state, RunState::Cancelled);
    assert_eq!(handle.settled().await.unwrap()[0].state, State::Resolved);
    assert_eq!(scene.state(run).await, RunState::Cancelled);
    assert_eq!(scene.states(run).await, [State::Cancelled, State::Resolved]);

    let other = scene.run().await;
    assert_eq!(
        two.carry_out(other, node("root"), None, true).await,
        Ok(None)
    );
    let _kept = taken(&one, other).await;
    let refused = two.carry_out(other, node("root"), None, true).await;
    assert!(matches!(
        refused,
        Err(KeepError::Run(RunError::Owned { .. }))
    ));
}
