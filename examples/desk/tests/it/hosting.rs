//! A desk that is kept: other processes stop it and write to it while it is executed.

use std::sync::Arc;
use std::time::Duration;

use engine::RunSettings;
use engine::hosting::RunHost;
use engine::run::{RunStatus, RunStore};
use interrupt_router::{DecisionId, InterruptId, InterruptType, NodeId, StopMode, StopSource};
use interrupts::life::{
    Actor, Admission, Choosing, ExpiryOutcome, Interrupt, Judge, Recurrence, Role, RunState, Scope,
    State, USUAL_ATTEMPTS, Verdict,
};
use interrupts::store::NewMessage;
use interrupts::{ActorName, IdempotencyKey, KindName, NoNotifier, OwnerName, RouteName};
use tokio::sync::Notify;

use crate::counter::{Counter, Person, REFUND, owner};
use desk::Desk;

fn ann() -> Actor {
    Actor {
        name: ActorName::new("ann").unwrap(),
        role: Role::Operator,
    }
}

/// A desk whose bank opens when it is rung.
async fn waiting_at_the_bank() -> (Counter, Arc<Notify>) {
    let opens = Arc::new(Notify::new());
    let counter = Counter::opening(500, REFUND, Person::default(), Some(Arc::clone(&opens))).await;
    (counter, opens)
}

/// A process of this name that may execute the run, and what it needs for that.
fn host(counter: &Counter, name: &str) -> (RunHost, Arc<Desk>, RunSettings) {
    let store = Arc::clone(&counter.store);
    let name = OwnerName::new(name).unwrap();
    let host = RunHost::named::<Desk>(store, Arc::new(NoNotifier), name).unwrap();
    let kept = RunStore::new(Arc::clone(&counter.store), owner(), "");
    let (desk, settings) = counter.equipment(kept, Arc::clone(&counter.log) as Arc<_>);
    (host, desk, settings)
}

/// Executes the run as a process of this name.
async fn kept(counter: &Counter, name: &str) -> engine::Executed<desk::Receipt> {
    let (host, desk, settings) = host(counter, name);
    let executed = host.begin(desk, settings, &Counter::ticket()).await;
    executed.expect("nobody else has the run")
}

