//! Stops of a desk, and troubles of its shop: the run stands, and goes on from there.

use std::sync::Arc;

use engine::run::{RunEvent, RunObserver, RunOccurrence, RunStatus};
use interrupt_router::{StopMode, StopReason, StopScope, StopSource};
use jiff::Timestamp;

use crate::counter::{Counter, Person, REFUND};

pub(crate) fn stop(scope: &StopScope) {
    scope.stop(StopReason {
        source: StopSource::User,
        mode: StopMode::Graceful,
        message: "enough for today".to_owned(),
        timestamp: Timestamp::now(),
    });
}

#[tokio::test]
async fn a_stop_takes_hold_at_the_next_boundary_and_the_run_goes_on_from_there() {
    let counter = Counter::new(500, REFUND, Person::default()).await;
    let scope = StopScope::new();
    stop(&scope);
    let executed = counter.execution().execute(&scope).await;
    let RunStatus::Paused { reason } = &executed.report.status else {
        panic!("{:?}", executed.report.status);
    };
    assert_eq!(reason, "enough for today");
    assert!(executed.output.is_none());
    assert_eq!(counter.bank.payments(), 0);
    let executed = counter.execution().execute(&StopScope::new()).await;
    let receipt = executed.output.expect("it is done");
    assert_eq!(receipt.lines, ["paid back 500 cents for order 17"]);
}

#[tokio::test]
async fn an_effect_that_fails_pauses_the_run_and_is_tried_again_with_the_same_id() {
    let counter = Counter::new(500, REFUND, Person::default()).await;
    let trouble = "the line is dead".to_owned();
    counter.bank.troubles.lock().unwrap().push_back(trouble);
    let executed = counter.execution().execute(&StopScope::new()).await;
    let RunStatus::Failed {
        error,
        hint,
        resumable,
        ..
    } = &executed.report.status
    else {
        panic!("{:?}", executed.report.status);
    };
    assert!(error.contains("`pay back` failed"), "{error}");
    assert!(error.contains("the line is dead"), "{error}");
    assert!(*resumable && hint.is_some());
    let executed = counter.execution().execute(&StopScope::new()).await;
    assert!(executed.output.is_some(), "{:?}", executed.report.status);
    let asked = counter.bank.asked.lock().unwrap();
    assert_eq!(asked.len(), 2);
    assert_eq!(asked[0], asked[1], "the same payment");
    assert_eq!(counter.bank.payments(), 1);
}

/// Stops its run once an agent of this name begins.
struct StopsAt {
    scope: StopScope,
    node: &'static str,
    then: Arc<crate::counter::Log>,
}

impl RunObserver for StopsAt {
    fn observe(&self, occurrence: &RunOccurrence) {
        self.then.observe(occurrence);
        if let RunEvent::AgentSpawned { node, .. } = &occurrence.event
            && node.as_str() == self.node
        {
            stop(&self.scope);
        }
    }
}

#[tokio::test]
async fn a_stop_between_two_agents_leaves_what_was_done_and_does_no_more() {
    let counter = Counter::new(500, REFUND, Person::default()).await;
    let scope = StopScope::new();
    let observer = StopsAt {
        scope: scope.clone(),
        node: "root/refunds-1",
        then: Arc::clone(&counter.log),
    };
    let executed = counter.watched(Arc::new(observer)).execute(&scope).await;
    assert!(matches!(executed.report.status, RunStatus::Paused { .. }));
    assert_eq!(counter.bank.payments(), 0);
    let nodes = counter
        .store
        .nodes(
            Some(counter.run),
            interrupts::store::Page {
                after: 0,
                limit: 10,
            },
        )
        .await
        .unwrap();
    let paused = nodes.iter().map(|(_, row)| row.activity);
    assert!(paused.clone().count() == 2, "{nodes:?}");
    let all = paused
        .into_iter()
        .all(|activity| activity == interrupts::store::NodeActivity::Paused);
    assert!(all, "{nodes:?}");
}
