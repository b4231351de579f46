//! Reroutes: stored, superseded, bound, consumed once, expired.

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use proptest::prelude::*;
use routing_core::reroute::{
    CancelCause, ConsumeError, InMemoryReroutes, PendingReroutes, RerouteChange, RerouteLimits,
    RerouteState, StoreError, Stored,
};
use routing_core::{DecisionId, EventId, InterruptId, RunId};

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
