//! What fails is tried again where that may help; else a person is asked, with the error's context.

use std::time::Duration;

use planning::{Cause, FactKind, Failure, Phase, PlanEffect, PlanEvent};

use crate::scene::{Scene, interrupt};

fn failed(is_recoverable: bool) -> PlanEvent {
    PlanEvent::Failed(Failure {
        error: "the provider failed (503)".to_owned(),
        is_recoverable,
    })
}

#[test]
fn a_recoverable_failure_is_tried_again_after_waits_that_double_and_then_a_person_is_asked() {
    let mut scene = Scene::executing(&["one"]);
    for wait in [1, 2] {
        scene.then(failed(true));
        assert_eq!(
            scene.wanted(),
            [PlanEffect::Wait(Duration::from_secs(wait))]
        );
        scene.then(PlanEvent::RetryDue);
        assert!(matches!(scene.wanted()[..], [PlanEffect::RunStep(_)]));
    }
    scene.then(failed(true));
    let Phase::Held(held) = scene.state.phase() else {
        panic!("nobody is asked");
    };
    let error = "the provider failed (503)".to_owned();
    assert_eq!(held.cause, Cause::SystemError { error, attempts: 3 });
}

#[test]
fn an_unrecoverable_failure_is_kept_with_its_context_and_can_be_tried_again_by_a_person() {
    let mut scene = Scene::executing(&["one"]);
    let before = scene.state.clone();
    scene.then(failed(false));
    assert_eq!(scene.kinds(), [FactKind::SystemError]);
    assert_eq!(
        scene.facts()[0].reason.as_deref(),
        Some("the provider failed (503)")
    );
    scene.wanted();
    scene.then(PlanEvent::Resume);
    assert!(matches!(scene.wanted()[..], [PlanEffect::RunStep(_)]));
    assert_eq!(scene.state, before, "the tries count anew");
}

#[test]
fn an_interrupt_ends_the_wait_for_another_try_at_once() {
    let mut scene = Scene::executing(&["one"]);
    scene.then(failed(true)).then(interrupt("enough"));
    assert!(scene.is_held());
    assert!(scene.try_then(&PlanEvent::RetryDue).is_err());
}

#[test]
fn a_replanner_that_has_nothing_to_say_is_not_asked_for_ever() {
    let mut scene = Scene::executing(&["one"]);
    scene.step_done("done");
    let nothing = PlanEvent::Planned { tasks: Vec::new() };
    for _try in 0..2 {
        scene.then(nothing.clone()).then(PlanEvent::RetryDue);
    }
    scene.then(nothing);
    assert!(scene.is_held());
}
