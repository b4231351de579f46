//! The auditor itself: what it must find is planted, and what is fine it leaves alone.

use std::sync::Arc;

use interrupt_router::{
    DecisionId, InterruptId, InterruptType, NodeId, RunId, StopMode, StopSource,
};
use interrupts::life::{
    Actor, Admission, Choosing, ExpiryOutcome, Interrupt, Judge, Recurrence, Role, Scope, Verdict,
};
use interrupts::store::{Delivery, Intent, Interrupts, Journal, NewRun, Repeating, Runs};
use interrupts::{ActorName, Digest, EffectId, IdempotencyKey, KindName, OwnerName, RouteName};
use jiff::SignedDuration;
use store::{MemoryStore, StoreSettings};
use tests::auditor::{Attempt, Evidence, Finding, Outcome, TargetCall, audit};

fn admission(run: RunId, key: &str) -> Admission {
    let origin = RouteName::new("ORCHESTRATOR").unwrap();
    Admission {
        id: InterruptId::generate(),
        run,
        node: NodeId::root(),
        kind: KindName::new("ORCHESTRATOR").unwrap(),
        origin: origin.clone(),
        routes: vec![origin],
        interrupt_type: InterruptType::HumanReview,
        source: StopSource::User,
        requested_by: Actor {
            name: ActorName::new("publisher").unwrap(),
            role: Role::Supervisor,
        },
        mode: StopMode::Graceful,
        scope: Scope::Agent,
        reason: "look at this".to_owned(),
        content: "{}".to_owned(),
        key: IdempotencyKey::new(key).unwrap(),
        allowed: vec![Verdict::Respond],
        patience: None,
        on_expiry: ExpiryOutcome::Cancel,
        most_attempts: 8,
        recurrence: Recurrence::Verbatim,
        reroute: None,
    }
}

/// A store with one run and an interrupt under each key, and what the publisher was told of each.
async fn published(keys: &[&str]) -> (Arc<MemoryStore>, Vec<Attempt>) {
    let store = Arc::new(MemoryStore::new(StoreSettings::default()));
    let run = RunId::generate();
    let content = "{}".to_owned();
    store
        .create_run(NewRun {
            root: None,
            id: run,
            alias: None,
            content,
        })
        .await
        .unwrap();
    let mut attempts = Vec::new();
    for key in keys {
        let admitted = store.admit(admission(run, key)).await.unwrap();
        let interrupt = admitted.into_interrupt().id;
        attempts.push(Attempt {
            key: (*key).to_owned(),
            outcome: Outcome::Acknowledged { interrupt },
        });
    }
    (store, attempts)
}

async fn findings(store: &MemoryStore, attempts: &[Attempt], calls: &[TargetCall]) -> Vec<Finding> {
    let evidence = Evidence {
        store,
        attempts,
        calls,
    };
    audit(&evidence).await.unwrap().findings
}

#[tokio::test]
async fn what_was_published_and_is_there_is_fine() {
    let (store, attempts) = published(&["a", "b"]).await;
    assert_eq!(findings(&store, &attempts, &[]).await, []);
}

#[tokio::test]
async fn what_was_acknowledged_and_is_not_there_is_lost() {
    let (store, mut attempts) = published(&["a"]).await;
    let interrupt = InterruptId::generate();
    attempts.push(Attempt {
        key: "gone".to_owned(),
        outcome: Outcome::Acknowledged { interrupt },
    });
    let key = "gone".to_owned();
    assert_eq!(
        findings(&store, &attempts, &[]).await,
        [Finding::Lost { key }]
    );
}

#[tokio::test]
async fn what_nobody_published_or_what_was_refused_is_a_phantom() {
    let (store, mut attempts) = published(&["a", "b"]).await;
    attempts.remove(0);
    attempts[0].outcome = Outcome::Refused;
    let found = findings(&store, &attempts, &[]).await;
    let phantoms = |finding: &&Finding| matches!(finding, Finding::Phantom { .. });
    assert_eq!(found.iter().filter(phantoms).count(), 2, "{found:?}");
}

