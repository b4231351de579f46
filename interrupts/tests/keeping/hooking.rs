//! Hooks and callbacks that do what they do, and some that do not.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use interrupt_router::{RunId, StopMode};
use interrupts::hooks::{Hook, HookError, HookStops, HookTrigger, RanHow};
use interrupts::life::{Evidence, RunState, State};
use interrupts::manager::{InterruptManager, RunEnd, RunRest, StopCause, StopRequest, Target};
use interrupts::store::Runs as _;

use crate::scene::{Scene, node, pause, person, taken, work_until_stopped};

/// Notes each moment, and then does something.
struct Noting<F> {
    name: &'static str,
    moments: Arc<Mutex<Vec<String>>>,
    then: F,
}

/// What a hook does after it has noted the moment.
#[derive(Clone, Copy)]
enum Then {
    Nothing,
    Fail,
    Panic,
    Hang,
}

fn in_a_word(moment: &HookTrigger) -> String {
    match moment {
        HookTrigger::BeforeInterrupt { request } => format!("before {:?}", request.cause),
        HookTrigger::AfterInterrupt { interrupt } => format!("after {}", interrupt.reason),
        HookTrigger::BeforeStep { step, .. } => format!("before step {step}"),
        HookTrigger::AfterStep { step, .. } => format!("after step {step}"),
        HookTrigger::BeforeTool { tool, .. } => format!("before {tool}"),
        HookTrigger::AfterTool { tool, outcome, .. } => format!("{tool} {outcome}"),
        other => format!("{other:?}"),
    }
}

#[async_trait]
impl Hook for Noting<Then> {
    fn name(&self) -> &str {
        self.name
    }

    async fn on(&self, moment: &HookTrigger, _stops: &HookStops) -> Result<(), HookError> {
        let noted = format!("{}: {}", self.name, in_a_word(moment));
        self.moments.lock().unwrap().push(noted);
        match self.then {
            Then::Nothing => Ok(()),
            Then::Fail => Err("out of paper".into()),
            Then::Panic => panic!("on fire"),
            Then::Hang => std::future::pending().await,
        }
    }
}

/// Asks for a stop at every moment.
struct Asking {
    run: RunId,
    asked: AtomicUsize,
}

#[async_trait]
impl Hook for Asking {
    fn name(&self) -> &str {
        "asking"
    }

    async fn on(&self, _moment: &HookTrigger, stops: &HookStops) -> Result<(), HookError> {
        let number = self.asked.fetch_add(1, Ordering::SeqCst);
        let other = node("root").child(&format!("worker-{number}")).unwrap();
        let request = StopRequest {
            cause: StopCause::Hook,
            ..StopRequest::pause(Target::Node(self.run, other), person(), "a hook says so")
        };
        stops.request(request).recorded().await?;
        Ok(())
    }
}

fn noting(name: &'static str, then: Then, moments: &Arc<Mutex<Vec<String>>>) -> Arc<Noting<Then>> {
    Arc::new(Noting {
        name,
        moments: Arc::clone(moments),
        then,
    })
}

/// Four hooks, of which one does what it does.
fn unruly(process: &InterruptManager) -> Arc<Mutex<Vec<String>>> {
    let moments = Arc::default();
    for (name, then) in [
        ("failing", Then::Fail),
        ("panicking", Then::Panic),
        ("hanging", Then::Hang),
        ("good", Then::Nothing),
    ] {
        process.add_hook(noting(name, then, &moments));
    }
    moments
}

