//! Messages to a plan: read at the next boundary, by the replan.

use engine::run::RunStatus;
use interrupts::store::MessageError;
use planning::{FactKind, PlanEvent};

use crate::kept::{Act, Kept, send};
use crate::scene::{Scene, tasks};
use engine::testing::{Death, Mortal};

fn plan(steps: &[&str]) -> Act {
    Act::Say(serde_json::json!({ "plan": { "steps": steps } }).to_string())
}

fn answer(summary: &str) -> Act {
    Act::Say(serde_json::json!({ "response": { "summary": summary } }).to_string())
}

#[test]
fn a_message_is_read_before_the_next_step_and_reaches_the_replan_with_all_that_is_done() {
    let mut scene = Scene::executing(&["one", "two"]);
    scene.step_done("done");
    scene.then(PlanEvent::Told {
        messages: tasks(&["mind the gap", "and the step"]),
    });
    assert!(scene.state.flags().should_force_replan);
    assert_eq!(
        scene.state.flags().user_modification_request.as_deref(),
        Some("mind the gap\nand the step")
    );
    scene.then(PlanEvent::Planned {
        tasks: tasks(&["three"]),
    });
    assert_eq!(scene.left(), ["three"]);
    assert!(
        !scene.state.flags().should_force_replan,
        "it is in the plan now"
    );
}

#[tokio::test]
async fn a_message_that_comes_during_a_step_reaches_the_replan_before_the_next_one_and_once() {
    let kept = Kept::new()
        .acts(1, plan(&["one", "two"]))
        .acts(2, Act::Told("mind the gap"))
        .acts(3, plan(&["look down", "two"]));
    let report = kept.execute(None).await;
    assert!(
        matches!(report.status, RunStatus::Completed { .. }),
        "{report:?}"
    );
    let asked = kept.player.told("REPLANNER");
    let read = asked.iter().filter(|text| text.contains("mind the gap"));
    assert_eq!(read.count(), 1, "{asked:#?}");
    assert!(asked[0].contains("mind the gap"));
    let snapshot = kept.snapshot().await;
    let done = snapshot.state.plan().finished().iter();
    let done: Vec<_> = done.map(|done| done.step.task.as_str()).collect();
    assert_eq!(done, ["one", "look down", "two"]);
    let facts = kept.facts().await;
    let told = facts
        .iter()
        .find(|fact| fact.kind == FactKind::Told)
        .unwrap();
    assert_eq!(told.reason.as_deref(), Some("mind the gap"));
    assert_eq!(told.completed_steps, 1);
}

#[tokio::test]
async fn a_message_that_comes_while_the_answer_is_written_is_read_before_the_end() {
    let kept = Kept::new()
        .acts(1, plan(&["one"]))
        .acts(3, Act::Told("one more thing"))
        .acts(4, plan(&["the one more thing"]));
    let report = kept.execute(None).await;
    assert!(
        matches!(report.status, RunStatus::Completed { .. }),
        "{report:?}"
    );
    let snapshot = kept.snapshot().await;
    let done = snapshot.state.plan().finished().iter();
    let done: Vec<_> = done.map(|done| done.step.task.as_str()).collect();
    assert_eq!(done, ["one", "the one more thing"]);
    let late = send(&*kept.store, kept.run, "root", "too late").await;
    assert!(
        matches!(late, Err(MessageError::RunEnded { .. })),
        "{late:?}"
    );
}

#[tokio::test]
async fn a_message_to_a_plan_that_stands_still_is_read_when_it_goes_on() {
    let kept = Kept::new()
        .acts(1, plan(&["one", "two"]))
        .acts(2, Act::Interrupted("wait"))
        .acts(3, plan(&["three"]))
        .acts(5, answer("all is done"));
    kept.execute(None).await;
    send(&*kept.store, kept.run, "root/executor", "rather three")
        .await
        .unwrap();
    let report = kept.execute(None).await;
    assert!(
        matches!(report.status, RunStatus::Completed { .. }),
        "{report:?}"
    );
    let asked = kept.player.told("REPLANNER");
    assert!(asked[0].contains("rather three"), "{asked:#?}");
    let snapshot = kept.snapshot().await;
    let done = snapshot.state.plan().finished().iter();
    let done: Vec<_> = done.map(|done| done.step.task.as_str()).collect();
    assert_eq!(done, ["one", "three"]);
}

/// A plan whose first step is under way when a message comes.
fn told_on_its_way() -> Kept {
    Kept::new()
        .acts(1, plan(&["one", "two"]))
        .acts(2, Act::Told("mind the gap"))
}

