//! Reroutes: stored, superseded, bound, consumed once, expired.

use std::sync::Arc;

use interrupt_router::reroute::{
    CancelCause, ConsumeError, InMemoryReroutes, PendingReroutes, RerouteChange, RerouteLimits,
    RerouteState, StoreError, Stored,
};
use interrupt_router::{DecisionId, EventId, InterruptId, RunId};
use jiff::{SignedDuration, Timestamp};
use proptest::prelude::*;

use crate::domain::{Desk, Person, event, node};

const NOW: Timestamp = Timestamp::UNIX_EPOCH;

fn store() -> InMemoryReroutes<Person> {
    InMemoryReroutes::new(RerouteLimits {
        lifetime: SignedDuration::from_secs(60),
        ignored_turns: 2,
    })
}

async fn state(store: &InMemoryReroutes<Person>, id: &str) -> RerouteState {
    let id = EventId::try_from(id.to_owned()).unwrap();
    store.fate(&id).await.unwrap().unwrap().state
}

#[tokio::test]
async fn the_same_event_is_stored_once_and_its_id_with_other_content_is_refused() {
    let (store, run) = (store(), RunId::generate());
    let first = event("e1", "root/editor", Some(Desk::Writer));
    assert_eq!(
        store.store(run, first.clone(), NOW).await,
        Ok(Stored::Pending { superseded: None })
    );
    assert_eq!(store.store(run, first, NOW).await, Ok(Stored::AlreadyThere));
    let other = event("e1", "root/editor", Some(Desk::Publisher));
    assert!(matches!(
        store.store(run, other, NOW).await,
        Err(StoreError::OtherContent { .. })
    ));
}

#[tokio::test]
async fn a_newer_event_supersedes_a_pending_one_and_waits_beside_a_bound_one() {
    let (store, run, interrupt) = (store(), RunId::generate(), InterruptId::generate());
    let editor = node("root/editor");
    store
        .store(run, event("e1", "root/editor", None), NOW)
        .await
        .unwrap();
    let stored = store
        .store(run, event("e2", "root/editor", Some(Desk::Writer)), NOW)
        .await
        .unwrap();
    let first = EventId::try_from("e1".to_owned()).unwrap();
    assert_eq!(
        stored,
        Stored::Pending {
            superseded: Some(first)
        }
    );

    let bound = store
        .bind(run, &editor, interrupt, NOW)
        .await
        .unwrap()
        .unwrap();
    assert_eq!(bound.event_id.as_str(), "e2");
    let third = store
        .store(run, event("e3", "root/editor", None), NOW)
        .await
        .unwrap();
    assert_eq!(third, Stored::Pending { superseded: None });
    assert_eq!(state(&store, "e2").await, RerouteState::Bound { interrupt });
    // Another interrupt of the node while one is bound leaves the third where it is.
    assert_eq!(
        store.bind(run, &editor, InterruptId::generate(), NOW).await,
        Ok(None)
    );
    assert_eq!(state(&store, "e3").await, RerouteState::Pending);
}

#[tokio::test]
async fn a_released_reroute_is_pending_again_unless_a_newer_one_waits() {
    let (store, run, interrupt) = (store(), RunId::generate(), InterruptId::generate());
    store
        .store(run, event("e1", "root/editor", None), NOW)
        .await
        .unwrap();
    store
        .bind(run, &node("root/editor"), interrupt, NOW)
        .await
        .unwrap();
    store.release(interrupt).await.unwrap();
    assert_eq!(state(&store, "e1").await, RerouteState::Pending);

    store
        .bind(run, &node("root/editor"), interrupt, NOW)
        .await
        .unwrap();
    store
        .store(run, event("e2", "root/editor", None), NOW)
        .await
        .unwrap();
    store.release(interrupt).await.unwrap();
    let by = EventId::try_from("e2".to_owned()).unwrap();
    assert_eq!(state(&store, "e1").await, RerouteState::Superseded { by });
}