#[tokio::test(start_paused = true)]
async fn hooks_that_fail_panic_or_hang_are_reported_and_stop_nobody() {
    let scene = Scene::new();
    let one = scene.process("one");
    let run = scene.run().await;
    unruly(&one);
    let kept = taken(&one, run).await;
    let moment = HookTrigger::BeforeTool {
        run,
        node: node("root/worker"),
        tool: "shell".to_owned(),
        call: "call-1".to_owned(),
    };
    let began = tokio::time::Instant::now();
    let ran = kept.call_hooks(moment).await;
    assert!(
        began.elapsed() <= Duration::from_millis(501),
        "all at once, bounded"
    );
    let how: Vec<_> = ran
        .iter()
        .map(|ran| (ran.name.as_str(), ran.how.clone()))
        .collect();
    assert_eq!(
        how,
        [
            (
                "failing",
                RanHow::Failed {
                    error: "out of paper".to_owned()
                }
            ),
            (
                "panicking",
                RanHow::Panicked {
                    message: "on fire".to_owned()
                }
            ),
            (
                "hanging",
                RanHow::TimedOut {
                    limit: Duration::from_millis(500)
                }
            ),
            ("good", RanHow::Done),
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn a_stop_is_settled_whatever_its_hooks_do_and_each_is_called_before_and_after_it() {
    let scene = Scene::new();
    let one = scene.process("one");
    let run = scene.run().await;
    let moments = unruly(&one);
    let kept = taken(&one, run).await;
    let handle = one.request(pause(Target::Run(run), StopMode::Graceful));
    work_until_stopped(kept).await.unwrap();
    handle.settled().await.unwrap();
    tokio::time::sleep(Duration::from_secs(1)).await;
    let moments = moments.lock().unwrap();
    for name in ["failing", "panicking", "hanging", "good"] {
        for moment in ["before UserEscape", "after enough for today"] {
            let noted = format!("{name}: {moment}");
            assert!(moments.contains(&noted), "{noted}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_hook_may_ask_for_a_stop_and_hooks_do_not_chase_each_other() {
    let scene = Scene::new();
    let one = scene.process("one");
    let run = scene.run().await;
    let asking = Arc::new(Asking {
        run,
        asked: AtomicUsize::new(0),
    });
    one.add_hook(asking.clone());
    let kept = taken(&one, run).await;
    let step = HookTrigger::BeforeStep {
        run,
        node: node("root/worker"),
        step: 1,
    };
    let ran = kept.call_hooks(step).await;
    assert_eq!(ran[0].how, RanHow::Done);
    assert!(kept.node_scope(&node("root/worker-0")).is_stopping());
    one.request(pause(Target::Run(run), StopMode::Graceful))
        .recorded()
        .await
        .unwrap();
    tokio::time::sleep(Duration::from_secs(5)).await;
    assert_eq!(
        asking.asked.load(Ordering::SeqCst),
        2,
        "once for each moment"
    );
    assert_eq!(scene.interrupts(run).await.len(), 3);
}

#[tokio::test(start_paused = true)]
async fn a_drain_lets_runs_go_as_they_are_and_asks_for_nothing() {
    let scene = Scene::new();
    let one = scene.process("one");
    let (willing, stubborn) = (scene.run().await, scene.run().await);
    let kept = taken(&one, willing).await;
    tokio::spawn(async move {
        kept.begin().await.unwrap();
        kept.scope().stopping().await;
        assert!(kept.is_left());
        let stopped = kept.acknowledge_stops(Evidence::Boundary, None).await;
        assert_eq!(stopped.unwrap(), None);
        kept.settle(RunEnd::Stopped).await.unwrap();
    });
    let kept = taken(&one, stubborn).await;
    tokio::spawn(async move {
        kept.begin().await.unwrap();
        kept.scope().stopped_now().await;
        kept.settle(RunEnd::Stopped).await.unwrap();
    });
    tokio::task::yield_now().await;
    let report = one.drain("the machine goes down").await;
    let rests: Vec<_> = report
        .runs
        .iter()
        .map(|(_run, rest)| rest.clone())
        .collect();
    assert!(rests.contains(&RunRest::Gracefully) && rests.contains(&RunRest::ByForce));
    for run in [willing, stubborn] {
        assert!(scene.interrupts(run).await.is_empty(), "nothing was asked");
        let row = scene.store.run(run).await.unwrap().unwrap();
        assert_eq!((row.state, row.lease), (RunState::Running, None));
    }
}

#[tokio::test(start_paused = true)]
async fn what_a_person_asks_of_a_run_while_its_process_drains_holds() {
    let scene = Scene::new();
    let one = scene.process("one");
    let run = scene.run().await;
    let kept = taken(&one, run).await;
    kept.begin().await.unwrap();
    one.drain_at_once("the machine goes down");
    assert!(kept.is_left());
    let asked = one.request(pause(Target::Run(run), StopMode::Graceful));
    assert!(!kept.is_left());
    asked.recorded().await.unwrap();
    kept.settle(RunEnd::Stopped).await.unwrap();
    assert_eq!(scene.states(run).await, [State::AwaitingReview]);
    let row = scene.store.run(run).await.unwrap().unwrap();
    assert_eq!(row.state, RunState::Paused);
}

/// Four callbacks, of which two do what they do.
fn call_back(one: &InterruptManager) -> Arc<AtomicUsize> {
    let called = Arc::new(AtomicUsize::new(0));
    for name in ["first", "second"] {
        let called = Arc::clone(&called);
        one.on_shutdown(name, move || async move {
            called.fetch_add(1, Ordering::SeqCst);
            Ok(())
        });
    }
    one.on_shutdown(
        "panics early",
        || -> std::future::Ready<Result<(), HookError>> { panic!("before its first await") },
    );
    one.on_shutdown("hangs", std::future::pending);
    called
}

#[tokio::test(start_paused = true)]
async fn a_shutdown_asks_waits_forces_records_and_calls_every_callback() {
    let scene = Scene::new();
    let one = scene.process("one");
    let (willing, stubborn, hopeless) = (scene.run().await, scene.run().await, scene.run().await);
    let kept = taken(&one, willing).await;
    tokio::spawn(async move { work_until_stopped(kept).await.unwrap() });
    let kept = taken(&one, stubborn).await;
    tokio::spawn(async move {
        kept.begin().await.unwrap();
        kept.scope().stopped_now().await;
        kept.acknowledge_stops(Evidence::Cancelled, None)
            .await
            .unwrap();
        kept.settle(RunEnd::Stopped).await.unwrap();
    });
    let never = taken(&one, hopeless).await;
    let called = call_back(&one);
    let report = one.execute_shutdown("the machine goes down").await;
    let mut expected = vec![
        (willing, RunRest::Gracefully),
        (stubborn, RunRest::ByForce),
        (hopeless, RunRest::NotLetGo),
    ];
    expected.sort_by_key(|(run, _rest)| *run);
    let mut runs = report.runs.clone();
    runs.sort_by_key(|(run, _rest)| *run);
    assert_eq!(runs, expected);
    assert!(!report.is_clean());
    assert_eq!(called.load(Ordering::SeqCst), 2);
    let how: Vec<_> = report.callbacks.iter().map(|ran| ran.how.clone()).collect();
    let limit = Duration::from_millis(500);
    assert_eq!(
        how,
        [
            RanHow::Done,
            RanHow::Done,
            RanHow::Panicked {
                message: "before its first await".to_owned()
            },
            RanHow::TimedOut { limit },
        ]
    );
    assert!(never.scope().is_stopped_now());
    drop(never);
    // Nothing is left behind.
    tokio::time::timeout(Duration::from_secs(1), async {
        while one.status().tasks > 0 {
            tokio::task::yield_now().await;
        }
    })
    .await
    .expect("all tasks end");
}

#[tokio::test(start_paused = true)]
async fn a_manager_that_is_dropped_leaves_no_task_behind() {
    let scene = Scene::new();
    let one = scene.process("one");
    let requests = one.requests();
    let run = scene.run().await;
    let kept = taken(&one, run).await;
    drop(one);
    assert!(
        requests.status().tasks > 0,
        "the run keeps its manager alive"
    );
    drop(kept);
    tokio::time::timeout(Duration::from_secs(1), async {
        while requests.status().tasks > 0 {
            tokio::task::yield_now().await;
        }
    })
    .await
    .expect("all tasks end");
    let late = requests.request(pause(Target::Run(run), StopMode::Graceful));
    assert!(
        late.recorded().await.is_err(),
        "whoever asks too late is told"
    );
}

#[tokio::test(start_paused = true)]
async fn a_graceful_stop_becomes_immediate_when_its_limit_is_over() {
    let scene = Scene::new();
    let (one, two) = (scene.process("one"), scene.process("two"));
    for asks in [&one, &two] {
        let run = scene.run().await;
        let kept = taken(&one, run).await;
        let mut request = pause(Target::Run(run), StopMode::Graceful);
        request.limit = Some(Duration::from_secs(30));
        let handle = asks.request(request);
        let id = handle.recorded().await.unwrap()[0];
        let began = tokio::time::Instant::now();
        kept.scope().stopping().await;
        let reason = kept.scope().stopped_now().await;
        assert_eq!(began.elapsed().as_secs(), 30);
        assert!(
            reason.message.contains("did not stop within 30s"),
            "{}",
            reason.message
        );
        kept.look().await.unwrap();
        let interrupt = scene.interrupts(run).await.remove(0);
        assert_eq!((interrupt.id, interrupt.mode), (id, StopMode::Immediate));
    }
}

#[tokio::test(start_paused = true)]
async fn a_stop_that_took_hold_in_time_is_not_made_immediate_later() {
    let scene = Scene::new();
    let one = scene.process("one");
    let run = scene.run().await;
    let kept = taken(&one, run).await;
    let mut request = pause(Target::Run(run), StopMode::Graceful);
    request.limit = Some(Duration::from_secs(30));
    one.request(request);
    let scope = kept.scope();
    kept.acknowledge_stops(Evidence::Boundary, None)
        .await
        .unwrap();
    tokio::time::sleep(Duration::from_secs(60)).await;
    assert!(!scope.is_stopped_now());
    assert_eq!(scene.interrupts(run).await[0].mode, StopMode::Graceful);
}
