//! Putting a question to people: its intent, the question and its review, or nothing of it.

use std::sync::Arc;

use interrupt_router::InterruptId;
use interrupts::EffectId;
use interrupts::KindName;
use interrupts::life::{Admission, Decider, State, Verdict};
use interrupts::policy::{Policy, Vocabulary};
use interrupts::rules::Reach;
use interrupts::store::{
    AdmitError, Deciders, Intent, JournalError, PutQuestion, PutQuestionError, RaisedQuestion,
    Repeating, Run, Store,
};

use crate::rules::{remember, remembered};
use crate::scene::{ALL, Scene, delivery, question, rerouting, route, shown};

/// A question at a place of its run's journal.
fn put(run: &Run, place: &str, admission: Admission) -> PutQuestion {
    let intent = Intent {
        effect: EffectId::in_run(run.id, place),
        run: run.id,
        node: admission.node.clone(),
        kind: KindName::new("interrupt").unwrap(),
        repeating: Repeating::Idempotent,
        content: format!(r#"{{"interrupt":"{}"}}"#, admission.id),
        place: Some(place.to_owned()),
    };
    PutQuestion {
        raised: RaisedQuestion {
            admission,
            delivery: delivery("worker", 60),
            deciders: Deciders {
                shown: Some(shown()),
                ..Deciders::rules()
            },
        },
        epoch: run.epoch,
        intent,
    }
}

pub(crate) async fn a_question_waits_for_people_at_once_and_the_journal_names_it<S: Store>(
    scene: Scene<S>,
) {
    let run = scene.run().await;
    scene.tells_transactions_apart();
    let asked = put(&run, "refund", question(&run, "k"));
    let row = scene.store.put_question(asked.clone()).await.unwrap();
    assert_eq!(row.state, State::AwaitingReview);
    assert_eq!(scene.interrupt(row.id).await, row);
    let effect = scene.store.effect(asked.intent.effect).await.unwrap();
    assert_eq!(effect.unwrap().intent, asked.intent);
    let audited = scene.audited_at(row.id).await;
    let events: Vec<&str> = audited.iter().map(|(_at, event)| event.as_str()).collect();
    assert_eq!(events, ["admit", "take", "acknowledge", "require_review"]);
    let first = audited[0].0;
    assert!(
        audited.iter().all(|(at, _event)| *at == first),
        "in one transaction"
    );
    // Asked once more, it is the question that is there.
    assert_eq!(scene.store.put_question(asked).await.unwrap(), row);
}

pub(crate) async fn a_question_that_is_refused_leaves_no_intent<S: Store>(scene: Scene<S>) {
    let run = scene.run().await;
    let first = scene.raised(question(&run, "k")).await;
    let rows = scene.store.audit(ALL).await.unwrap();
    let mut other = question(&run, "k");
    other.reason = "something else".to_owned();
    let same_key = put(&run, "other words", other);
    let mut taken = question(&run, "free");
    taken.id = first.id;
    let taken = put(&run, "taken id", taken);
    let late = PutQuestion {
        epoch: run.epoch - 1,
        ..put(&run, "late", question(&run, "free"))
    };
    let is_expected = |place: &str, error: &PutQuestionError| match place {
        "other words" => matches!(
            error,
            PutQuestionError::Admit(AdmitError::OtherContent { .. })
        ),
        "taken id" => matches!(error, PutQuestionError::Admit(AdmitError::IdTaken { .. })),
        _ => matches!(
            error,
            PutQuestionError::Journal(JournalError::Fenced { .. })
        ),
    };
    for refused in [same_key, taken, late] {
        let intent = refused.intent.clone();
        let error = scene.store.put_question(refused).await.unwrap_err();
        assert!(is_expected(&intent.place.unwrap(), &error), "{error}");
        assert_eq!(scene.store.effect(intent.effect).await, Ok(None));
    }
    assert_eq!(scene.store.audit(ALL).await.unwrap(), rows);
}

pub(crate) async fn at_one_place_of_a_run_one_question_is_put<S: Store>(scene: Scene<S>) {
    let run = scene.run().await;
    let first = put(&run, "refund", question(&run, "k"));
    scene.store.put_question(first).await.unwrap();
    let mut second = question(&run, "k2");
    second.id = InterruptId::generate();
    let id = second.id;
    let refused = scene.store.put_question(put(&run, "refund", second)).await;
    assert!(matches!(
        refused,
        Err(PutQuestionError::Journal(JournalError::OtherIntent { .. }))
    ));
    assert_eq!(scene.store.interrupt(id).await, Ok(None));
}

pub(crate) async fn a_question_that_takes_a_reroute_takes_the_place_of_its_event<S: Store>(
    scene: Scene<S>,
) {
    let run = scene.run().await;
    let event = scene.admitted(rerouting(&run, "e", "OTHER")).await;
    let asked = put(&run, "refund", question(&run, "k"));
    let row = scene.store.put_question(asked).await.unwrap();
    assert_eq!(row.state, State::AwaitingReview);
    assert_eq!(row.bound.map(|bound| bound.target), Some(route("OTHER")));
    assert_eq!(scene.interrupt(event.id).await.state, State::Cancelled);
}

/// By a rule, else by the policy, in the transaction that raises it.
pub(crate) async fn a_question_is_decided_as_it_is_raised<S: Store>(scene: Scene<S>) {
    let run = scene.run().await;
    let policy = Policy::from_toml("[default]\nanswer = \"approve\"\n", &Vocabulary::default());
    let asked = |key: &str, deciders| {
        let mut asked = put(&run, key, question(&run, key));
        asked.raised.deciders = deciders;
        asked
    };
    let by_policy = Deciders {
        rules: true,
        policy: Some(Arc::new(policy.unwrap())),
        shown: Some(shown()),
    };
    let row = scene
        .store
        .put_question(asked("policy", by_policy.clone()))
        .await;
    let decision = row.unwrap().decision.unwrap();
    assert_eq!(
        (decision.by, decision.verdict),
        (Decider::Policy, Verdict::Approve)
    );
    remembered(&scene, &run, remember(Reach::Run)).await;
    let row = scene.store.put_question(asked("rule", by_policy)).await;
    let decision = row.unwrap().decision.unwrap();
    assert!(matches!(decision.by, Decider::Rule { .. }), "{decision:?}");
}

pub(crate) async fn a_question_that_a_rule_answers_is_put_to_no_person<S: Store>(scene: Scene<S>) {
    let run = scene.run().await;
    let rule = remembered(&scene, &run, remember(Reach::Run)).await;
    let asked = put(&run, "refund", question(&run, "again"));
    let row = scene.store.put_question(asked).await.unwrap();
    assert_eq!((row.state, row.review), (State::Resolved, None));
    let used = scene.store.rule(rule.id).await.unwrap().unwrap();
    assert_eq!(used.uses, 1);
}
