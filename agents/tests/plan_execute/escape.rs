//! A person interrupts: before the next step, never in one, and without side effects.

use planning::{
    Activity, Cause, FactKind, PersonQuestion, Phase, PlanEffect, PlanEnd, PlanEvent, PlanningCall,
    StepOutcome,
};

use crate::scene::{Scene, interrupt, modify, tasks};

#[test]
fn an_interrupt_takes_hold_before_the_next_step_and_the_running_one_ends_first() {
    let mut scene = Scene::executing(&["one", "two"]);
    scene.then(interrupt("wait"));
    assert!(scene.wanted().is_empty(), "the step goes on");
    assert!(scene.state.flags().user_interrupted);
    scene.step_done("done");
    assert!(scene.is_held());
    let cause = Cause::UserEscape {
        reason: Some("wait".to_owned()),
    };
    let asked = PersonQuestion::HowToGoOn { cause };
    assert_eq!(
        scene.wanted(),
        [PlanEffect::AskPerson(asked)],
        "the second step has not begun"
    );
}

#[test]
fn an_interrupt_before_the_start_and_while_planning_is_not_lost() {
    let mut scene = Scene::new();
    scene.then(interrupt("early")).then(PlanEvent::Start);
    let tasks = tasks(&["one"]);
    scene.then(PlanEvent::Planned { tasks });
    assert!(scene.is_held());
}

#[test]
fn an_interrupt_while_the_answer_is_written_holds_the_answer_back() {
    let mut scene = Scene::executing(&["one"]);
    scene.step_done("done").then(interrupt("no"));
    let response = "the answer".to_owned();
    scene.then(PlanEvent::Responded { response });
    assert!(scene.is_held());
    scene.then(PlanEvent::Resume);
    let Phase::Ended(PlanEnd::Completed { response }) = scene.state.phase() else {
        panic!("{:?}", scene.state.phase());
    };
    assert_eq!(response, "the answer");
}

#[test]
fn an_answer_that_was_held_back_stands_though_steps_are_left_and_not_where_the_person_adds_one() {
    let answered = || {
        let mut scene = Scene::executing(&["one", "two"]);
        let step = scene.next();
        scene.then(PlanEvent::StepDone {
            step,
            result: "enough".to_owned(),
            outcome: StepOutcome::Replan,
        });
        scene.then(interrupt("wait")).then(PlanEvent::Responded {
            response: "the answer".to_owned(),
        });
        scene.wanted();
        scene
    };
    let mut unchanged = answered();
    unchanged.then(PlanEvent::Resume);
    assert!(matches!(unchanged.state.phase(), Phase::Ended(_)));
    let mut edited = answered();
    let tasks = tasks(&["two", "three"]);
    edited
        .then(PlanEvent::Edit { tasks })
        .then(PlanEvent::Resume);
    assert!(matches!(edited.wanted()[..], [PlanEffect::RunStep(_)]));
}

#[test]
fn a_stopped_call_is_made_again_after_an_unchanged_resume() {
    let mut scene = Scene::executing(&["one", "two"]);
    scene.then(interrupt("now")).then(PlanEvent::CallStopped);
    assert!(scene.is_held());
    scene.wanted();
    scene.then(PlanEvent::Resume);
    let step = scene.state.plan().next().cloned().unwrap();
    assert_eq!(scene.wanted(), [PlanEffect::RunStep(step)]);
    assert_eq!(
        scene.state,
        Scene::executing(&["one", "two"]).state,
        "as if nothing had been"
    );
}

#[test]
fn a_modification_forces_a_replan_that_sees_the_request_and_the_flags_are_cleared_by_it() {
    let mut scene = Scene::executing(&["one", "two"]);
    scene
        .then(interrupt("add a check"))
        .step_done("first result");
    scene.wanted();
    scene.then(modify("  add a validation step "));
    let flags = scene.state.flags().clone();
    assert!(!flags.user_interrupted && flags.interrupt_reason.is_none());
    assert!(flags.should_force_replan);
    let request = "add a validation step".to_owned();
    assert_eq!(flags.user_modification_request.as_ref(), Some(&request));
    assert_eq!(
        scene.wanted(),
        [PlanEffect::AskModel(PlanningCall::ForcedReplan { request })]
    );
    assert_eq!(scene.state.plan().finished()[0].result, "first result");
    let tasks = tasks(&["two", "validate"]);
    scene.then(PlanEvent::Planned { tasks });
    assert_eq!(*scene.state.flags(), Default::default());
    assert_eq!(scene.left(), ["two", "validate"]);
    assert!(matches!(scene.wanted()[..], [PlanEffect::RunStep(_)]));
}

#[test]
fn a_second_interrupt_during_the_forced_replan_holds_before_the_new_plans_first_step() {
    let mut scene = Scene::executing(&["one"]);
    scene.then(interrupt("first")).then(PlanEvent::CallStopped);
    scene.then(modify("more")).then(interrupt("second"));
    let tasks = tasks(&["other"]);
    scene.then(PlanEvent::Planned { tasks });
    assert!(scene.is_held());
    assert_eq!(scene.left(), ["other"]);
}

#[test]
fn cancelling_keeps_what_is_done_and_does_nothing_more() {
    let mut scene = Scene::executing(&["one", "two"]);
    scene.then(interrupt("stop")).step_done("kept");
    scene.wanted();
    let plan = scene.state.plan().clone();
    let reason = Some("not needed".to_owned());
    scene.then(PlanEvent::Cancel {
        reason: reason.clone(),
    });
    assert_eq!(
        scene.wanted(),
        [PlanEffect::End(PlanEnd::Cancelled { reason })]
    );
    assert_eq!(*scene.state.plan(), plan);
    assert!(scene.try_then(&PlanEvent::Resume).is_err());
}

#[test]
fn an_interrupt_says_what_the_observer_keeps() {
    let mut scene = Scene::executing(&["one", "two", "three"]);
    scene.then(interrupt("why")).step_done("done");
    let facts = scene.facts();
    let escape = facts.iter().find(|fact| fact.kind == FactKind::UserEscape);
    let escape = escape.unwrap();
    assert_eq!(escape.reason.as_deref(), Some("why"));
    assert_eq!(escape.current_plan, ["two", "three"]);
    assert_eq!((escape.completed_steps, escape.total_steps), (1, 3));
}

#[test]
fn the_first_reason_stands_and_a_second_press_changes_nothing() {
    let mut scene = Scene::executing(&["one"]);
    scene.then(interrupt("first"));
    let once = scene.state.clone();
    scene.then(interrupt("second"));
    assert_eq!(scene.state, once);
    scene.then(PlanEvent::CallStopped);
    let held = scene.state.clone();
    scene.then(interrupt("third"));
    assert_eq!(scene.state, held);
    let Phase::Held(held) = scene.state.phase() else {
        panic!("not held");
    };
    assert!(matches!(held.then, Activity::Executing { .. }));
}
