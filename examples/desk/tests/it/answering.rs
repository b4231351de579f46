//! People answer the desk's questions in another process, and send its tickets elsewhere.

use engine::run::RunStatus;
use interrupt_router::{DecisionId, StopScope};
use interrupts::life::{Actor, Choosing, Interrupt, Judge, Role, State, Verdict};
use interrupts::{ActorName, RouteName};

use crate::counter::{Counter, Person, REFUND};

/// Somebody decides the run's open question elsewhere.
async fn decide(counter: &Counter, verdict: Verdict, target: Option<&str>) {
    let rows = counter.interrupts().await;
    let row = rows
        .iter()
        .find(|row| row.state == State::AwaitingReview)
        .expect("a question is open");
    let judge = Judge::Person {
        actor: Actor {
            name: ActorName::new("ann").unwrap(),
            role: Role::Reviewer,
        },
        version: row.version,
        shown: row.review.as_ref().expect("it was shown").shown,
    };
    let choosing = Choosing {
        id: DecisionId::generate(),
        verdict,
        target: target.map(|name| RouteName::new(name).unwrap()),
        content: Some(r#"{"text":"so be it"}"#.to_owned()),
    };
    counter.store.decide(row.id, judge, choosing).await.unwrap();
}

async fn waiting(counter: &Counter) -> Vec<Interrupt> {
    let executed = counter.execution().execute(&StopScope::new()).await;
    assert!(
        matches!(executed.report.status, RunStatus::Waiting { .. }),
        "{:?}",
        executed.report.status
    );
    counter.interrupts().await
}

#[tokio::test]
async fn a_question_outlives_its_process_and_what_was_decided_is_what_happens() {
    let counter = Counter::new(20_000, REFUND, Person::default()).await;
    let rows = waiting(&counter).await;
    assert_eq!(rows.len(), 1);
    assert_eq!(rows[0].kind.as_str(), "REFUNDS");
    assert!(rows[0].content.contains("20000"), "{}", rows[0].content);
    decide(&counter, Verdict::Approve, None).await;
    let executed = counter.execution().execute(&StopScope::new()).await;
    let receipt = executed.output.expect("it is done");
    assert_eq!(receipt.lines, ["paid back 20000 cents for order 17"]);
    assert_eq!(counter.interrupts().await.len(), 1, "nobody is asked again");
}

#[tokio::test]
async fn nothing_is_paid_back_after_a_no_in_any_form() {
    // With each, `decide` sends "so be it". Words alone are no yes.
    for verdict in [Verdict::Reject, Verdict::Cancel, Verdict::Ignore] {
        let counter = Counter::new(20_000, REFUND, Person::default()).await;
        let asked = waiting(&counter).await;
        assert!(!asked[0].allowed.contains(&Verdict::Respond));
        decide(&counter, verdict, None).await;
        let executed = counter.execution().execute(&StopScope::new()).await;
        let receipt = executed.output.expect("it is done");
        assert_eq!(receipt.lines, ["not paid back: so be it"], "{verdict:?}");
        assert_eq!(counter.bank.payments(), 0, "{verdict:?}");
    }
}

#[tokio::test]
async fn a_ticket_goes_where_a_person_sends_it_and_nowhere_else() {
    let counter = Counter::new(20_000, REFUND, Person::default()).await;
    waiting(&counter).await;
    decide(&counter, Verdict::Reroute, Some("LEGAL")).await;
    let executed = counter.execution().execute(&StopScope::new()).await;
    let receipt = executed.output.expect("it is done");
    assert!(receipt.lines[0].starts_with("objected: "), "{receipt:?}");
    assert_eq!(counter.bank.payments(), 0);
    assert_eq!(counter.interrupts().await[0].state, State::Rerouted);
}

#[tokio::test]
async fn the_routes_that_people_choose_from_are_the_desks_own() {
    let counter = Counter::new(20_000, REFUND, Person::default()).await;
    let rows = waiting(&counter).await;
    let routes: Vec<&str> = rows[0].routes.iter().map(RouteName::as_str).collect();
    let own = [
        "ORCHESTRATOR",
        "REVIEW_AGENT",
        "REFUNDS",
        "LEGAL",
        "SHIPPING",
        "ARCHIVE",
    ];
    assert_eq!(routes, own);
}
