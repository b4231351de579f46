//! The desk's process dies before and after every operation of its store, and another one goes on.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use desk::Desk;
use engine::run::RunStatus;
use engine::testing::Trial;
use interrupt_router::StopScope;
use interrupts::life::{RunState, State};

use crate::counter::{Bank, Counter, Person, REFUND, empty_store};

/// The front of the desk wants the money paid back, and a person says this.
fn script(answer: &str) -> String {
    format!(
        r#"{{"version": 1, "steps": [
            {{"agent": "ORCHESTRATOR", "turn": 1, "answer": {REFUND}}},
            {{"person": {{"interrupt": {{"agent": "REFUNDS", "nth": 1}}, "answer": {answer}}}}}
        ]}}"#
    )
}

/// Each one has a bank of its own.
fn desk(banks: &mut Vec<Arc<Bank>>) -> Desk {
    let bank = Arc::new(Bank {
        cents: 20_000,
        ..Bank::default()
    });
    banks.push(Arc::clone(&bank));
    Desk { shop: bank }
}

#[tokio::test]
async fn a_desk_that_dies_at_any_operation_comes_to_the_same_end() {
    let store = empty_store().await;
    let no = r#"{"verdict": "reject", "text": "no"}"#;
    for (said, paid, line) in [
        ("{}", 1, "paid back 20000 cents for order 17"),
        (no, 0, "not paid back: no"),
    ] {
        let mut banks = Vec::new();
        let trial = Trial::<Desk>::new(Arc::clone(&store), &script(said), Counter::ticket());
        let tried = trial.unwrap().at_every_place(|| desk(&mut banks)).await;
        let tried = tried.unwrap();
        assert!(tried.len() > 40, "{} runs", tried.len());
        for (run, bank) in tried.iter().zip(banks) {
            let death = run.death;
            assert_eq!(
                run.state,
                RunState::Completed,
                "{death:?}: {:?}",
                run.report
            );
            assert_eq!(run.output.as_ref().unwrap().lines, [line], "{death:?}");
            assert_eq!(bank.payments(), paid, "{death:?}: paid once");
            assert_eq!(run.interrupts.len(), 1, "{death:?}: asked once");
            assert_eq!(run.interrupts[0].state, State::Resolved, "{death:?}");
            assert!(run.interrupts[0].decision.is_some(), "{death:?}");
            assert_eq!(run.repeated, [""; 0], "{death:?}: asked again");
        }
    }
}

#[tokio::test]
async fn where_the_script_has_no_person_the_run_waits_and_a_wrong_script_is_refused() {
    let store = empty_store().await;
    let nobody = script("{}").replace(r#""nth": 1"#, r#""nth": 2"#);
    let trial = Trial::<Desk>::new(Arc::clone(&store), &nobody, Counter::ticket()).unwrap();
    let tried = trial.undisturbed(desk(&mut Vec::new())).await.unwrap();
    assert_eq!(tried.state, RunState::Waiting, "{:?}", tried.report);
    assert!(tried.output.is_none());
    let wrong = script("{}").replace("REFUNDS", "REFUND");
    let refused = Trial::<Desk>::new(store, &wrong, Counter::ticket()).err();
    let told = refused.expect("no such kind").to_string();
    assert!(told.contains("REFUNDS"), "{told}");
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
    assert_eq!(looked_up.load(Ordering::SeqCst), 1);
    assert_eq!(counter.interrupts().await.len(), 1);
}
