//! The desk's process dies before and after every operation of its store, and another one goes on.

use std::sync::Arc;

use engine::run::RunStatus;
use interrupts::life::State;
use interrupts::store::Store;
use routing_core::StopScope;
use tests::mortal::{Death, Mortal};

use crate::counter::{Counter, Person, REFUND, empty_store, owner};

fn asked_always(store: &Arc<dyn Store>) -> Counter {
    let person = Person {
        always: true,
        ..Person::default()
    };
    Counter::beside(Arc::clone(store), 20_000, REFUND, person)
}

/// Executes until it dies or ends, then goes on to the end.
async fn killed(counter: &Counter, death: Death) -> Vec<String> {
    let mortal = Mortal::new(Arc::clone(&counter.store), death);
    let scope = StopScope::new();
    let life = counter.over(Arc::clone(&mortal) as Arc<_>, None);
    let executed = tokio::select! {
        executed = life.execute(&scope) => executed,
        () = mortal.died() => {
            let next = counter.over(Arc::clone(&counter.store), Some(owner()));
            next.execute(&scope).await
        }
    };
    let (status, output) = (executed.report.status, executed.output);
    // The operation that it died after may have been the last one.
    match (&status, output) {
        (RunStatus::Completed { .. }, Some(receipt)) => receipt.lines,
        (RunStatus::Failed { error, .. }, None) if error.contains("has ended as completed") => {
            let page = interrupts::store::Page {
                after: 0,
                limit: 100,
            };
            let saved = counter.store.checkpoints(counter.run, page).await.unwrap();
            let last = saved.last().expect("a run that is done has a checkpoint");
            let content: serde_json::Value = serde_json::from_str(&last.content).unwrap();
            let result = content["result"].as_str().expect("a result").to_owned();
            serde_json::from_str::<desk::Receipt>(&result)
                .unwrap()
                .lines
        }
        other => panic!("{death:?}: {other:?}"),
    }
}

#[tokio::test]
async fn a_desk_that_dies_at_any_operation_comes_to_the_same_end() {
    let store = empty_store().await;
    let counter = asked_always(&store);
    let mortal = Mortal::new(Arc::clone(&counter.store), Death::Never);
    let life = counter.over(Arc::clone(&mortal) as Arc<_>, None);
    let executed = life.execute(&StopScope::new()).await;
    let lines = executed.output.expect("an undisturbed desk is done").lines;
    assert_eq!(lines, ["paid back 20000 cents for order 17"]);
    let operations = mortal.operations();
    assert!(operations > 20, "{operations}");
    for at in 0..operations {
        for death in [Death::Before(at), Death::After(at)] {
            let counter = asked_always(&store);
            assert_eq!(killed(&counter, death).await, lines, "{death:?}");
            assert_eq!(counter.bank.payments(), 1, "{death:?}: paid once");
            let rows = counter.interrupts().await;
            assert_eq!(rows.len(), 1, "{death:?}: asked once");
            assert_eq!(rows[0].state, State::Resolved, "{death:?}");
            assert!(rows[0].decision.is_some(), "{death:?}");
            let repeated = counter.clerk.repeated.lock().unwrap();
            assert!(repeated.is_empty(), "{death:?}: {repeated:?} asked again");
        }
    }
}

#[tokio::test]
async fn what_is_recorded_is_read_and_not_done_again() {
    let counter = Counter::new(20_000, REFUND, Person::default()).await;
    let waiting = counter.execution().execute(&StopScope::new()).await;
    assert!(matches!(waiting.report.status, RunStatus::Waiting { .. }));
    for _again in 0..3 {
        let waiting = counter.execution().execute(&StopScope::new()).await;
        assert!(matches!(waiting.report.status, RunStatus::Waiting { .. }));
    }
    let looked_up = &counter.bank.looked_up;
    assert_eq!(looked_up.load(std::sync::atomic::Ordering::SeqCst), 1);
    assert_eq!(counter.interrupts().await.len(), 1);
}
