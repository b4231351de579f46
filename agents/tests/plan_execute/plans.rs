//! Plans, and the differences between them.

use planning::{Plan, PlanError, PlanEvent, PlanPreview, QuestionFate};

use crate::scene::{Scene, interrupt, question, tasks};

#[test]
fn a_step_keeps_its_name_while_the_plan_around_it_changes() {
    let plan = Plan::default().revised(&tasks(&["a", "b", "b"])).unwrap();
    let names: Vec<_> = plan.left().iter().map(|step| step.id.number()).collect();
    assert_eq!(names, [1, 2, 3]);
    let plan = plan.revised(&tasks(&["b", "new", " a ", "b"])).unwrap();
    let names: Vec<_> = plan.left().iter().map(|step| step.id.number()).collect();
    assert_eq!(names, [2, 4, 1, 3]);
}

#[test]
fn what_is_no_plan_is_refused() {
    let refused = Plan::default().revised(&tasks(&["a", " "]));
    assert_eq!(refused, Err(PlanError::EmptyStep { number: 2 }));
    let many = vec!["x".to_owned(); 101];
    let refused = Plan::default().revised(&many);
    assert_eq!(refused, Err(PlanError::TooMany { given: 101 }));
}

#[test]
fn a_preview_shows_what_would_change_and_changes_nothing() {
    let scene = Scene::executing(&["read", "write", "check"]);
    let preview = scene.state.preview(&tasks(&["read", "think", "check"]));
    let preview = preview.unwrap();
    assert_eq!(preview.to_string(), "  read\n- write\n+ think\n  check");
    assert!(!preview.is_empty());
    assert_eq!(scene.left(), ["read", "write", "check"]);
    let same = scene.state.preview(&tasks(&["read", "write", "check"]));
    assert!(same.unwrap().is_empty());
}

#[test]
fn a_step_at_another_place_has_moved_and_is_neither_new_nor_gone() {
    let scene = Scene::executing(&["read", "write", "check", "read"]);
    let preview = scene
        .state
        .preview(&tasks(&["check", "read", "think", "read"]));
    let lines = preview.unwrap().to_string();
    let signs: Vec<_> = lines.lines().collect();
    assert!(signs.contains(&"- write"), "{lines}");
    assert!(signs.contains(&"+ think"), "{lines}");
    let of = |sign: &str| signs.iter().filter(|line| line.starts_with(sign)).count();
    assert_eq!((of("-"), of("+"), signs.len()), (1, 1, 5), "{lines}");
    let swapped = scene
        .state
        .preview(&tasks(&["write", "read", "check", "read"]));
    let lines = swapped.unwrap().to_string();
    assert!(lines.contains("~ "), "{lines}");
    assert!(!lines.contains("+ ") && !lines.contains("- "), "{lines}");
}

#[test]
fn a_preview_names_one_change_of_one_plan() {
    let mut scene = Scene::executing(&["one", "two"]);
    let of = |scene: &Scene, steps: &[&str]| PlanPreview::of(&scene.state, &tasks(steps)).unwrap();
    let first = of(&scene, &["two"]);
    assert_eq!(first.digest, of(&scene, &[" two "]).digest);
    assert_ne!(first.digest, of(&scene, &["three"]).digest);
    assert_eq!(first.next.as_ref().unwrap().task, "two");
    scene.step_done("done");
    let later = of(&scene, &["two"]);
    assert_ne!(first.digest, later.digest, "the plan is another one by now");
    assert_eq!(later.completed_steps, 1);
}

#[test]
fn a_preview_says_what_becomes_of_the_question_that_waits() {
    let mut scene = Scene::executing(&["one", "two"]);
    scene.then(PlanEvent::Asked {
        question: question("which?"),
    });
    scene.then(interrupt("me first"));
    let fate = |steps: &[&str]| {
        PlanPreview::of(&scene.state, &tasks(steps))
            .unwrap()
            .question
    };
    assert_eq!(fate(&["one", "three"]), Some(QuestionFate::ShownAgain));
    assert_eq!(fate(&["two"]), Some(QuestionFate::Withdrawn));
    assert!(scene.is_held(), "it was only looked at");
}
