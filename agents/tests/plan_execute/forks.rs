//! Forks of plans that had asked: each asks for itself, once.

use engine::run::RunStatus;
use interrupt_router::{DecisionId, InterruptId, RunId};
use interrupts::ActorName;
use interrupts::life::{Actor, Choosing, Interrupt, Judge, Role, State, Verdict, WithdrawCause};
use interrupts::store::NewRun;
use planning::FactKind;
use serde_json::json;

use crate::durable::{ALL, assert_completed, interrupts, plan, question};
use crate::kept::{Act, Kept};
use engine::testing::{Death, Mortal};

fn someone(role: Role) -> Actor {
    Actor {
        name: ActorName::new("someone").unwrap(),
        role,
    }
}

/// A plan of which an agent has asked, and nobody has answered.
async fn asking() -> Kept {
    let kept = Kept::new()
        .acts(1, plan(&["one"]))
        .acts(2, question("which one?"));
    let report = kept.execute(None).await;
    assert!(matches!(report.status, RunStatus::Waiting { .. }));
    kept
}

/// From now on what is looked at is a fork of the run, where that stands now.
async fn fork(kept: &mut Kept) {
    let last = kept.store.last_checkpoint(kept.run).await.unwrap().unwrap();
    let new = NewRun {
        root: None,
        id: RunId::generate(),
        alias: None,
        content: "{}".to_owned(),
    };
    kept.run = kept.store.fork_run(last.id, new).await.unwrap().id;
}

/// The one question that the run has asked, whatever became of it.
async fn only_question(kept: &Kept) -> Interrupt {
    let mut asked = interrupts(kept).await;
    assert_eq!(asked.len(), 1, "{asked:#?}");
    asked.remove(0)
}

/// The questions that a run waits for.
async fn waits(kept: &Kept) -> Vec<InterruptId> {
    let report = kept.execute(None).await;
    let RunStatus::Waiting { interrupts, .. } = report.status else {
        panic!("{:#?}", report.status)
    };
    interrupts
}

async fn decide(kept: &Kept, asked: &Interrupt, verdict: Verdict, text: Option<&str>) {
    let judge = Judge::Person {
        actor: someone(Role::Reviewer),
        version: asked.version,
        shown: asked.review.as_ref().unwrap().shown,
    };
    let choosing = Choosing {
        id: DecisionId::generate(),
        verdict,
        target: None,
        content: text.map(|text| json!({ "text": text }).to_string()),
    };
    kept.store.decide(asked.id, judge, choosing).await.unwrap();
}

/// What the run has begun and what has no result.
async fn unknown(kept: &Kept) -> Vec<String> {
    let open = kept.store.unknown_effects(kept.run, ALL).await.unwrap();
    let kinds = open.iter().map(|entry| entry.intent.kind.to_string());
    kinds.collect()
}

#[tokio::test]
async fn the_question_of_a_fork_is_found_again_and_its_answer_carried_out_once() {
    let mut kept = asking().await;
    let original = only_question(&kept).await;
    fork(&mut kept).await;
    let first = waits(&kept).await;
    let asked = only_question(&kept).await;
    assert_ne!(asked.id, original.id, "it is the fork's own");
    assert_eq!(first, [asked.id]);
    assert_eq!(waits(&kept).await, first, "it is not asked anew");
    decide(&kept, &asked, Verdict::Respond, Some("the left one")).await;
    assert_completed(&kept.execute(None).await);
    assert_eq!(only_question(&kept).await.state, State::Resolved);
    let told = kept.player.told("EXECUTOR");
    assert_eq!(told.len(), 2, "{told:#?}");
    assert!(told[1].contains("the left one"), "{}", told[1]);
    assert_eq!(unknown(&kept).await, [""; 0]);
    let row = kept.store.interrupt(original.id).await.unwrap().unwrap();
    assert_eq!(row.state, State::AwaitingReview, "nobody has answered it");
}

#[tokio::test]
async fn a_fork_whose_question_is_cancelled_or_withdrawn_goes_on_without_an_answer() {
    for is_withdrawn in [false, true] {
        let mut kept = asking().await;
        fork(&mut kept).await;
        waits(&kept).await;
        let asked = only_question(&kept).await;
        if is_withdrawn {
            let operator = someone(Role::Operator);
            let withdrawn = kept
                .store
                .withdraw(asked.id, operator, WithdrawCause::Withdrawn);
            withdrawn.await.unwrap();
        } else {
            decide(&kept, &asked, Verdict::Cancel, None).await;
        }
        assert_completed(&kept.execute(None).await);
        let told = &kept.player.told("EXECUTOR")[1];
        let words = if is_withdrawn {
            "[withdrawn: go on without an answer]"
        } else {
            "[cancelled: give this up, without side effects]"
        };
        assert!(told.contains(words), "{told}");
        only_question(&kept).await;
    }
}

#[tokio::test]
async fn what_is_decided_about_the_failure_of_a_fork_is_carried_out() {
    for verdict in [Verdict::Approve, Verdict::ModifyPlan] {
        let mut kept = Kept::new().acts(1, plan(&["one"])).acts(2, Act::Fail);
        waits(&kept).await;
        fork(&mut kept).await;
        let first = waits(&kept).await;
        assert_eq!(waits(&kept).await, first, "it is not asked anew");
        kept.player.is_mended();
        let asked = only_question(&kept).await;
        let change = (verdict == Verdict::ModifyPlan).then_some("another way");
        decide(&kept, &asked, verdict, change).await;
        assert_completed(&kept.execute(None).await);
        only_question(&kept).await;
        let wanted = kept
            .kinds()
            .await
            .contains(&FactKind::ModificationRequested);
        assert_eq!(wanted, change.is_some(), "{verdict:?}");
        assert_eq!(unknown(&kept).await, [""; 0]);
    }
}

#[tokio::test]
async fn wherever_the_process_of_a_fork_dies_it_asks_once() {
    let mut undisturbed = asking().await;
    fork(&mut undisturbed).await;
    let sound = Mortal::new(undisturbed.store.clone(), Death::Never);
    undisturbed.execute_over(sound.clone(), None).await;
    let operations = sound.operations();
    assert!(operations > 5, "{operations}");
    for at in 0..operations {
        for death in [Death::Before(at), Death::After(at)] {
            let mut kept = asking().await;
            fork(&mut kept).await;
            let mortal = Mortal::new(kept.store.clone(), death);
            tokio::select! {
                biased;
                report = kept.execute_over(mortal.clone(), None) => {
                    panic!("{death:?}: it lived: {report:?}");
                }
                () = mortal.died() => {}
            }
            waits(&kept).await;
            let asked = only_question(&kept).await;
            decide(&kept, &asked, Verdict::Respond, Some("the left one")).await;
            assert_completed(&kept.execute(None).await);
            only_question(&kept).await;
        }
    }
}