#[tokio::test]
async fn wherever_its_process_dies_a_message_reaches_the_replan_and_is_told_once() {
    let undisturbed = told_on_its_way();
    let sound = Mortal::new(undisturbed.store.clone(), Death::Never);
    undisturbed.execute_over(sound.clone(), None).await;
    for at in 0..sound.operations() {
        for death in [Death::Before(at), Death::After(at)] {
            let kept = told_on_its_way();
            let mortal = Mortal::new(kept.store.clone(), death);
            tokio::select! {
                biased;
                report = kept.execute_over(mortal.clone(), None) => {
                    panic!("{death:?}: it lived: {report:?}");
                }
                () = mortal.died() => {}
            }
            let run = kept.store.run(kept.run).await.unwrap();
            if run.is_none_or(|run| !run.state.is_final()) {
                let report = kept.execute(None).await;
                assert!(
                    matches!(report.status, RunStatus::Completed { .. }),
                    "{death:?}: {report:?}"
                );
            }
            let kinds = kept.kinds().await;
            let count = |wanted| kinds.iter().filter(|kind| **kind == wanted).count();
            assert_eq!(count(FactKind::Told), 1, "{death:?}: {kinds:?}");
            let asked = kept.player.told("REPLANNER");
            assert!(
                asked.iter().any(|text| text.contains("mind the gap")),
                "{death:?}: {asked:#?}"
            );
            let done = kept.snapshot().await.state.plan().finished().len();
            assert_eq!(
                count(FactKind::StepDone),
                done,
                "{death:?}: no step is repeated"
            );
        }
    }
}

/// A plan whose last replan has answered while a person interrupted it, and what is said to it then.
async fn told_while_its_answer_was_held_back() -> Kept {
    let kept = Kept::new()
        .acts(1, plan(&["one"]))
        .acts(3, Act::Interrupted("wait"))
        .acts(4, plan(&["the one more thing"]));
    let report = kept.execute(None).await;
    assert!(
        matches!(report.status, RunStatus::Paused { .. }),
        "{report:?}"
    );
    send(&*kept.store, kept.run, "root", "one more thing")
        .await
        .unwrap();
    kept
}

async fn assert_read_once(kept: &Kept, what: &str) {
    let kinds = kept.kinds().await;
    let count = |wanted| kinds.iter().filter(|kind| **kind == wanted).count();
    assert_eq!(count(FactKind::Told), 1, "{what}: {kinds:?}");
    assert_eq!(count(FactKind::Completed), 1, "{what}: {kinds:?}");
    let snapshot = kept.snapshot().await;
    let done = snapshot.state.plan().finished().iter();
    let done: Vec<_> = done.map(|done| done.step.task.as_str()).collect();
    assert_eq!(done, ["one", "the one more thing"], "{what}");
    let late = send(&*kept.store, kept.run, "root", "too late").await;
    assert!(
        matches!(late, Err(MessageError::RunEnded { .. })),
        "{what}: {late:?}"
    );
}

#[tokio::test]
async fn a_message_is_read_before_an_answer_is_handed_over_that_was_held_back() {
    let kept = told_while_its_answer_was_held_back().await;
    let report = kept.execute(None).await;
    assert!(
        matches!(report.status, RunStatus::Completed { .. }),
        "{report:?}"
    );
    assert_read_once(&kept, "undisturbed").await;
}

#[tokio::test]
async fn wherever_its_process_dies_a_message_is_read_before_an_answer_that_was_held_back() {
    let undisturbed = told_while_its_answer_was_held_back().await;
    let sound = Mortal::new(undisturbed.store.clone(), Death::Never);
    undisturbed.execute_over(sound.clone(), None).await;
    for at in 0..sound.operations() {
        for death in [Death::Before(at), Death::After(at)] {
            let kept = told_while_its_answer_was_held_back().await;
            let mortal = Mortal::new(kept.store.clone(), death);
            tokio::select! {
                biased;
                report = kept.execute_over(mortal.clone(), None) => {
                    panic!("{death:?}: it lived: {report:?}");
                }
                () = mortal.died() => {}
            }
            let run = kept.store.run(kept.run).await.unwrap().unwrap();
            if !run.state.is_final() {
                let report = kept.execute(None).await;
                assert!(
                    matches!(report.status, RunStatus::Completed { .. }),
                    "{death:?}: {report:?}"
                );
            }
            assert_read_once(&kept, &format!("{death:?}")).await;
        }
    }
}
