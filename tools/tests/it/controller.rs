//! The controller by itself: repeated interrupts, the fence, sections, cleanups, late results.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use interrupt_router::StopScope;
use proptest::prelude::*;
use tools::{
    CallId, CallLimit, CallStop, ControllerConfig, Driven, InterruptController, Interruption,
    Registration, Requested, ToolCounter, ToolCounts,
};

use crate::scene::by_user;

fn controller(counts: &Arc<ToolCounts>) -> InterruptController {
    InterruptController::new(ControllerConfig {
        limit: Duration::from_secs(2),
        counter: Arc::clone(counts) as Arc<dyn ToolCounter>,
        ..ControllerConfig::default()
    })
}

fn call(id: &str) -> Registration {
    Registration {
        id: CallId::new(id),
        tool: "work".to_owned(),
        interruption: Interruption::Stops,
        limit: CallLimit::none(),
        cleanup: None,
    }
}

#[tokio::test(start_paused = true)]
async fn an_interrupt_tells_every_call_at_once_and_waits_for_all() {
    let controller = controller(&Arc::default());
    let turn = controller.begin_turn();
    let mut running = tokio::task::JoinSet::new();
    for (id, slow) in [("a", 10), ("b", 500)] {
        let call = controller.register(&turn, call(id)).unwrap();
        let scope = call.scope().clone();
        running.spawn(call.drive(async move {
            scope.stopped_now().await;
            tokio::time::sleep(Duration::from_millis(slow)).await;
        }));
    }
    let cancellation = controller.cancel(by_user("stop")).await;
    let ids: Vec<&str> = cancellation
        .calls
        .iter()
        .map(|call| call.id.as_str())
        .collect();
    assert_eq!(ids, ["a", "b"]);
    assert!(cancellation.all_stopped());
    assert!(
        cancellation
            .calls
            .iter()
            .all(|call| call.took <= Duration::from_millis(510)),
        "{cancellation:?}"
    );
    assert_eq!(controller.running(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_repeated_interrupt_changes_nothing_and_the_first_reason_stands() {
    let controller = controller(&Arc::default());
    let turn = controller.begin_turn();
    let call = controller.register(&turn, call("a")).unwrap();
    assert_eq!(controller.request(by_user("first")), Requested::Stops(1));
    for _repetition in 0..1_000 {
        assert_eq!(controller.request(by_user("again")), Requested::Repeated);
    }
    drop(call);
    assert_eq!(
        controller.consume_interrupts().map(|reason| reason.message),
        Some("first".to_owned())
    );
    assert_eq!(controller.consume_interrupts(), None);
    assert_eq!(controller.cancel(by_user("nothing runs")).await.calls, []);
}

#[tokio::test(start_paused = true)]
async fn while_a_cancellation_is_under_way_nothing_starts_in_old_turns_or_new_ones() {
    let controller = controller(&Arc::default());
    let old = controller.begin_turn();
    let running = controller.register(&old, call("a")).unwrap();
    controller.request(by_user("stop"));
    let begun_meanwhile = controller.begin_turn();
    for turn in [&old, &begun_meanwhile] {
        let fenced = controller.register(turn, call("b")).unwrap_err();
        assert_eq!(fenced.reason.message, "stop");
    }
    drop(running);
    for turn in [&old, &begun_meanwhile] {
        assert!(
            controller.register(turn, call("b")).is_err(),
            "what was stopped stays stopped"
        );
    }
    assert!(
        controller
            .register(&controller.begin_turn(), call("b"))
            .is_ok()
    );
}

#[tokio::test(start_paused = true)]
async fn a_section_defers_the_interrupt_to_its_end() {
    let controller = controller(&Arc::default());
    let turn = controller.begin_turn();
    let running = controller.register(&turn, call("a")).unwrap();
    let (outer, inner) = (
        controller.non_interruptible(),
        controller.non_interruptible(),
    );
    assert_eq!(controller.request(by_user("now")), Requested::Deferred);
    assert!(controller.cancel(by_user("and now")).await.deferred);
    drop(outer);
    assert!(!running.scope().is_stopping(), "the inner section goes on");
    drop(inner);
    assert_eq!(
        running.scope().reason().map(|reason| reason.message),
        Some("now".to_owned())
    );
}

#[tokio::test(start_paused = true)]
async fn a_section_that_nobody_interrupted_ends_without_a_stop() {
    let controller = controller(&Arc::default());
    drop(controller.non_interruptible());
    assert!(
        controller
            .register(&controller.begin_turn(), call("a"))
            .is_ok()
    );
    assert_eq!(controller.consume_interrupts(), None);
}

#[tokio::test(start_paused = true)]
async fn a_cleanup_runs_with_the_stop_and_is_waited_for() {
    let controller = controller(&Arc::default());
    let turn = controller.begin_turn();
    let cleaned = Arc::new(AtomicUsize::new(0));
    let registration = Registration {
        cleanup: Some({
            let cleaned = Arc::clone(&cleaned);
            Box::new(move || {
                Box::pin(async move {
                    tokio::time::sleep(Duration::from_millis(300)).await;
                    cleaned.fetch_add(1, Ordering::SeqCst);
                })
            })
        }),
        ..call("a")
    };
    let call = controller.register(&turn, registration).unwrap();
    let scope = call.scope().clone();
    let (begin, begun) = tokio::sync::oneshot::channel();
    let driving = tokio::spawn(call.drive(async move {
        begin.send(()).unwrap();
        scope.stopped_now().await;
    }));
    begun.await.unwrap();
    controller.cancel(by_user("stop")).await;
    assert_eq!(cleaned.load(Ordering::SeqCst), 1);
    assert!(matches!(
        driving.await.unwrap(),
        Driven::Ended {
            asked: Some(CallStop::Interrupt(_)),
            ..
        }
    ));
}

#[tokio::test(start_paused = true)]
async fn a_stop_of_the_agent_above_stops_the_calls_too() {
    let above = StopScope::new();
    let controller = InterruptController::new(ControllerConfig {
        scope: above.clone(),
        ..ControllerConfig::default()
    });
    let turn = controller.begin_turn();
    let running = controller.register(&turn, call("a")).unwrap();
    above.stop(by_user("all of it"));
    assert!(running.scope().is_stopped_now());
    assert!(
        controller
            .register(&controller.begin_turn(), call("b"))
            .is_err()
    );
}

#[test]
fn a_result_that_comes_after_its_call_was_given_up_is_counted_and_goes_nowhere() {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_time()
        .build()
        .unwrap();
    let counts = Arc::new(ToolCounts::new());
    let controller = InterruptController::new(ControllerConfig {
        limit: Duration::from_millis(20),
        counter: Arc::clone(&counts) as Arc<dyn ToolCounter>,
        ..ControllerConfig::default()
    });
    // It blocks its thread, so dropping it does not end it.
    let (release, released) = std::sync::mpsc::channel::<()>();
    let (begin, begun) = std::sync::mpsc::channel::<()>();
    let driven = runtime.block_on(async {
        let turn = controller.begin_turn();
        let call = controller.register(&turn, call("a")).unwrap();
        let driving = tokio::spawn(call.drive(async move {
            begin.send(()).unwrap();
            released.recv().unwrap();
            "too late"
        }));
        tokio::task::spawn_blocking(move || begun.recv().unwrap())
            .await
            .unwrap();
        let cancellation = controller.cancel(by_user("stop")).await;
        assert!(!cancellation.all_stopped());
        driving.await.unwrap()
    });
    assert!(matches!(driven, Driven::LeftBehind { .. }));
    assert_eq!((controller.running(), counts.late_results()), (0, 0));
    release.send(()).unwrap();
    // Waits for the worker threads, and so for the call's last step.
    drop(runtime);
    assert_eq!(counts.late_results(), 1);
}

proptest! {
    /// Whatever is done in whatever order: it does not grow, and what is not stopped may start.
    #[test]
    fn a_controller_forgets_what_has_ended(steps in proptest::collection::vec(0_u8..5, 0..60)) {
        let controller = controller(&Arc::default());
        let (mut running, mut sections) = (Vec::new(), Vec::new());
        for step in steps {
            match step {
                0 => running.extend(controller.register(&controller.begin_turn(), call("x"))),
                1 => { running.pop(); }
                2 => { controller.request(by_user("stop")); }
                3 => sections.push(controller.non_interruptible()),
                _ => { sections.pop(); }
            }
            prop_assert_eq!(controller.running(), running.len());
        }
        sections.clear();
        running.clear();
        prop_assert_eq!(controller.running(), 0);
        prop_assert!(controller.register(&controller.begin_turn(), call("x")).is_ok());
    }
}