#[tokio::test]
async fn a_reroute_expires_is_ignored_and_ends_with_its_node() {
    let (store, run) = (store(), RunId::generate());
    store
        .store(run, event("late", "root/a", None), NOW)
        .await
        .unwrap();
    let later = NOW + SignedDuration::from_secs(60);
    assert_eq!(
        store
            .bind(run, &node("root/a"), InterruptId::generate(), later)
            .await,
        Ok(None)
    );
    assert_eq!(state(&store, "late").await, RerouteState::Expired);

    store
        .store(run, event("ignored", "root/b", None), NOW)
        .await
        .unwrap();
    assert_eq!(store.turn_ignored(run, &node("root/b")).await, Ok(None));
    assert!(
        store
            .turn_ignored(run, &node("root/b"))
            .await
            .unwrap()
            .is_some()
    );
    assert_eq!(
        state(&store, "ignored").await,
        RerouteState::Cancelled {
            cause: CancelCause::Ignored
        }
    );

    store
        .store(run, event("ended", "root/c", None), NOW)
        .await
        .unwrap();
    assert_eq!(
        store.node_ended(run, &node("root/c")).await.unwrap().len(),
        1
    );
    assert_eq!(
        state(&store, "ended").await,
        RerouteState::Cancelled {
            cause: CancelCause::NodeEnded
        }
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_many_decisions_that_race_one_consumes_the_reroute() {
    for _ in 0..200 {
        let (store, run, interrupt) = (
            Arc::new(store()),
            RunId::generate(),
            InterruptId::generate(),
        );
        store
            .store(run, event("e1", "root/editor", None), NOW)
            .await
            .unwrap();
        store
            .bind(run, &node("root/editor"), interrupt, NOW)
            .await
            .unwrap();
        let racers: Vec<_> = (0..8)
            .map(|_| {
                let store = Arc::clone(&store);
                tokio::spawn(async move { store.consume(interrupt, DecisionId::generate()).await })
            })
            .collect();
        let mut won = 0;
        for racer in racers {
            match racer.await.unwrap() {
                Ok(_) => won += 1,
                Err(ConsumeError::AlreadyConsumed { .. }) => {}
                Err(other) => panic!("{other}"),
            }
        }
        assert_eq!(won, 1);
    }
}

#[tokio::test]
async fn only_its_own_node_in_its_own_run_takes_a_reroute() {
    let (store, run, interrupt) = (store(), RunId::generate(), InterruptId::generate());
    store
        .store(run, event("e1", "root/editor", None), NOW)
        .await
        .unwrap();
    let (other_run, other_node) = (RunId::generate(), node("root/writer"));
    let strangers = [(other_run, node("root/editor")), (run, other_node)];
    for (run, node) in &strangers {
        let stranger = InterruptId::generate();
        assert_eq!(store.bind(*run, node, stranger, NOW).await, Ok(None));
        assert_eq!(store.turn_ignored(*run, node).await, Ok(None));
        assert_eq!(store.turn_ignored(*run, node).await, Ok(None));
        assert_eq!(store.node_ended(*run, node).await, Ok(Vec::new()));
    }
    assert_eq!(state(&store, "e1").await, RerouteState::Pending);

    // What is bound in one place keeps nobody elsewhere from binding.
    let bound = store.bind(run, &node("root/editor"), interrupt, NOW).await;
    assert!(bound.unwrap().is_some());
    for (number, (run, node)) in strangers.iter().enumerate() {
        let theirs = event(&format!("theirs{number}"), node.as_str(), None);
        store.store(*run, theirs, NOW).await.unwrap();
        let bound = store.bind(*run, node, InterruptId::generate(), NOW).await;
        assert!(bound.unwrap().is_some(), "{node}");
    }
}

#[tokio::test]
async fn binding_and_consuming_again_change_nothing() {
    let (store, run, interrupt) = (store(), RunId::generate(), InterruptId::generate());
    let (editor, decision) = (node("root/editor"), DecisionId::generate());
    let first = event("e1", "root/editor", None);
    store.store(run, first.clone(), NOW).await.unwrap();
    for _ in 0..2 {
        let bound = store.bind(run, &editor, interrupt, NOW).await;
        assert_eq!(bound, Ok(Some(first.clone())));
    }
    for _ in 0..2 {
        let consumed = store.consume(interrupt, decision).await;
        assert_eq!(consumed, Ok(first.event_id.clone()));
    }
    let bound = store.bind(run, &editor, interrupt, NOW).await;
    assert_eq!(bound, Ok(Some(first)), "a retry sees another target");
    assert_eq!(
        state(&store, "e1").await,
        RerouteState::Consumed {
            interrupt,
            decision
        }
    );
}

#[tokio::test]
async fn what_has_waited_too_long_expires_once_and_is_not_superseded() {
    let (store, run) = (store(), RunId::generate());
    let late = |seconds| NOW + SignedDuration::from_secs(seconds);
    store
        .store(run, event("replaced", "root/b", None), NOW)
        .await
        .unwrap();
    assert_eq!(store.expire(late(59)).await, Ok(Vec::new()));
    let newer = event("newer", "root/b", None);
    assert_eq!(
        store.store(run, newer, late(60)).await,
        Ok(Stored::Pending { superseded: None })
    );
    assert_eq!(state(&store, "replaced").await, RerouteState::Expired);

    let interrupt = InterruptId::generate();
    store
        .store(run, event("bound", "root/c", None), late(60))
        .await
        .unwrap();
    store
        .bind(run, &node("root/c"), interrupt, late(60))
        .await
        .unwrap();
    let newer = EventId::try_from("newer".to_owned()).unwrap();
    assert_eq!(store.expire(late(1000)).await, Ok(vec![newer]));
    assert_eq!(store.expire(late(1000)).await, Ok(Vec::new()));
    assert_eq!(
        state(&store, "bound").await,
        RerouteState::Bound { interrupt },
        "what an interrupt has taken does not expire"
    );
}

#[test]
fn only_a_pending_reroute_is_given_up_and_only_a_bound_one_used_or_released() {
    let (interrupt, decision) = (InterruptId::generate(), DecisionId::generate());
    let (by, cause) = (EventId::generate(), CancelCause::NodeEnded);
    let bound = RerouteState::Bound { interrupt };
    let table = [
        (RerouteChange::Bind(interrupt), Some(bound.clone()), None),
        (RerouteChange::Expire, Some(RerouteState::Expired), None),
        (
            RerouteChange::Supersede(by.clone()),
            Some(RerouteState::Superseded { by }),
            None,
        ),
        (
            RerouteChange::Cancel(cause),
            Some(RerouteState::Cancelled { cause }),
            None,
        ),
        (
            RerouteChange::Consume(decision),
            None,
            Some(RerouteState::Consumed {
                interrupt,
                decision,
            }),
        ),
        (RerouteChange::Release, None, Some(RerouteState::Pending)),
    ];
    for (change, of_pending, of_bound) in table {
        assert_eq!(
            RerouteState::Pending.after(change.clone()).ok(),
            of_pending,
            "{change:?}"
        );
        assert_eq!(bound.after(change.clone()).ok(), of_bound, "{change:?}");
    }
}

fn changes() -> impl Strategy<Value = RerouteChange> {
    prop_oneof![
        Just(RerouteChange::Bind(InterruptId::generate())),
        Just(RerouteChange::Consume(DecisionId::generate())),
        Just(RerouteChange::Release),
        Just(RerouteChange::Expire),
        Just(RerouteChange::Supersede(EventId::generate())),
        Just(RerouteChange::Cancel(CancelCause::Ignored)),
    ]
}

proptest! {
    #[test]
    fn a_final_state_takes_no_change_and_consuming_needs_a_binding(
        steps in proptest::collection::vec(changes(), 1..24),
    ) {
        let mut state = RerouteState::Pending;
        for change in steps {
            let before = state.clone();
            let consumes = matches!(change, RerouteChange::Consume(_));
            match before.after(change) {
                Ok(after) => {
                    prop_assert!(!before.is_final());
                    let bound = matches!(before, RerouteState::Bound { .. });
                    prop_assert!(!consumes || bound);
                    state = after;
                }
                Err(refused) => prop_assert_eq!(refused.state, before),
            }
        }
    }
}
