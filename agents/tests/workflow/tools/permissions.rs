//! Permission for one exact call: asked once, answered anywhere, void when anything changes.

use std::sync::Arc;

use engine::run::RunStatus;
use interrupt_router::review::{
    Answer, Pause, Question, QuestionKind, Resume, ReviewError, Reviewer,
};
use interrupt_router::{DecisionId, Outcome, RunId, StopMode, StopReason, StopScope, StopSource};
use interrupts::ActorName;
use interrupts::life::{Actor, Choosing, Interrupt, Judge, Role, State, Verdict};
use interrupts::store::{Filter, Page, Store};
use journal::tool::ToolQuestionContent;
use serde_json::json;

use super::bench::*;
use crate::stage::assert_completed;

const ALL: Page = Page {
    after: 0,
    limit: 1_000,
};

/// Is there, and never answers; leaves, where there is a scope to stop.
struct Silent(Option<StopScope>);

#[async_trait::async_trait]
impl Reviewer for Silent {
    async fn answer(&self, _: &Question, _: &StopScope) -> Result<Outcome<Answer>, ReviewError> {
        if let Some(scope) = &self.0 {
            scope.stop(StopReason {
                source: StopSource::User,
                mode: StopMode::Graceful,
                message: "enough".to_owned(),
                timestamp: jiff::Timestamp::UNIX_EPOCH,
            });
        }
        std::future::pending().await
    }

    async fn resume(&self, _: &Pause, _: &StopScope) -> Result<Outcome<Resume>, ReviewError> {
        std::future::pending().await
    }
}

fn once() -> Asking {
    Asking::of(vec![vec![takes("once", "a", 0), takes("work", "b", 0)]])
}

async fn questions(store: &dyn Store, run: RunId) -> Vec<Interrupt> {
    let filter = Filter {
        run: Some(run),
        ..Filter::default()
    };
    let rows = store.interrupts(&filter, ALL).await.unwrap().into_iter();
    rows.map(|(_, row)| row)
        .filter(|row| ToolQuestionContent::of(&row.content).is_some())
        .collect()
}

/// Decides as a reviewer of another process does.
async fn decide(store: &dyn Store, row: &Interrupt, verdict: Verdict, answer: &Answer) {
    let judge = Judge::Person {
        actor: Actor {
            name: ActorName::new("ada").unwrap(),
            role: Role::Reviewer,
        },
        version: row.version,
        shown: row.review.as_ref().unwrap().shown,
    };
    let choosing = Choosing {
        id: DecisionId::generate(),
        verdict,
        target: None,
        content: Some(serde_json::to_string(answer).unwrap()),
    };
    store.decide(row.id, judge, choosing).await.unwrap();
}

#[tokio::test]
async fn a_call_runs_once_a_person_has_allowed_exactly_it() {
    let done = Arc::new(Done::default());
    let person = Decider::choosing("approve");
    let (stage, calls) = stage(once(), &done, careful(), Arc::clone(&person) as Arc<_>);
    assert_completed(&stage.execute().await);
    assert_eq!(results(&calls, WORKER), ["all of a", "all of b"]);
    let asked = person.asked();
    assert_eq!(asked.len(), 1);
    let question = &asked[0];
    let tool = "once".to_owned();
    assert_eq!(question.kind, QuestionKind::Tool { tool });
    assert_eq!(question.agent_type, "TICKET_AGENT");
    assert!(question.details.reason.contains("`once`"), "{question:?}");
    let context = &question.details.context_for_decision;
    assert!(
        context.contains("+\"a\""),
        "the preview is shown: {context}"
    );
    let rows = questions(&*stage.store, stage.run).await;
    assert_eq!(rows.len(), 1);
    assert_eq!(rows[0].state, State::Resolved);
    let about = ToolQuestionContent::of(&rows[0].content).unwrap().tool_call;
    assert!(context.contains(&about.digest.unwrap().to_string()));
    assert_eq!(about.arguments, json!({"name": "a", "ms": 0}));
}

