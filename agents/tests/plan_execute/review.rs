//! A person reviews the plan while the workflow stands still: suggestions, edits, undo and redo.

use planning::{FactKind, Failure, Phase, PlanEffect, PlanEvent, PlanningCall, Refused};

use crate::scene::{Scene, interrupt, modify, tasks};

fn held(steps: &[&str]) -> Scene {
    let mut scene = Scene::executing(steps);
    scene.then(interrupt("look")).then(PlanEvent::CallStopped);
    scene.effects.clear();
    scene
}

fn edit(steps: &[&str]) -> PlanEvent {
    PlanEvent::Edit {
        tasks: tasks(steps),
    }
}

fn suggestion(scene: &Scene) -> Option<Vec<String>> {
    match scene.state.phase() {
        Phase::Held(held) => held.suggestion.clone(),
        _ => None,
    }
}

#[test]
fn a_suggestion_is_looked_at_before_it_is_applied() {
    let mut scene = held(&["one", "two"]);
    let request = "shorter".to_owned();
    scene.then(PlanEvent::Suggest {
        request: request.clone(),
    });
    assert_eq!(
        scene.wanted(),
        [PlanEffect::AskModel(PlanningCall::Suggestion { request })]
    );
    scene.then(PlanEvent::Suggested {
        tasks: tasks(&["both"]),
    });
    assert_eq!(scene.left(), ["one", "two"], "nothing is applied yet");
    let suggested = suggestion(&scene).unwrap();
    let preview = scene.state.preview(&suggested).unwrap();
    assert_eq!(preview.to_string(), "- one\n- two\n+ both");
    scene.then(PlanEvent::ApplySuggestion);
    assert_eq!(scene.left(), ["both"]);
    assert_eq!(suggestion(&scene), None);
    assert!(scene.is_held(), "it goes on when the person says so");
}

#[test]
fn edits_are_undone_and_made_again_and_a_new_one_ends_that() {
    let mut scene = held(&["one", "two"]);
    scene.then(edit(&["one"])).then(edit(&["one", "three"]));
    scene.then(PlanEvent::Undo);
    assert_eq!(scene.left(), ["one"]);
    scene.then(PlanEvent::Undo);
    assert_eq!(scene.left(), ["one", "two"]);
    scene.then(PlanEvent::Redo).then(PlanEvent::Redo);
    assert_eq!(scene.left(), ["one", "three"]);
    scene.then(PlanEvent::Undo).then(edit(&["four"]));
    let refused = scene.try_then(&PlanEvent::Redo);
    assert_eq!(refused, Err(Refused::NothingTo { event: "redo" }));
    let kinds = scene.kinds();
    assert!(kinds.contains(&FactKind::Undone) && kinds.contains(&FactKind::Redone));
}

#[test]
fn the_first_plan_is_not_taken_back() {
    let mut scene = held(&["one", "two"]);
    let nothing = Err(Refused::NothingTo { event: "undo" });
    assert!(!scene.state.history().can_undo());
    assert_eq!(scene.try_then(&PlanEvent::Undo), nothing);
    assert_eq!(scene.left(), ["one", "two"]);
    scene.then(edit(&[])).then(PlanEvent::Undo);
    assert_eq!(scene.try_then(&PlanEvent::Undo), nothing);
    assert_eq!(scene.left(), ["one", "two"]);
    scene.then(PlanEvent::Redo).then(PlanEvent::Undo);
    // However many changes came after it.
    for change in 0..60 {
        scene.then(edit(&[&format!("{change}")]));
    }
    while scene.try_then(&PlanEvent::Undo).is_ok() {
        assert!(!scene.left().is_empty());
    }
    assert!(scene.state.history().can_redo());
}

#[test]
fn undoing_never_brings_back_a_step_that_is_done() {
    let mut scene = held(&["one", "two"]);
    scene.then(edit(&["two", "one"])).then(PlanEvent::Resume);
    scene.step_done("two is done").then(interrupt("again"));
    scene.then(PlanEvent::CallStopped).then(PlanEvent::Undo);
    assert_eq!(scene.left(), ["one"]);
}

#[test]
fn what_a_replan_changed_can_be_undone_too() {
    let mut scene = held(&["one", "two"]);
    scene.then(modify("other")).then(PlanEvent::Planned {
        tasks: tasks(&["three"]),
    });
    scene.then(interrupt("no")).then(PlanEvent::CallStopped);
    scene.then(PlanEvent::Undo);
    assert_eq!(scene.left(), ["one", "two"]);
    scene.wanted();
    scene.then(PlanEvent::Resume);
    let step = scene.state.plan().next().cloned().unwrap();
    assert_eq!(
        scene.wanted(),
        [PlanEffect::RunStep(step)],
        "with the plan as it is now"
    );
}

#[test]
fn a_plan_is_not_edited_behind_the_workflows_back() {
    let mut scene = Scene::executing(&["one"]);
    for event in [
        edit(&["two"]),
        PlanEvent::Undo,
        modify("x"),
        PlanEvent::Resume,
    ] {
        let refused = scene.try_then(&event);
        assert!(
            matches!(refused, Err(Refused::OutOfPlace { .. })),
            "{event:?}"
        );
    }
}

#[test]
fn an_empty_request_and_a_failed_suggestion_change_nothing() {
    let mut scene = held(&["one"]);
    assert_eq!(scene.try_then(&modify(" ")), Err(Refused::EmptyRequest));
    let before = scene.state.clone();
    scene.then(PlanEvent::Suggest {
        request: "better".to_owned(),
    });
    scene.then(PlanEvent::Failed(Failure {
        error: "no".to_owned(),
        is_recoverable: true,
    }));
    assert_eq!(scene.state, before);
}