#[tokio::test]
async fn a_publisher_that_was_told_of_another_interrupt_is_noticed() {
    let (store, mut attempts) = published(&["a"]).await;
    attempts[0].outcome = Outcome::Acknowledged {
        interrupt: InterruptId::generate(),
    };
    let found = findings(&store, &attempts, &[]).await;
    assert!(
        matches!(found.as_slice(), [Finding::OtherAnswer { .. }]),
        "{found:?}"
    );
}

#[tokio::test]
async fn a_call_whose_answer_reached_nobody_is_counted_and_is_no_finding() {
    let (store, attempts) = published(&[]).await;
    let calls = [TargetCall {
        number: 1,
        request: Digest::of(b"once"),
    }];
    let evidence = Evidence {
        store: &*store,
        attempts: &attempts,
        calls: &calls,
    };
    let report = audit(&evidence).await.unwrap();
    assert_eq!((report.lost_answers, report.findings.len()), (1, 0));
}

/// A store with an interrupt that a person has answered with these words.
async fn answered(text: &str) -> (Arc<MemoryStore>, Interrupt) {
    let (store, attempts) = published(&["a"]).await;
    let Outcome::Acknowledged { interrupt } = attempts[0].outcome else {
        unreachable!("it was published");
    };
    let delivery = || Delivery {
        owner: OwnerName::new("worker").unwrap(),
        lease: SignedDuration::from_secs(60),
        lost: None,
    };
    let delivered = store.deliver(interrupt, delivery()).await.unwrap();
    store.own_run(delivered.run, delivery()).await.unwrap();
    let epoch = delivered.epoch;
    let asked = interrupts::life::Evidence::Request {
        content: "{}".to_owned(),
        form: None,
    };
    store.acknowledge(interrupt, epoch, asked).await.unwrap();
    let shown = Digest::of(b"shown");
    let open = store.require_review(interrupt, epoch, shown).await;
    let judge = Judge::Person {
        actor: Actor {
            name: ActorName::new("ada").unwrap(),
            role: Role::Reviewer,
        },
        version: open.unwrap().version,
        shown,
    };
    let choosing = Choosing {
        id: DecisionId::generate(),
        verdict: Verdict::Respond,
        target: None,
        content: Some(serde_json::json!({ "text": text }).to_string()),
    };
    let decided = store.decide(interrupt, judge, choosing).await.unwrap();
    (store, decided)
}

/// The journal says that this was carried out.
async fn carried_out(store: &MemoryStore, interrupt: &Interrupt, outcome: serde_json::Value) {
    let intent = Intent {
        effect: EffectId::in_run(interrupt.run, "root#1/interrupt"),
        run: interrupt.run,
        node: NodeId::root(),
        kind: KindName::new("interrupt").unwrap(),
        repeating: Repeating::Idempotent,
        content: serde_json::json!({ "interrupt": interrupt.id }).to_string(),
        place: Some("root#1/interrupt".to_owned()),
    };
    let effect = intent.effect;
    store.begin(1, intent).await.unwrap();
    let recorded = store.finish(1, effect, outcome.to_string()).await;
    recorded.unwrap();
}

#[tokio::test]
async fn what_was_carried_out_otherwise_than_it_was_decided_is_found() {
    for (target, is_its, text, is_fine) in [
        ("ORCHESTRATOR", true, "take the first", true),
        ("TICKET_ORCHESTRATOR", true, "take the first", false),
        ("ORCHESTRATOR", false, "take the first", false),
        ("ORCHESTRATOR", true, "take the second", false),
    ] {
        let (store, decided) = answered("take the first").await;
        let its = decided.decision.as_ref().unwrap().id;
        let decision = if is_its { its } else { DecisionId::generate() };
        let outcome = serde_json::json!({
            "outcome": "routed", "target": target, "decision": decision, "answer": { "text": text },
        });
        carried_out(&store, &decided, outcome).await;
        let found = findings(&store, &[], &[]).await;
        let is_otherwise = |finding: &Finding| matches!(finding, Finding::NotCarriedOut { .. });
        assert_eq!(
            found.iter().any(is_otherwise),
            !is_fine,
            "{target} {text}: {found:?}"
        );
    }
}