#[tokio::test]
async fn a_call_that_cannot_be_shown_in_full_is_denied_without_asking() {
    let done = Arc::new(Done::default());
    let person = Decider::choosing("approve");
    for name in ["x".repeat(24 * 1024), "\u{1}".repeat(400_000)] {
        let call = asks("large", "once", &json!({"name": name, "ms": 0}));
        let asking = Asking::of(vec![vec![call]]);
        let (stage, calls) = stage(asking, &done, careful(), Arc::clone(&person) as Arc<_>);
        assert_completed(&stage.execute().await);
        assert_eq!(done.count(&format!("{name} started")), 0);
        let results = results(&calls, WORKER);
        assert!(results[0].contains("split the call"), "{results:?}");
        assert!(questions(&*stage.store, stage.run).await.is_empty());
    }
    assert!(person.asked().is_empty());
}

#[tokio::test]
async fn the_longest_call_that_a_person_is_asked_about_is_shown_whole() {
    let done = Arc::new(Done::default());
    let person = Decider::choosing("approve");
    let name = format!("{}; touch PWNED", "\u{1}".repeat(4_000));
    let call = asks("long", "once", &json!({"name": name, "ms": 0}));
    let asking = Asking::of(vec![vec![call]]);
    let (stage, _calls) = stage(asking, &done, careful(), Arc::clone(&person) as Arc<_>);
    assert_completed(&stage.execute().await);
    assert_eq!(done.count(&format!("{name} started")), 1);
    let rows = questions(&*stage.store, stage.run).await;
    let about = ToolQuestionContent::of(&rows[0].content).unwrap();
    assert!(about.allowed().contains(&Verdict::Approve));
    assert_eq!(about.tool_call.arguments["name"], name);
    assert!(about.context_for_decision.contains("; touch PWNED"));
}

#[tokio::test]
async fn a_call_that_is_denied_does_not_run_and_its_agent_is_told_why() {
    let done = Arc::new(Done::default());
    let person = Decider::saying(Answer {
        text: Some("not on a Sunday".to_owned()),
        ..chosen("reject")
    });
    let (stage, calls) = stage(once(), &done, careful(), person);
    assert_completed(&stage.execute().await);
    let results = results(&calls, WORKER);
    assert!(results[0].contains("was not allowed"), "{results:?}");
    assert!(results[0].contains("not on a Sunday"), "{results:?}");
    assert_eq!(done.count("a started"), 0);
}

#[tokio::test]
async fn what_is_said_beside_a_yes_or_an_edit_reaches_the_agent() {
    let said = |answer: Answer| Answer {
        text: Some("but only this once".to_owned()),
        ..answer
    };
    let other = json!({"name": "c", "ms": 0});
    let edited = Answer {
        edited_request: Some(other.clone()),
        ..Answer::default()
    };
    let told = "The person who allowed it says: but only this once\nall of";
    for (answer, expected) in [
        (said(chosen("approve")), format!("{told} a")),
        (
            said(edited),
            format!("A person changed the arguments to: {other}\n{told} c"),
        ),
    ] {
        let done = Arc::new(Done::default());
        let (stage, calls) = stage(once(), &done, careful(), Decider::saying(answer));
        assert_completed(&stage.execute().await);
        assert_eq!(results(&calls, WORKER)[0], expected);
    }
}

#[tokio::test]
async fn saying_nothing_allows_nothing() {
    let done = Arc::new(Done::default());
    let person = Decider::saying(Answer::default());
    let (stage, _) = stage(once(), &done, careful(), Arc::clone(&person) as Arc<_>);
    let report = stage.execute().await;
    assert!(
        matches!(report.status, RunStatus::Waiting { .. }),
        "{report:#?}"
    );
    let last = person.asked().pop().unwrap();
    assert!(
        last.problem
            .unwrap()
            .contains("choose one of approve, reject")
    );
    assert_eq!(done.count("a started"), 0);
}

#[tokio::test]
async fn edited_arguments_run_instead_and_bad_ones_do_not() {
    for (edited, ran, said) in [
        (
            json!({"name": "gentle"}),
            1,
            "A person changed the arguments",
        ),
        (json!({"name": 7}), 0, "they cannot be used"),
    ] {
        let done = Arc::new(Done::default());
        let person = Decider::saying(Answer {
            edited_request: Some(edited),
            ..Answer::default()
        });
        let (stage, calls) = stage(once(), &done, careful(), person);
        assert_completed(&stage.execute().await);
        assert_eq!(done.count("gentle finished"), ran);
        assert_eq!(done.count("a started"), 0);
        let results = results(&calls, WORKER);
        assert!(results[0].contains(said), "{results:?}");
    }
}

