//! Deciding: once, to the right place, with its reroute.

use interrupt_router::reroute::{CancelCause, RerouteState};
use interrupt_router::{InterruptId, NodeId};
use interrupts::life::{
    Admission, Decider, ExpiryOutcome, Judge, Notice, Refusal, ReviewChange, Role, RunState, State,
    Verdict, WithdrawCause,
};
use interrupts::store::{ChangeError, Notification, RerouteRow, Store};
use jiff::SignedDuration;

use crate::scene::{
    ALL, Scene, actor, asked, choosing, delivery, event, person, question, rerouting, route, shown,
};

async fn reroute<S: Store>(scene: &Scene<S>, id: &str) -> RerouteRow {
    scene.store.reroute(&event(id)).await.unwrap().unwrap()
}

/// How many dispatches of an interrupt were told.
async fn dispatches<S: Store>(scene: &Scene<S>, id: InterruptId) -> usize {
    let told = scene.store.outbox(ALL).await.unwrap();
    told.iter()
        .filter(|row| {
            matches!(&row.notification, Notification::Interrupt {
                interrupt, notice: Notice::Dispatch { .. }, ..
            } if *interrupt == id)
        })
        .count()
}

pub(crate) async fn a_decision_consumes_the_bound_reroute_and_is_dispatched_once<S: Store>(
    scene: Scene<S>,
) {
    let run = scene.run().await;
    let asked_for = scene.admitted(rerouting(&run, "e", "OTHER")).await;
    let store = &scene.store;
    let id = asked_for.id;
    let epoch = store
        .deliver(id, delivery("worker", 60))
        .await
        .unwrap()
        .epoch;
    assert_eq!(reroute(&scene, "e").await.state, RerouteState::Pending);
    store.acknowledge(id, epoch, asked()).await.unwrap();
    let bound = RerouteState::Bound { interrupt: id };
    assert_eq!(reroute(&scene, "e").await.state, bound);
    let open = store.require_review(id, epoch, shown()).await.unwrap();
    let choice = choosing(None);
    let decided = store.decide(id, person(&open), choice.clone()).await;
    let decided = decided.unwrap();
    assert_eq!(decided.state, State::Rerouted);
    let decision = decided.decision.unwrap();
    assert_eq!(decision.target, route("OTHER"));
    let consumed = RerouteState::Consumed {
        interrupt: id,
        decision: choice.id,
    };
    assert_eq!(reroute(&scene, "e").await.state, consumed);
    assert_eq!(dispatches(&scene, id).await, 1);
    let entry = store.effect(decision.effect).await.unwrap().unwrap();
    assert_eq!(entry.result, None);
    assert!(entry.intent.content.contains("OTHER"));
}

pub(crate) async fn a_decision_may_be_submitted_again_and_another_one_is_told_the_winner<
    S: Store,
>(
    scene: Scene<S>,
) {
    let run = scene.run().await;
    let open = scene.awaiting(question(&run, "k")).await;
    let choice = choosing(Some("OTHER"));
    let first = scene
        .store
        .decide(open.id, person(&open), choice.clone())
        .await
        .unwrap();
    let again = scene
        .store
        .decide(open.id, person(&open), choice.clone())
        .await
        .unwrap();
    assert_eq!(first, again);
    let other = scene
        .store
        .decide(open.id, person(&open), choosing(None))
        .await;
    let Err(ChangeError::Refused(Refusal::Ended {
        decision: Some(winner),
        ..
    })) = other
    else {
        panic!("{other:?}");
    };
    assert_eq!(winner.id, choice.id);
    let mut forged = choice;
    forged.verdict = Verdict::Respond;
    forged.target = None;
    let forged = scene.store.decide(open.id, person(&open), forged).await;
    assert!(
        forged.is_err(),
        "the same id with another content is another decision"
    );
    assert_eq!(dispatches(&scene, open.id).await, 1);
}

