//! Supervisors send the desk's agents elsewhere, and people write to them.

use std::sync::Arc;

use engine::run::RunEvent;
use interrupt_router::event::InterruptRequestEvent;
use interrupt_router::{EventId, InterruptType, NodeId, StopScope};
use interrupts::life::{Actor, Role};
use interrupts::store::NewMessage;
use interrupts::{ActorName, IdempotencyKey};
use jiff::Timestamp;
use tokio::sync::Notify;

use crate::counter::{Counter, Person, REFUND};
use desk::Colleague;

#[tokio::test]
async fn a_supervisors_event_sets_the_target_of_the_agents_next_interrupt() {
    let person = Person {
        always: true,
        ..Person::default()
    };
    // By itself the answer would send the ticket back to whoever asked.
    let opens = Arc::new(Notify::new());
    let counter = Counter::opening(20_000, REFUND, person, Some(Arc::clone(&opens))).await;
    let execution = counter.execution();
    let run = execution.run();
    let publishing = async {
        let node = NodeId::new("root/refunds-1").unwrap();
        let event = InterruptRequestEvent {
            event_id: EventId::try_from("event-1".to_owned()).unwrap(),
            timestamp: Timestamp::now(),
            node_id: node.clone(),
            source_agent_type: Colleague::Refunds,
            reroute_to_agent_type: Some(Colleague::Legal),
            interrupt_type: InterruptType::HumanReview,
            reason: "the lawyers want to see it".to_owned(),
            choices: Vec::new(),
            confirmation_items: Vec::new(),
            context_for_decision: String::new(),
            answer_form: None,
        };
        // The agent comes to be, and looks at the account, which is not open yet.
        while run.nodes().status::<Colleague>(&node).is_none() {
            tokio::task::yield_now().await;
        }
        run.bus().publish(event).await.expect("the agent takes it");
        opens.notify_one();
    };
    let scope = StopScope::new();
    let (executed, ()) = tokio::join!(execution.execute(&scope), publishing);
    let receipt = executed.output.expect("it is done");
    assert!(receipt.lines[0].starts_with("objected: "), "{receipt:?}");
    let told = counter.log.0.lock().unwrap();
    let bound = told
        .iter()
        .any(|event| matches!(event, RunEvent::InterruptBound { target, .. } if target == "LEGAL"));
    assert!(bound, "the event is bound to the interrupt");
}

#[tokio::test]
async fn a_message_is_read_once_and_again_as_what_was_read() {
    let counter = Counter::new(500, REFUND, Person::default()).await;
    let execution = counter.execution();
    // It stops before anything is done, so that the front of the desk is there and takes messages.
    let scope = StopScope::new();
    crate::stopping::stop(&scope);
    execution.execute(&scope).await;
    let message = NewMessage {
        run: counter.run,
        node: NodeId::root(),
        text: "the customer is a friend".to_owned(),
        from: Actor {
            name: ActorName::new("ann").unwrap(),
            role: Role::Requester,
        },
        key: IdempotencyKey::new("message-1").unwrap(),
    };
    counter.store.send_message(message).await.unwrap();
    let executed = counter.execution().execute(&StopScope::new()).await;
    assert!(executed.output.is_some(), "{:?}", executed.report.status);
    let told = counter.clerk.told.lock().unwrap();
    let read = told.iter().filter(|text| text.contains("is a friend"));
    assert_eq!(read.count(), 1);
}
