//! Steps that a person applied: each is carried out, or a person takes it out again. A model never does.

use planning::{Cause, FactKind, Phase, PlanEffect, PlanEnd, PlanEvent, StepOutcome};

use crate::scene::{Scene, interrupt, modify, tasks};

fn edit(steps: &[&str]) -> PlanEvent {
    PlanEvent::Edit {
        tasks: tasks(steps),
    }
}

fn responded() -> PlanEvent {
    PlanEvent::Responded {
        response: "the plan is done".to_owned(),
    }
}

fn planned(steps: &[&str]) -> PlanEvent {
    PlanEvent::Planned {
        tasks: tasks(steps),
    }
}

/// The steps that the workflow asks about.
fn asked_about(scene: &Scene) -> Vec<String> {
    match scene.state.phase() {
        Phase::Held(held) => match &held.cause {
            Cause::OpenSteps { steps } => steps.iter().map(|step| step.task.clone()).collect(),
            _ => Vec::new(),
        },
        _ => Vec::new(),
    }
}

fn suggestion(scene: &Scene) -> Option<Vec<String>> {
    match scene.state.phase() {
        Phase::Held(held) => held.suggestion.clone(),
        _ => None,
    }
}

/// A workflow that looks at its plan again, with a step that a person applied still open.
fn replanning_with_an_applied_step() -> Scene {
    let mut scene = Scene::executing(&["one", "two"]);
    scene.then(interrupt("look")).then(PlanEvent::CallStopped);
    scene.then(edit(&["one", "mine"])).then(PlanEvent::Resume);
    let step = scene.next();
    scene.then(PlanEvent::StepDone {
        step,
        result: "done".to_owned(),
        outcome: StepOutcome::Replan,
    });
    scene.effects.clear();
    scene
}

#[test]
fn steps_that_are_applied_while_the_plan_is_looked_at_again_are_carried_out() {
    let mut scene = Scene::executing(&["one"]);
    scene.step_done("done");
    scene.then(interrupt("wait")).then(PlanEvent::CallStopped);
    scene.then(edit(&["two", "three"]));
    scene.wanted();
    scene.then(PlanEvent::Resume);
    let step = scene.state.plan().next().cloned().unwrap();
    assert_eq!(step.task, "two");
    assert_eq!(scene.wanted(), [PlanEffect::RunStep(step)]);
}

#[test]
fn steps_that_are_applied_before_the_first_plan_is_made_are_the_plan() {
    let mut scene = Scene::new();
    scene.then(PlanEvent::Start).then(interrupt("I know it"));
    scene.then(PlanEvent::CallStopped).then(edit(&["mine"]));
    scene.wanted();
    scene.then(PlanEvent::Resume);
    let step = scene.state.plan().next().cloned().unwrap();
    assert_eq!(scene.wanted(), [PlanEffect::RunStep(step)]);
}

#[test]
fn a_model_that_ends_the_plan_over_an_applied_step_is_not_believed() {
    let mut scene = replanning_with_an_applied_step();
    scene.then(responded());
    assert_eq!(asked_about(&scene), ["mine"]);
    assert!(scene.kinds().contains(&FactKind::OpenSteps));
    assert_eq!(suggestion(&scene), Some(Vec::new()));
    // Whoever approves wants it done.
    scene.wanted();
    scene.then(PlanEvent::Resume);
    let step = scene.state.plan().next().cloned().unwrap();
    assert_eq!(scene.wanted(), [PlanEffect::RunStep(step)]);
    scene.step_done("mine is done").then(responded());
    assert!(matches!(
        scene.state.phase(),
        Phase::Ended(PlanEnd::Completed { .. })
    ));
}

#[test]
fn a_model_that_leaves_an_applied_step_out_of_its_plan_only_suggests_that() {
    let mut scene = replanning_with_an_applied_step();
    scene.then(planned(&["three"]));
    assert_eq!(asked_about(&scene), ["mine"]);
    assert_eq!(scene.left(), ["mine"], "nothing is changed");
    assert_eq!(suggestion(&scene), Some(tasks(&["three"])));
    // The person drops it.
    scene
        .then(PlanEvent::ApplySuggestion)
        .then(PlanEvent::Resume);
    assert_eq!(scene.left(), ["three"]);
    scene.step_done("three is done").then(responded());
    assert!(matches!(
        scene.state.phase(),
        Phase::Ended(PlanEnd::Completed { .. })
    ));
}

#[test]
fn a_model_that_keeps_the_applied_steps_may_change_all_others() {
    let mut scene = replanning_with_an_applied_step();
    scene.then(planned(&["before", " mine ", "after"]));
    assert!(!scene.is_held());
    assert_eq!(scene.left(), ["before", "mine", "after"]);
}

#[test]
fn a_request_in_words_drops_an_applied_step_only_when_the_person_says_so() {
    let mut scene = replanning_with_an_applied_step();
    scene.then(interrupt("again")).then(PlanEvent::CallStopped);
    scene.then(modify("shorter")).then(planned(&["short"]));
    assert_eq!(asked_about(&scene), ["mine"]);
    let flags = scene.state.flags();
    assert!(!flags.should_force_replan && flags.user_modification_request.is_none());
    scene
        .then(PlanEvent::ApplySuggestion)
        .then(PlanEvent::Resume);
    assert_eq!(scene.left(), ["short"]);
}

#[test]
fn a_person_who_interrupts_meanwhile_finds_what_the_model_wanted_instead() {
    let mut scene = replanning_with_an_applied_step();
    scene.then(interrupt("look")).then(planned(&["three"]));
    assert_eq!(asked_about(&scene), [""; 0], "the person is there already");
    assert_eq!(suggestion(&scene), Some(tasks(&["three"])));
    scene.then(PlanEvent::Resume);
    assert_eq!(scene.left(), ["mine"]);
}

#[test]
fn steps_that_undo_and_redo_bring_back_are_the_persons() {
    let mut scene = Scene::executing(&["one", "two"]);
    scene.then(interrupt("look")).then(PlanEvent::CallStopped);
    scene.then(edit(&["one"])).then(PlanEvent::Undo);
    scene.then(PlanEvent::Resume).step_done("done");
    scene.then(interrupt("look")).then(PlanEvent::CallStopped);
    scene.then(modify("other")).then(planned(&["three"]));
    assert_eq!(asked_about(&scene), ["two"]);
}
