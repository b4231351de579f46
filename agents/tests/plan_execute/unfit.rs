//! What was decided about a plan, and does not fit it or was not decided at all: nobody waits for what never comes.

use engine::run::RunStatus;
use interrupt_router::DecisionId;
use interrupts::Digest;
use interrupts::life::{Actor, Choosing, Interrupt, Judge, Role, RunState, Verdict, WithdrawCause};
use interrupts::store::{Filter, Page};
use interrupts::{ActorName, life::State};
use serde_json::json;

use crate::kept::{Act, Kept};

/// A plan whose second call has failed, so that it waits for an answer.
async fn failed() -> Kept {
    let steps = json!({ "plan": { "steps": ["one", "two"] } });
    let kept = Kept::new()
        .acts(1, Act::Say(steps.to_string()))
        .acts(2, Act::Fail);
    let report = kept.execute(None).await;
    assert!(matches!(report.status, RunStatus::Waiting { .. }));
    kept.player.is_mended();
    kept
}

/// The question that is open.
async fn question(kept: &Kept) -> Interrupt {
    let filter = Filter {
        run: Some(kept.run),
        states: vec![State::AwaitingReview],
        ..Filter::default()
    };
    let page = Page {
        after: 0,
        limit: 10,
    };
    let mut found = kept.store.interrupts(&filter, page).await.unwrap();
    assert_eq!(found.len(), 1);
    found.remove(0).1
}

fn someone(role: Role) -> Actor {
    let name = ActorName::new("someone").unwrap();
    Actor { name, role }
}

async fn decide(kept: &Kept, verdict: Verdict, content: Option<serde_json::Value>) {
    let row = question(kept).await;
    let judge = Judge::Person {
        actor: someone(Role::Reviewer),
        version: row.version,
        shown: row.review.as_ref().map_or(Digest::ZERO, |it| it.shown),
    };
    let choosing = Choosing {
        id: DecisionId::generate(),
        verdict,
        target: None,
        content: content.map(|content| content.to_string()),
    };
    kept.store.decide(row.id, judge, choosing).await.unwrap();
}

#[tokio::test]
async fn a_decided_plan_that_does_not_fit_is_told_why_and_its_question_is_asked_anew() {
    let kept = failed().await;
    let before = question(&kept).await.id;
    // It is not the change that was previewed.
    let other = json!({ "plan": ["three"], "previewed": Digest::ZERO });
    decide(&kept, Verdict::ModifyPlan, Some(other)).await;
    let report = kept.execute(None).await;
    let RunStatus::Failed {
        error, resumable, ..
    } = &report.status
    else {
        panic!("{:#?}", report.status)
    };
    assert!(resumable);
    assert!(error.contains("not carried out"), "{error}");
    let run = kept.store.run(kept.run).await.unwrap().unwrap();
    assert_eq!(run.state, RunState::Paused);
    // It is said once: whoever resumes the run is asked, and can decide.
    let report = kept.execute(None).await;
    assert!(matches!(report.status, RunStatus::Waiting { .. }));
    assert_ne!(question(&kept).await.id, before);
    decide(&kept, Verdict::Approve, None).await;
    let report = kept.execute(None).await;
    assert!(matches!(report.status, RunStatus::Completed { .. }));
}

#[tokio::test]
async fn a_question_about_a_failure_that_was_withdrawn_is_asked_anew() {
    let kept = failed().await;
    let before = question(&kept).await.id;
    let withdrawn = kept
        .store
        .withdraw(before, someone(Role::Operator), WithdrawCause::Withdrawn);
    withdrawn.await.unwrap();
    kept.execute(None).await;
    let report = kept.execute(None).await;
    assert!(matches!(report.status, RunStatus::Waiting { .. }));
    assert_ne!(question(&kept).await.id, before);
    decide(&kept, Verdict::Approve, None).await;
    let report = kept.execute(None).await;
    assert!(matches!(report.status, RunStatus::Completed { .. }));
}