pub(crate) async fn a_person_may_choose_another_target_than_the_bound_one<S: Store>(
    scene: Scene<S>,
) {
    let run = scene.run().await;
    scene.admitted(rerouting(&run, "e", "OTHER")).await;
    let open = scene.awaiting(question(&run, "k")).await;
    let choice = choosing(Some("THIRD"));
    let decided = scene
        .store
        .decide(open.id, person(&open), choice.clone())
        .await
        .unwrap();
    assert_eq!(decided.decision.unwrap().target, route("THIRD"));
    let consumed = RerouteState::Consumed {
        interrupt: open.id,
        decision: choice.id,
    };
    assert_eq!(reroute(&scene, "e").await.state, consumed);
    let chosen = reroute(&scene, &choice.id.to_string()).await;
    assert_eq!((chosen.state, chosen.target), (consumed, route("THIRD")));
}

pub(crate) async fn a_policy_decides_what_needs_nobody<S: Store>(scene: Scene<S>) {
    let run = scene.run().await;
    let raised = scene.raised(question(&run, "k")).await;
    let old = Judge::Policy { epoch: 0 };
    let refused = scene.store.decide(raised.id, old, choosing(None)).await;
    assert!(matches!(
        refused,
        Err(ChangeError::Refused(Refusal::Fenced { .. }))
    ));
    let judge = Judge::Policy {
        epoch: raised.epoch,
    };
    let decided = scene.store.decide(raised.id, judge, choosing(None)).await;
    let decided = decided.unwrap();
    assert_eq!(decided.state, State::Resolved);
    assert_eq!(decided.decision.unwrap().by, Decider::Policy);
}

pub(crate) async fn a_held_question_waits_for_the_users_interrupt<S: Store>(scene: Scene<S>) {
    let run = scene.run().await;
    let open = scene.awaiting(question(&run, "k")).await;
    let by = InterruptId::generate();
    let system = actor(Role::System);
    let hold = ReviewChange::Hold { by };
    let held = scene
        .store
        .review(open.id, system.clone(), open.version, hold)
        .await
        .unwrap();
    let refused = scene
        .store
        .decide(open.id, person(&held), choosing(None))
        .await;
    assert_eq!(refused, Err(ChangeError::Refused(Refusal::Held { by })));
    let stale = ReviewChange::Unhold { by };
    let refused = scene
        .store
        .review(open.id, system.clone(), open.version, stale.clone())
        .await;
    assert!(matches!(
        refused,
        Err(ChangeError::Refused(Refusal::StaleVersion { .. }))
    ));
    let shown_again = scene
        .store
        .review(open.id, system, held.version, stale)
        .await
        .unwrap();
    let decided = scene
        .store
        .decide(open.id, person(&shown_again), choosing(None))
        .await;
    assert!(decided.is_ok());
}

pub(crate) async fn a_newer_reroute_supersedes_a_pending_one_and_waits_beside_a_bound_one<
    S: Store,
>(
    scene: Scene<S>,
) {
    let run = scene.run().await;
    scene.admitted(rerouting(&run, "first", "OTHER")).await;
    scene.admitted(rerouting(&run, "second", "THIRD")).await;
    let superseded = RerouteState::Superseded {
        by: event("second"),
    };
    assert_eq!(reroute(&scene, "first").await.state, superseded);
    let raised = scene.raised(question(&run, "k")).await;
    assert_eq!(
        raised.bound.as_ref().map(|bound| bound.event.as_str()),
        Some("second")
    );
    scene.admitted(rerouting(&run, "third", "OTHER")).await;
    assert_eq!(reroute(&scene, "third").await.state, RerouteState::Pending);
    let beside = scene.raised(question(&run, "l")).await;
    assert_eq!(beside.bound, None, "one is bound for each node");
}