#[tokio::test]
async fn a_run_without_people_waits_and_the_other_calls_of_the_round_stand() {
    let done = Arc::new(Done::default());
    let nobody = Arc::new(Decider::default());
    let (first, _) = stage(once(), &done, careful(), Arc::clone(&nobody) as Arc<_>);
    let report = first.execute().await;
    let RunStatus::Waiting {
        questions: open,
        interrupts,
    } = &report.status
    else {
        panic!("{report:#?}");
    };
    assert_eq!((open.len(), interrupts.len()), (1, 1));
    assert_eq!(done.count("b finished"), 1);
    // Somebody answers while no process has the run.
    let rows = questions(&*first.store, first.run).await;
    assert_eq!(rows[0].id, open[0].interrupt);
    decide(
        &*first.store,
        &rows[0],
        Verdict::Approve,
        &Answer::default(),
    )
    .await;
    let (second, calls) = resumed(first, once());
    assert_completed(&second.execute().await);
    assert_eq!(results(&calls, WORKER), ["all of a", "all of b"]);
    assert_eq!(done.count("a started"), 1);
    assert_eq!(
        done.count("b started"),
        1,
        "what had ended is read, and not done again"
    );
    assert_eq!(nobody.asked().len(), 1, "asked once over all lives");
}

#[tokio::test]
async fn an_answer_of_another_process_is_taken_while_the_run_waits() {
    let done = Arc::new(Done::default());
    let (stage, calls) = stage(once(), &done, careful(), Arc::new(Silent(None)));
    let (store, run) = (Arc::clone(&stage.store), stage.run);
    let elsewhere = async {
        loop {
            let open = questions(&*store, run).await;
            if let Some(row) = open.iter().find(|row| row.state == State::AwaitingReview) {
                let answer = Answer {
                    text: Some("no".to_owned()),
                    ..Answer::default()
                };
                return decide(&*store, row, Verdict::Reject, &answer).await;
            }
            tokio::task::yield_now().await;
        }
    };
    let (report, ()) = tokio::join!(stage.execute(), elsewhere);
    assert_completed(&report);
    assert!(results(&calls, WORKER)[0].contains("a person says: no"));
}

#[tokio::test]
async fn an_approval_is_void_when_the_call_has_changed_meanwhile() {
    let done = Arc::new(Done::default());
    let nobody = Arc::new(Decider::default());
    let (mut first, _) = stage(once(), &done, careful(), Arc::clone(&nobody) as Arc<_>);
    first.execute().await;
    let asked = questions(&*first.store, first.run).await;
    // The run goes on in another folder: the call would do something else.
    let other = tempfile::tempdir().unwrap();
    let settings = first.tools.as_mut().unwrap();
    settings.workspace = tools::Workspace::open(other.path()).unwrap();
    let (second, _) = resumed(first, once());
    let report = second.execute().await;
    assert!(matches!(report.status, RunStatus::Waiting { .. }));
    let rows = questions(&*second.store, second.run).await;
    assert_eq!(rows.len(), 2, "it is asked anew");
    let old = rows.iter().find(|row| row.id == asked[0].id).unwrap();
    assert_eq!(
        old.state,
        State::Cancelled,
        "the old question cannot be answered any more"
    );
    assert_eq!(done.count("a started"), 0);
}

#[tokio::test]
async fn a_stop_while_a_person_is_asked_leaves_the_question_open_and_the_call_unharmed() {
    let done = Arc::new(Done::default());
    let scope = StopScope::new();
    let (mut first, _) = stage(
        once(),
        &done,
        careful(),
        Arc::new(Silent(Some(scope.clone()))),
    );
    let report = first.run().execute(&scope).await;
    assert!(
        matches!(report.status, RunStatus::Paused { .. }),
        "{report:#?}"
    );
    let rows = questions(&*first.store, first.run).await;
    assert_eq!(rows[0].state, State::AwaitingReview);
    first.reviewer = Some(Decider::choosing("approve"));
    let (second, calls) = resumed(first, once());
    assert_completed(&second.execute().await);
    assert_eq!(results(&calls, WORKER)[0], "all of a");
    let rows = questions(&*second.store, second.run).await;
    assert_eq!(rows.len(), 1, "it is the same question");
}
