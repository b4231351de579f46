//! A model that would end a plan over a step which a person applied: the run waits for the person, and names the step.

use engine::run::RunStatus;
use interrupt_router::review::Answer;
use planning::{Phase, PlanEnd};
use serde_json::json;

use crate::durable::{assert_completed, plan};
use crate::kept::{Act, Kept};
use crate::scene::tasks;
use crate::sequences::{apply, pause};

fn step_done(outcome: &str) -> Act {
    let report = json!({ "stepReport": { "result": "done", "outcome": outcome } });
    Act::Say(report.to_string())
}

fn responds() -> Act {
    Act::Say(json!({ "response": { "summary": "the plan is done" } }).to_string())
}

/// A plan that a person paused before its second step, and into which the person brought a step. The replanner says
/// then that all is done.
async fn ended_too_early() -> Kept {
    let kept = Kept::new()
        .acts(1, plan(&["one", "two"]))
        .acts(2, Act::Interrupted("let me look"))
        .acts(3, step_done("REPLAN"))
        .acts(4, responds());
    let report = kept.execute(None).await;
    assert!(matches!(report.status, RunStatus::Paused { .. }));
    pause(&kept).await;
    apply(&kept, tasks(&["two", "mine"])).await;
    let report = kept.execute(None).await;
    let RunStatus::Waiting { questions, .. } = report.status else {
        panic!("{:#?}", report.status)
    };
    let [question] = questions.as_slice() else {
        panic!("{questions:#?}")
    };
    let reason = &question.details.reason;
    assert!(reason.contains("“mine”"), "{reason}");
    kept.player.is_mended();
    kept
}

#[tokio::test]
async fn the_run_waits_and_names_the_step_and_carries_it_out_when_that_is_approved() {
    let kept = ended_too_early().await;
    *kept.person.answer.lock().unwrap() = Some(Answer::default());
    assert_completed(&kept.execute(None).await);
    let snapshot = kept.snapshot().await;
    let done = snapshot.state.plan().finished().iter();
    let done: Vec<&str> = done.map(|done| done.step.task.as_str()).collect();
    assert_eq!(done[1..], ["two", "mine"]);
}

#[tokio::test]
async fn a_person_who_agrees_with_the_model_drops_the_step() {
    let kept = ended_too_early().await;
    apply(&kept, Vec::new()).await;
    assert_completed(&kept.execute(None).await);
    let state = kept.snapshot().await.state;
    let done = state.plan().finished().iter();
    assert!(!done.map(|done| &done.step.task).any(|task| task == "mine"));
    assert!(matches!(
        state.phase(),
        Phase::Ended(PlanEnd::Completed { .. })
    ));
}
