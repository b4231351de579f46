//! Delivering: leases, epochs, attempts, modes.

use interrupt_router::{InterruptType, StopMode};
use interrupts::life::{Refusal, Role, State, Verdict};
use interrupts::store::{ChangeError, RunError, Store};
use jiff::SignedDuration;

use crate::scene::{Scene, actor, asked, delivery, question, shown};

pub(crate) async fn a_delivery_fences_off_the_one_before<S: Store>(scene: Scene<S>) {
    let run = scene.run().await;
    let id = scene.admitted(question(&run, "k")).await.id;
    let store = &scene.store;
    store.deliver(id, delivery("first", 60)).await.unwrap();
    let mut lost = delivery("second", 60);
    lost.lost = Some(delivery("first", 0).owner);
    assert_eq!(store.deliver(id, lost).await.unwrap().epoch, 2);
    let fenced = Err(ChangeError::Refused(Refusal::Fenced {
        given: 1,
        current: 2,
    }));
    assert_eq!(store.acknowledge(id, 1, asked()).await, fenced);
    let longer = SignedDuration::from_secs(600);
    assert_eq!(store.renew(id, 1, longer).await, fenced);
    let failed = store.fail_delivery(id, Some(1), "late".to_owned()).await;
    assert_eq!(failed, fenced);
    store.acknowledge(id, 2, asked()).await.unwrap();
    assert_eq!(store.require_review(id, 1, shown()).await, fenced);
    assert!(store.require_review(id, 2, shown()).await.is_ok());
}

pub(crate) async fn a_lease_is_judged_by_the_clock_of_the_store<S: Store>(scene: Scene<S>) {
    let run = scene.run().await;
    let id = scene.admitted(question(&run, "k")).await.id;
    let store = &scene.store;
    store.deliver(id, delivery("first", 60)).await.unwrap();
    scene.wait(59);
    assert!(matches!(
        store.deliver(id, delivery("second", 60)).await,
        Err(ChangeError::Refused(Refusal::Leased { .. }))
    ));
    let renewed = store.renew(id, 1, SignedDuration::from_secs(60)).await;
    assert_eq!(renewed.unwrap().version, 2, "a renewal is no change");
    scene.wait(59);
    assert!(store.deliver(id, delivery("second", 60)).await.is_err());
    scene.wait(1);
    assert_eq!(
        store
            .deliver(id, delivery("second", 60))
            .await
            .unwrap()
            .epoch,
        2
    );
}

pub(crate) async fn the_last_failed_delivery_dead_letters_and_an_operator_redrives<S: Store>(
    scene: Scene<S>,
) {
    let run = scene.run().await;
    let id = scene.admitted(question(&run, "k")).await.id;
    let store = &scene.store;
    for epoch in 1..=3 {
        store.deliver(id, delivery("worker", 60)).await.unwrap();
        let failed = store.fail_delivery(id, Some(epoch), "no answer".to_owned());
        let state = failed.await.unwrap().state;
        assert_eq!(state == State::DeadLettered, epoch == 3);
    }
    let refused = store.redrive(id, actor(Role::Supervisor)).await;
    assert!(matches!(
        refused,
        Err(ChangeError::Refused(Refusal::Role { .. }))
    ));
    let again = store.redrive(id, actor(Role::Operator)).await.unwrap();
    assert_eq!((again.state, again.attempts), (State::Requested, 0));
    let delivered = store.deliver(id, delivery("worker", 60)).await.unwrap();
    assert_eq!(delivered.epoch, 4);
}

pub(crate) async fn a_spent_interrupt_is_dead_lettered_instead_of_delivered<S: Store>(
    scene: Scene<S>,
) {
    let run = scene.run().await;
    let id = scene.admitted(question(&run, "k")).await.id;
    let store = &scene.store;
    for _crash in 0..3 {
        store.deliver(id, delivery("worker", 60)).await.unwrap();
        scene.wait(60);
    }
    let dead = store.deliver(id, delivery("worker", 60)).await.unwrap();
    assert_eq!(dead.state, State::DeadLettered);
    assert_eq!(
        scene.audited(id).await,
        ["admit", "take", "take", "take", "delivery_failed"]
    );
}

pub(crate) async fn a_raised_mode_never_falls<S: Store>(scene: Scene<S>) {
    let run = scene.run().await;
    let mut pause = question(&run, "k");
    pause.interrupt_type = InterruptType::Pause;
    let id = scene.admitted(pause).await.id;
    for (asked, stands) in [
        (StopMode::Graceful, StopMode::Graceful),
        (StopMode::Immediate, StopMode::Immediate),
        (StopMode::Graceful, StopMode::Immediate),
    ] {
        let raised = scene.store.raise_mode(id, actor(Role::Supervisor), asked);
        let raised = raised.await.unwrap();
        assert_eq!((raised.mode, raised.state), (stands, State::Requested));
    }
    assert_eq!(scene.audited(id).await.len(), 4);
}

pub(crate) async fn a_clock_that_jumps_changes_only_when_things_end<S: Store>(scene: Scene<S>) {
    let run = scene.run().await;
    let store = &scene.store;
    let mut patient = question(&run, "patient");
    patient.patience = Some(SignedDuration::from_secs(100));
    let open = scene.awaiting(patient).await;
    // A day back: nothing expires, and a lease is neither lost nor shortened.
    scene.wait(-86_400);
    assert!(store.sweep(10).await.unwrap().expired.is_empty());
    let leased = run.lease.clone();
    let renewed = store.renew_run(run.id, 1, SignedDuration::from_secs(5));
    assert_eq!(renewed.await.unwrap().lease, leased);
    let thief = store.own_run(run.id, delivery("thief", 60)).await;
    assert!(matches!(thief, Err(RunError::Owned { .. })));
    scene.admitted(question(&run, "of yesterday")).await;
    // Two days on: what had a time limit ends as its policy says, and is not approved.
    scene.wait(2 * 86_400);
    assert_eq!(store.sweep(10).await.unwrap().expired, [open.id]);
    let decision = scene.interrupt(open.id).await.decision.unwrap();
    assert_ne!(decision.verdict, Verdict::Approve);
    let next = store.own_run(run.id, delivery("next", 60)).await.unwrap();
    assert_eq!(next.epoch, 2);
    store.verify_audit().await.unwrap();
}
