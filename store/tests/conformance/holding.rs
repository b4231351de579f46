//! Questions that a user's stop holds, and what becomes of them when it ends.

use interrupt_router::{InterruptId, InterruptType, StopSource};
use interrupts::life::{
    Admission, Choosing, ExpiryOutcome, Interrupt, Refusal, ReviewChange, Role, Scope, State,
    Verdict, WithdrawCause,
};
use interrupts::store::{ChangeError, Deciding, Run, Store};
use jiff::SignedDuration;

use crate::scene::{Scene, actor, choosing, delivery, person, question, shown};

pub(crate) fn stop(run: &Run, text: &str) -> Admission {
    Admission {
        interrupt_type: InterruptType::Pause,
        source: StopSource::User,
        scope: Scope::Run,
        on_expiry: ExpiryOutcome::Cancel,
        ..question(run, text)
    }
}

/// A pause that somebody is asked about.
pub(crate) async fn paused<S: Store>(scene: &Scene<S>, run: &Run, text: &str) -> Interrupt {
    let admitted = scene.admitted(stop(run, text)).await;
    let store = &scene.store;
    let taken = store.deliver(admitted.id, delivery("worker", 60)).await;
    let epoch = taken.unwrap().epoch;
    let cancelled = interrupts::life::Evidence::Cancelled;
    store
        .acknowledge(admitted.id, epoch, cancelled)
        .await
        .unwrap();
    let paused = store.require_review(admitted.id, epoch, shown()).await;
    paused.unwrap()
}

pub(crate) async fn hold<S: Store>(
    scene: &Scene<S>,
    question: &Interrupt,
    by: InterruptId,
) -> Result<Interrupt, ChangeError> {
    let question = scene.interrupt(question.id).await;
    let (system, change) = (actor(Role::System), ReviewChange::Hold { by });
    let held = scene
        .store
        .review(question.id, system, question.version, change);
    held.await
}

pub(crate) fn resume() -> Choosing {
    Choosing {
        verdict: Verdict::Resume,
        ..choosing(None)
    }
}

/// How a stop ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    Withdrawn,
    Decided,
    DecidedTogether,
    Expired,
    NeverDelivered,
}

/// Ends a stop in one of the ways that there are.
pub(crate) async fn end<S: Store>(scene: &Scene<S>, way: Way, stop: &Interrupt) {
    let (store, id) = (&scene.store, stop.id);
    match way {
        Way::Withdrawn => {
            let cause = WithdrawCause::Withdrawn;
            store
                .withdraw(id, actor(Role::Operator), cause)
                .await
                .unwrap();
        }
        Way::Decided => {
            store.decide(id, person(stop), resume()).await.unwrap();
        }
        Way::DecidedTogether => {
            let deciding = Deciding {
                interrupt: id,
                judge: person(stop),
                choosing: resume(),
                remember: None,
            };
            store.decide_together(vec![deciding]).await.unwrap();
        }
        Way::Expired => {
            scene.wait(100);
            assert_eq!(store.sweep(9).await.unwrap().expired, [id]);
        }
        Way::NeverDelivered => {
            for _attempt in 0..stop.most_attempts {
                let failed = store.fail_delivery(id, None, "no answer".to_owned());
                failed.await.unwrap();
            }
        }
    }
}

/// The ways in which a stop ends that has not taken hold.
pub(crate) const BEFORE_IT_TAKES_HOLD: [Way; 2] = [Way::Expired, Way::NeverDelivered];

pub(crate) const WAYS: [Way; 5] = [
    Way::Withdrawn,
    Way::Decided,
    Way::DecidedTogether,
    Way::Expired,
    Way::NeverDelivered,
];

pub(crate) async fn a_question_is_shown_again_in_the_transaction_that_ends_what_held_it<
    S: Store,
>(
    scene: Scene<S>,
) {
    for way in WAYS {
        let run = scene.run().await;
        let open = scene.awaiting(question(&run, format!("k, {way:?}"))).await;
        let pause = if BEFORE_IT_TAKES_HOLD.contains(&way) {
            let patient = Admission {
                patience: Some(SignedDuration::from_secs(50)),
                ..stop(&run, &format!("{way:?}"))
            };
            scene.admitted(patient).await
        } else {
            paused(&scene, &run, &format!("{way:?}")).await
        };
        hold(&scene, &open, pause.id).await.unwrap();
        scene.tells_transactions_apart();
        end(&scene, way, &pause).await;
        let (ended, shown) = (
            scene.audited_at(pause.id).await.pop().unwrap(),
            scene.audited_at(open.id).await.pop().unwrap(),
        );
        assert_eq!((ended.0, &*shown.1), (shown.0, "unhold"), "{way:?}");

        let after = scene.interrupt(open.id).await;
        assert_eq!(
            (after.held_by, after.state),
            (None, State::AwaitingReview),
            "{way:?}"
        );
        let decided = scene
            .store
            .decide(open.id, person(&after), choosing(None))
            .await;
        assert_eq!(decided.unwrap().state, State::Resolved, "{way:?}");
        assert!(
            scene
                .audited(open.id)
                .await
                .ends_with(&["unhold".into(), "decide".into()])
        );
        let _whole = scene.store.verify_audit().await.unwrap();
    }
}

