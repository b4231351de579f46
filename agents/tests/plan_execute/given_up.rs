//! A plan whose question was given up because its deliveries failed: nothing waits for it for ever.

use engine::run::RunStatus;
use interrupt_router::{InterruptId, InterruptType, StopMode, StopSource};
use interrupts::life::{
    Actor, Admission, ExpiryOutcome, Interrupt, Recurrence, Role, RunState, Scope, State,
    USUAL_ATTEMPTS, Verdict,
};
use interrupts::store::{Deciders, Delivery, Filter, Page, RaisedQuestion};
use interrupts::{ActorName, IdempotencyKey, KindName, OwnerName, RouteName};
use jiff::SignedDuration;
use planning::{OpenQuestion, PlanSnapshot};
use serde_json::json;

use crate::kept::{Act, Kept};
use engine::testing::{Death, Mortal};

/// A plan of which an agent asks a question, and somebody who answers it.
fn asking() -> Kept {
    let question = json!({ "interruptRequest": {
        "type": "HUMAN_REVIEW", "reason": "which one?",
        "choices": [], "confirmationItems": [], "contextForDecision": "",
    } });
    Kept::new()
        .acts(
            1,
            Act::Say(json!({ "plan": { "steps": ["one"] } }).to_string()),
        )
        .acts(2, Act::Say(question.to_string()))
        .says("the second")
}

async fn questions(kept: &Kept) -> Vec<Interrupt> {
    let filter = Filter {
        run: Some(kept.run),
        ..Filter::default()
    };
    let page = Page {
        after: 0,
        limit: 100,
    };
    let found = kept.store.interrupts(&filter, page).await.unwrap();
    found.into_iter().map(|(_, question)| question).collect()
}

/// A run whose process died when its agent had said what it asks, and before a person was told. An earlier version recorded
/// the question first, and asked people later.
async fn left_with_a_question() -> (Kept, Interrupt) {
    for operation in 0..1_000 {
        let kept = asking();
        let mortal = Mortal::new(kept.store.clone(), Death::Before(operation));
        tokio::select! {
            biased;
            report = kept.execute_over(mortal.clone(), None) => panic!("it lived: {report:?}"),
            () = mortal.died() => {}
        }
        let saved = kept.store.last_checkpoint(kept.run).await.unwrap();
        let snapshot = saved.map(|it| PlanSnapshot::read(it.id, it.form, &it.content).unwrap());
        if let Some(open) = snapshot.and_then(|snapshot| snapshot.question) {
            let raised = kept.store.raise(recorded(&kept, &open)).await.unwrap();
            return (kept, raised.into_interrupt());
        }
    }
    panic!("no death fell between a checkpoint with a question and its interrupt");
}

fn recorded(kept: &Kept, open: &OpenQuestion) -> RaisedQuestion {
    let executor = RouteName::new("EXECUTOR").unwrap();
    let admission = Admission {
        id: open.interrupt,
        run: kept.run,
        node: open.node.clone(),
        kind: KindName::new("EXECUTOR").unwrap(),
        origin: executor.clone(),
        routes: vec![executor],
        interrupt_type: InterruptType::HumanReview,
        source: StopSource::Programmatic,
        requested_by: Actor {
            name: ActorName::new("executor").unwrap(),
            role: Role::Requester,
        },
        mode: StopMode::Graceful,
        scope: Scope::Agent,
        reason: "which one?".to_owned(),
        content: "{}".to_owned(),
        key: IdempotencyKey::new(format!("{}/{}", kept.run, open.interrupt)).unwrap(),
        allowed: vec![Verdict::Respond],
        patience: None,
        on_expiry: ExpiryOutcome::Reject,
        most_attempts: USUAL_ATTEMPTS,
        recurrence: Recurrence::Verbatim,
        reroute: None,
    };
    RaisedQuestion {
        admission,
        delivery: Delivery {
            owner: OwnerName::new("before").unwrap(),
            lease: SignedDuration::from_secs(1),
            lost: None,
        },
        deciders: Deciders::default(),
    }
}

/// Its deliveries fail until nobody tries any more.
async fn give_up(kept: &Kept, question: InterruptId) {
    let mut row = kept.store.interrupt(question).await.unwrap().unwrap();
    while row.state != State::DeadLettered {
        let epoch = Some(row.epoch);
        let failed = kept
            .store
            .fail_delivery(question, epoch, "no way".to_owned());
        row = failed.await.unwrap();
        if row.state != State::DeadLettered {
            let delivery = Delivery {
                owner: OwnerName::new("another").unwrap(),
                lease: SignedDuration::from_secs(1),
                lost: None,
            };
            row = kept.store.deliver(question, delivery).await.unwrap();
        }
    }
}

#[tokio::test]
async fn a_plan_whose_question_was_given_up_pauses_and_asks_again_once_it_is_redriven() {
    let (kept, question) = left_with_a_question().await;
    give_up(&kept, question.id).await;
    let report = kept.execute(None).await;
    let RunStatus::Failed {
        error,
        hint,
        resumable,
        ..
    } = &report.status
    else {
        panic!("{:#?}", report.status)
    };
    assert!(resumable, "{report:#?}");
    assert!(error.contains(&question.id.to_string()), "{error}");
    let remedy = format!("irq redrive {}", question.id);
    assert!(hint.as_ref().unwrap().contains(&remedy), "{hint:?}");
    let run = kept.store.run(kept.run).await.unwrap().unwrap();
    assert_eq!(run.state, RunState::Paused);

    let operator = Actor {
        name: ActorName::new("operator").unwrap(),
        role: Role::Operator,
    };
    kept.store.redrive(question.id, operator).await.unwrap();
    let report = kept.execute(None).await;
    assert!(
        matches!(report.status, RunStatus::Completed { .. }),
        "{:#?}",
        report.status
    );
    let ids: Vec<_> = questions(&kept).await.iter().map(|it| it.id).collect();
    assert_eq!(ids, [question.id], "it is the same question");
    let row = kept.store.interrupt(question.id).await.unwrap().unwrap();
    assert_eq!(row.state, State::Resolved);
}
