//! Plans, and the differences between them.

use agents::plan_execute::{Plan, PlanError};

use crate::scene::{Scene, tasks};

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