pub(crate) async fn a_run_that_ends_leaves_no_reroute_that_waits<S: Store>(scene: Scene<S>) {
    let run = scene.run().await;
    let store = &scene.store;
    // One is bound to a question, one waits beside it, and one was released by a question that was withdrawn.
    scene.admitted(rerouting(&run, "bound", "OTHER")).await;
    scene.raised(question(&run, "k")).await;
    scene.admitted(rerouting(&run, "beside", "THIRD")).await;
    let elsewhere = NodeId::root().child("elsewhere").unwrap();
    let at = |mut admission: Admission| {
        admission.node = elsewhere.clone();
        admission
    };
    scene
        .admitted(at(rerouting(&run, "released", "OTHER")))
        .await;
    let raised = scene.raised(at(question(&run, "l"))).await;
    let supervisor = actor(Role::Supervisor);
    let cause = WithdrawCause::Withdrawn;
    store.withdraw(raised.id, supervisor, cause).await.unwrap();
    assert_eq!(
        reroute(&scene, "released").await.state,
        RerouteState::Pending
    );
    let cancelled = RunState::Cancelled;
    let epoch = run.epoch;
    store
        .change_run(run.id, epoch, cancelled, None)
        .await
        .unwrap();
    let told = store.outbox(ALL).await.unwrap();
    for name in ["bound", "released"] {
        let ended = reroute(&scene, name).await.state;
        let is_cancelled = matches!(ended, RerouteState::Cancelled { .. });
        assert!(is_cancelled, "{name}: {ended:?}");
        let is_told = told.iter().any(|row| {
            matches!(&row.notification, Notification::Reroute { event, reroute, .. }
                if event.as_str() == name && *reroute == ended)
        });
        assert!(is_told, "the publisher of {name}");
    }
    let beside = reroute(&scene, "beside").await.state;
    assert!(beside.is_final(), "{beside:?}");
}

pub(crate) async fn a_reroute_that_is_given_up_takes_the_interrupt_of_its_event_with_it<
    S: Store,
>(
    scene: Scene<S>,
) {
    let run = scene.run().await;
    let (store, node) = (&scene.store, NodeId::root());
    let state = async |id| store.interrupt(id).await.unwrap().unwrap().state;
    let first = scene.admitted(rerouting(&run, "first", "OTHER")).await;
    let second = scene.admitted(rerouting(&run, "second", "THIRD")).await;
    assert_eq!(state(first.id).await, State::Cancelled, "superseded");
    assert_eq!(state(second.id).await, State::Requested);
    store.node_ended(run.id, &node).await.unwrap();
    assert_eq!(state(second.id).await, State::Cancelled, "its node ended");
    let ignored = scene.admitted(rerouting(&run, "ignored", "OTHER")).await;
    for _turn in 0..3 {
        store.turn_ignored(run.id, &node).await.unwrap();
    }
    assert_eq!(state(ignored.id).await, State::Cancelled, "it was ignored");
    let late = scene.admitted(rerouting(&run, "late", "OTHER")).await;
    scene.wait(3_600);
    assert_eq!(store.expire_reroutes(10).await.unwrap().len(), 1);
    assert_eq!(state(late.id).await, State::Cancelled, "its time passed");
}

pub(crate) async fn a_reroute_whose_interrupt_was_withdrawn_takes_hold_of_no_other<S: Store>(
    scene: Scene<S>,
) {
    let run = scene.run().await;
    let asked_for = scene.admitted(rerouting(&run, "e", "OTHER")).await;
    let supervisor = actor(Role::Supervisor);
    let withdrawn = WithdrawCause::Withdrawn;
    scene
        .store
        .withdraw(asked_for.id, supervisor, withdrawn)
        .await
        .unwrap();
    let cause = CancelCause::InterruptEnded;
    let cancelled = RerouteState::Cancelled { cause };
    assert_eq!(reroute(&scene, "e").await.state, cancelled);
    assert_eq!(scene.raised(question(&run, "k")).await.bound, None);
}

pub(crate) async fn a_withdrawn_interrupt_lets_its_reroute_wait_again<S: Store>(scene: Scene<S>) {
    let run = scene.run().await;
    scene.admitted(rerouting(&run, "e", "OTHER")).await;
    let raised = scene.raised(question(&run, "k")).await;
    scene
        .store
        .withdraw(raised.id, actor(Role::Supervisor), WithdrawCause::Withdrawn)
        .await
        .unwrap();
    assert_eq!(reroute(&scene, "e").await.state, RerouteState::Pending);
    let next = scene.raised(question(&run, "l")).await;
    assert_eq!(
        next.bound.map(|bound| bound.event.as_str().to_owned()),
        Some("e".to_owned())
    );
}