pub(crate) async fn the_time_of_a_question_stands_still_while_it_is_held<S: Store>(
    scene: Scene<S>,
) {
    let run = scene.run().await;
    let asked = Admission {
        patience: Some(SignedDuration::from_secs(60)),
        on_expiry: ExpiryOutcome::Reject,
        ..question(&run, "k")
    };
    let open = scene.awaiting(asked.clone()).await;
    let first = paused(&scene, &run, "first").await;
    let second = paused(&scene, &run, "second").await;
    scene.wait(30);
    hold(&scene, &open, first.id).await.unwrap();
    let swept = async || scene.store.sweep(10).await.unwrap().expired;
    scene.wait(3_600);
    assert_eq!(swept().await, [], "nobody may answer it");
    end(&scene, Way::Decided, &first).await;
    scene.wait(3_600);
    assert_eq!(swept().await, [], "the other one holds it");
    end(&scene, Way::Decided, &second).await;
    scene.wait(29);
    assert_eq!(swept().await, [], "one second is left");
    let shown = scene.interrupt(open.id).await;
    let again = scene.store.admit(Admission {
        id: InterruptId::generate(),
        ..asked
    });
    let known = again.await.unwrap().into_interrupt();
    assert_eq!(known.id, open.id, "it was admitted with the same terms");
    let mut same = question(&run, "k");
    shown.keep_terms(&mut same);
    assert_eq!(same.patience, Some(SignedDuration::from_secs(60)));
    scene.wait(1);
    assert_eq!(swept().await, [open.id]);
    assert_eq!(scene.interrupt(open.id).await.state, State::Expired);
}

pub(crate) async fn another_stop_of_a_user_holds_on_where_one_ends<S: Store>(scene: Scene<S>) {
    let run = scene.run().await;
    let open = scene.awaiting(question(&run, "k")).await;
    let first = paused(&scene, &run, "first").await;
    let second = paused(&scene, &run, "second").await;
    hold(&scene, &open, first.id).await.unwrap();
    end(&scene, Way::Withdrawn, &first).await;
    let held = scene.interrupt(open.id).await;
    assert_eq!(held.held_by, Some(second.id));
    let refused = scene
        .store
        .decide(open.id, person(&held), choosing(None))
        .await;
    let by = second.id;
    assert_eq!(refused, Err(ChangeError::Refused(Refusal::Held { by })));
    end(&scene, Way::Decided, &second).await;
    assert_eq!(scene.interrupt(open.id).await.held_by, None);
}

pub(crate) async fn a_stop_of_one_agent_does_not_hold_on_to_anothers_question<S: Store>(
    scene: Scene<S>,
) {
    let run = scene.run().await;
    let open = scene.awaiting(question(&run, "k")).await;
    let pause = paused(&scene, &run, "all").await;
    let of_another = Admission {
        scope: Scope::Agent,
        node: open.node.child("below").unwrap(),
        ..stop(&run, "one")
    };
    scene.admitted(of_another).await;
    hold(&scene, &open, pause.id).await.unwrap();
    end(&scene, Way::Withdrawn, &pause).await;
    assert_eq!(scene.interrupt(open.id).await.held_by, None);
}

pub(crate) async fn what_has_ended_holds_nothing<S: Store>(scene: Scene<S>) {
    let run = scene.run().await;
    let open = scene.awaiting(question(&run, "k")).await;
    let pause = paused(&scene, &run, "pause").await;
    end(&scene, Way::Withdrawn, &pause).await;
    let by = pause.id;
    let refused = hold(&scene, &open, by).await;
    assert_eq!(refused, Err(ChangeError::Refused(Refusal::NotHeld { by })));
    assert_eq!(scene.interrupt(open.id).await, open);
}

pub(crate) async fn a_question_that_was_left_held_by_what_has_ended_can_be_decided<S: Store>(
    scene: Scene<S>,
) {
    for together in [false, true] {
        let run = scene.run().await;
        let open = scene.awaiting(question(&run, format!("k{together}"))).await;
        // As earlier versions left it: what holds the question ends, and nothing lets go of it.
        let system = Admission {
            source: StopSource::System,
            ..stop(&run, &format!("system{together}"))
        };
        hold(&scene, &open, system.id).await.unwrap();
        let stop = scene.admitted(system).await;
        end(&scene, Way::Withdrawn, &stop).await;
        let held = scene.interrupt(open.id).await;
        assert_eq!(held.held_by, Some(stop.id));
        let (store, judge) = (&scene.store, person(&held));
        let decided = if together {
            let deciding = Deciding {
                interrupt: open.id,
                judge,
                choosing: choosing(None),
                remember: None,
            };
            let decided = store.decide_together(vec![deciding]).await;
            decided.unwrap().remove(0)
        } else {
            store.decide(open.id, judge, choosing(None)).await.unwrap()
        };
        assert_eq!(decided.state, State::Resolved);
    }
}