/// Waits until an agent is there for other processes.
async fn comes(counter: &Counter, node: &str) {
    let node = NodeId::new(node).unwrap();
    while counter
        .store
        .node(counter.run, &node)
        .await
        .unwrap()
        .is_none()
    {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

/// Another process asks the whole run to pause.
async fn pause(counter: &Counter) -> InterruptId {
    let first = RouteName::new("ORCHESTRATOR").unwrap();
    let admission = Admission {
        id: InterruptId::generate(),
        run: counter.run,
        node: NodeId::root(),
        kind: KindName::new("ORCHESTRATOR").unwrap(),
        origin: first.clone(),
        routes: vec![first],
        interrupt_type: InterruptType::Pause,
        source: StopSource::User,
        requested_by: ann(),
        mode: StopMode::Graceful,
        scope: Scope::Run,
        reason: "let me look".to_owned(),
        content: "{}".to_owned(),
        key: IdempotencyKey::new("pause-1").unwrap(),
        allowed: Vec::new(),
        patience: None,
        on_expiry: ExpiryOutcome::Cancel,
        most_attempts: USUAL_ATTEMPTS,
        recurrence: Recurrence::Verbatim,
        reroute: None,
    };
    let admitted = counter.store.admit(admission).await.unwrap();
    admitted.into_interrupt().id
}

async fn row(counter: &Counter, id: InterruptId) -> Interrupt {
    counter.store.interrupt(id).await.unwrap().unwrap()
}

#[tokio::test]
async fn another_process_pauses_a_run_and_it_goes_on_once_somebody_says_so() {
    let (counter, opens) = waiting_at_the_bank().await;
    let asking = async {
        comes(&counter, "root/refunds-1").await;
        let id = pause(&counter).await;
        while row(&counter, id).await.state == State::Requested {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        opens.notify_one();
        id
    };
    let (executed, id) = tokio::join!(kept(&counter, "desk-1"), asking);
    let RunStatus::Paused { reason } = &executed.report.status else {
        panic!("{:?}", executed.report.status);
    };
    assert_eq!(reason, "let me look");
    assert_eq!(counter.bank.payments(), 0, "nothing was done after it");
    let run = counter.store.run(counter.run).await.unwrap().unwrap();
    assert_eq!(run.state, RunState::Paused);
    let paused = row(&counter, id).await;
    assert_eq!(paused.state, State::AwaitingReview);
    let judge = Judge::Person {
        actor: Actor {
            role: Role::Reviewer,
            ..ann()
        },
        version: paused.version,
        shown: paused.review.as_ref().unwrap().shown,
    };
    let choosing = Choosing {
        id: DecisionId::generate(),
        verdict: Verdict::Resume,
        target: None,
        content: Some(r#"{"input":"pay quickly"}"#.to_owned()),
    };
    counter.store.decide(id, judge, choosing).await.unwrap();
    opens.notify_one();
    let executed = kept(&counter, "desk-2").await;
    let receipt = executed.output.expect("it is done");
    assert_eq!(receipt.lines[0], "paid back 500 cents for order 17");
    assert!(receipt.lines[1].contains("pay quickly"), "{receipt:?}");
    assert_eq!(row(&counter, id).await.state, State::Resolved);
}

#[tokio::test]
async fn a_paused_run_stands_until_a_person_says_that_it_goes_on() {
    let (counter, opens) = waiting_at_the_bank().await;
    let asking = async {
        comes(&counter, "root/refunds-1").await;
        let id = pause(&counter).await;
        while row(&counter, id).await.state == State::Requested {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        opens.notify_one();
    };
    tokio::join!(kept(&counter, "desk-1"), asking);
    let begun = kept(&counter, "desk-2").await;
    let stands = begun.report.status;
    assert!(matches!(stands, RunStatus::Paused { .. }), "{stands:?}");
    let (host, desk, settings) = host(&counter, "desk-3");
    opens.notify_one();
    let executed = host.resume(desk, settings, &ann()).await.unwrap();
    assert!(executed.output.is_some(), "{:?}", executed.report.status);
}

#[tokio::test]
async fn a_message_that_was_accepted_for_an_agent_is_read_however_late_it_came() {
    let (counter, opens) = waiting_at_the_bank().await;
    let writing = async {
        comes(&counter, "root/refunds-1").await;
        let message = NewMessage {
            run: counter.run,
            node: NodeId::new("root/refunds-1").unwrap(),
            text: "the customer is a friend".to_owned(),
            from: ann(),
            key: IdempotencyKey::new("message-1").unwrap(),
        };
        counter.store.send_message(message).await.unwrap();
        opens.notify_one();
    };
    let (executed, ()) = tokio::join!(kept(&counter, "desk-1"), writing);
    let receipt = executed.output.expect("it is done");
    assert!(receipt.lines[1].contains("is a friend"), "{receipt:?}");
}

#[tokio::test]
async fn a_run_has_one_process_at_a_time() {
    let (counter, opens) = waiting_at_the_bank().await;
    let second = async {
        comes(&counter, "root/refunds-1").await;
        let (host, desk, settings) = host(&counter, "desk-2");
        let refused = host.begin(desk, settings, &Counter::ticket()).await;
        opens.notify_one();
        refused.expect_err("it is executed elsewhere").to_string()
    };
    let (executed, refused) = tokio::join!(kept(&counter, "desk-1"), second);
    assert!(refused.contains("cannot be taken"), "{refused}");
    assert!(executed.output.is_some());
    assert_eq!(counter.bank.payments(), 1);
}