pub(crate) async fn a_released_reroute_gives_way_to_a_newer_one<S: Store>(scene: Scene<S>) {
    let run = scene.run().await;
    scene.admitted(rerouting(&run, "older", "OTHER")).await;
    let raised = scene.raised(question(&run, "k")).await;
    scene.admitted(rerouting(&run, "newer", "THIRD")).await;
    let system = actor(Role::System);
    scene
        .store
        .withdraw(raised.id, system, WithdrawCause::NodeEnded)
        .await
        .unwrap();
    let superseded = RerouteState::Superseded { by: event("newer") };
    assert_eq!(reroute(&scene, "older").await.state, superseded);
    let next = scene.raised(question(&run, "l")).await;
    assert_eq!(next.bound.map(|bound| bound.target), Some(route("THIRD")));
}

pub(crate) async fn a_reroute_ends_with_its_node_its_time_or_its_patience<S: Store>(
    scene: Scene<S>,
) {
    let run = scene.run().await;
    let (store, node) = (&scene.store, NodeId::root());
    scene.admitted(rerouting(&run, "ended", "OTHER")).await;
    let ended = store.node_ended(run.id, &node).await.unwrap().unwrap();
    let cause = CancelCause::NodeEnded;
    assert_eq!(ended.state, RerouteState::Cancelled { cause });
    assert_eq!(store.node_ended(run.id, &node).await, Ok(None));

    scene.admitted(rerouting(&run, "ignored", "OTHER")).await;
    for _turn in 0..2 {
        assert_eq!(store.turn_ignored(run.id, &node).await, Ok(None));
    }
    let ignored = store.turn_ignored(run.id, &node).await.unwrap().unwrap();
    let cause = CancelCause::Ignored;
    assert_eq!(ignored.state, RerouteState::Cancelled { cause });
    assert_eq!(store.turn_ignored(run.id, &node).await, Ok(None));

    scene.admitted(rerouting(&run, "late", "OTHER")).await;
    scene.wait(3_599);
    assert_eq!(store.expire_reroutes(10).await, Ok(Vec::new()));
    scene.wait(1);
    let expired = store.expire_reroutes(10).await.unwrap();
    assert_eq!(expired[0].state, RerouteState::Expired);
    assert_eq!(store.expire_reroutes(10).await, Ok(Vec::new()));

    // Nobody swept, and yet it is not bound.
    scene.admitted(rerouting(&run, "unswept", "OTHER")).await;
    scene.wait(3_600);
    assert_eq!(scene.raised(question(&run, "k")).await.bound, None);
    assert_eq!(
        reroute(&scene, "unswept").await.state,
        RerouteState::Expired
    );
}

pub(crate) async fn a_deadline_ends_in_the_policys_outcome_and_never_in_approval<S: Store>(
    scene: Scene<S>,
) {
    let run = scene.run().await;
    let mut outcomes = Vec::new();
    let reroute_to = ExpiryOutcome::Reroute {
        target: route("THIRD"),
    };
    for (number, on_expiry) in [ExpiryOutcome::Reject, ExpiryOutcome::Cancel, reroute_to]
        .into_iter()
        .enumerate()
    {
        let mut patient = question(&run, format!("k{number}"));
        patient.patience = Some(SignedDuration::from_secs(60));
        patient.on_expiry = on_expiry;
        outcomes.push(scene.awaiting(patient).await.id);
    }
    let waits_for_ever = scene.awaiting(question(&run, "patient")).await;
    scene.wait(59);
    assert!(scene.store.sweep(10).await.unwrap().expired.is_empty());
    scene.wait(1);
    let late = scene.interrupt(outcomes[0]).await;
    let refused = scene
        .store
        .decide(late.id, person(&late), choosing(None))
        .await;
    assert!(matches!(
        refused,
        Err(ChangeError::Refused(Refusal::DeadlinePassed { .. }))
    ));
    let mut expired = scene.store.sweep(10).await.unwrap().expired;
    expired.sort();
    assert_eq!(expired, outcomes);
    let mut verdicts = Vec::new();
    for id in outcomes {
        let ended = scene.interrupt(id).await;
        assert_eq!(ended.state, State::Expired);
        verdicts.push(ended.decision.unwrap().verdict);
        assert_eq!(dispatches(&scene, id).await, 1);
    }
    assert_eq!(
        verdicts,
        [Verdict::Reject, Verdict::Cancel, Verdict::Reroute]
    );
    let still = scene.interrupt(waits_for_ever.id).await;
    assert_eq!(still.state, State::AwaitingReview);
}
