//! Requests for a stop that is under way, each with a key of its own.

use interrupt_router::{InterruptId, InterruptType, StopMode, StopSource};
use interrupts::life::{
    Admission, Evidence, Interrupt, Role, RunState, Scope, State, WithdrawCause,
};
use interrupts::store::{AdmitError, Admitted, NodeActivity, Run, Store};
use jiff::SignedDuration;

use crate::nodes::node;
use crate::scene::{Scene, actor, choosing, delivery, key, person, question, shown};

pub(crate) fn stop(run: &Run, text: &str, mode: StopMode) -> Admission {
    Admission {
        interrupt_type: InterruptType::Pause,
        scope: Scope::Run,
        mode,
        reason: "the same".to_owned(),
        ..question(run, text)
    }
}

pub(crate) async fn a_key_that_joined_a_stop_is_that_stops_from_then_on<S: Store>(scene: Scene<S>) {
    let run = scene.run().await;
    let first = scene
        .admitted(stop(&run, "first", StopMode::Graceful))
        .await;
    let second = stop(&run, "second", StopMode::Immediate);
    let joined = scene.store.join(second.clone()).await.unwrap();
    let Admitted::Known(joined) = joined else {
        panic!("{joined:?}")
    };
    assert_eq!((joined.id, joined.mode), (first.id, StopMode::Immediate));
    let found = scene.store.interrupt_of(&key("second")).await.unwrap();
    assert_eq!(found, Some(joined.clone()));
    assert_eq!(scene.audited(first.id).await, ["admit", "ask"]);

    // Sent again it is the same request, whatever became of the stop, and however it is sent.
    let store = &scene.store;
    store
        .deliver(first.id, delivery("worker", 60))
        .await
        .unwrap();
    let epoch = scene.interrupt(first.id).await.epoch;
    let done = store
        .acknowledge(first.id, epoch, Evidence::Cancelled)
        .await;
    let again = Admission {
        id: InterruptId::generate(),
        ..second
    };
    let known = Ok(Admitted::Known(done.unwrap()));
    assert_eq!(store.join(again.clone()).await, known);
    assert_eq!(store.admit(again.clone()).await, known);
    // With other content it is refused.
    let other = Admission {
        reason: "another".to_owned(),
        ..again
    };
    let refused = AdmitError::OtherContent {
        key: key("second"),
        interrupt: first.id,
    };
    assert_eq!(store.join(other.clone()).await, Err(refused.clone()));
    assert_eq!(store.admit(other).await, Err(refused));
}

/// The stop, once it has taken hold.
async fn takes_hold<S: Store>(scene: &Scene<S>, stop: &Interrupt) -> Interrupt {
    let store = &scene.store;
    let taken = store.deliver(stop.id, delivery("worker", 60)).await;
    let epoch = taken.unwrap().epoch;
    let done = store.acknowledge(stop.id, epoch, Evidence::Cancelled).await;
    assert_eq!(done.as_ref().unwrap().state, State::Acknowledged);
    done.unwrap()
}

/// The pause, once it waits for somebody to resume.
async fn waits<S: Store>(scene: &Scene<S>, pause: &Interrupt) -> Interrupt {
    let held = takes_hold(scene, pause).await;
    let opened = scene.store.require_review(held.id, held.epoch, shown());
    opened.await.unwrap()
}

pub(crate) async fn what_joins_a_pause_that_waits_to_be_resumed_is_that_pause<S: Store>(
    scene: Scene<S>,
) {
    let run = scene.run().await;
    let first = scene
        .admitted(stop(&run, "first", StopMode::Graceful))
        .await;
    takes_hold(&scene, &first).await;
    let late = scene.store.join(stop(&run, "late", StopMode::Graceful));
    let late = late.await.unwrap();
    assert!(
        matches!(&late, Admitted::Known(it) if it.id == first.id),
        "{late:?}"
    );
    let held = scene.interrupt(first.id).await;
    let opened = scene.store.require_review(held.id, held.epoch, shown());
    let waits = opened.await.unwrap();
    // It stands where it stood, and is that of one more.
    let person = Admission {
        source: StopSource::User,
        requested_by: actor(Role::Supervisor),
        ..stop(&run, "later", StopMode::Immediate)
    };
    let later = scene.store.join(person).await.unwrap().into_interrupt();
    assert_eq!((later.id, later.state), (first.id, State::AwaitingReview));
    assert_eq!(later.source, StopSource::User);
    assert_eq!((waits.askings().len(), later.askings().len()), (1, 2));
}

pub(crate) async fn what_joins_a_stop_that_was_carried_out_is_a_stop_of_its_own<S: Store>(
    scene: Scene<S>,
) {
    let run = scene.run().await;
    let first = scene
        .admitted(stop(&run, "first", StopMode::Graceful))
        .await;
    let waits = waits(&scene, &first).await;
    let resumed = scene.store.decide(waits.id, person(&waits), choosing(None));
    let resumed = resumed.await;
    assert!(!resumed.unwrap().state.is_live());
    let late = scene.store.join(stop(&run, "late", StopMode::Immediate));
    let Admitted::New(late) = late.await.unwrap() else {
        panic!("it was carried out")
    };
    assert_eq!(scene.interrupt(first.id).await.mode, StopMode::Graceful);
    let again = scene.store.join(stop(&run, "again", StopMode::Graceful));
    assert_eq!(again.await.unwrap().into_interrupt().id, late.id);
}

pub(crate) async fn what_an_agent_has_raised_is_no_stop_to_join<S: Store>(scene: Scene<S>) {
    let run = scene.run().await;
    let raised = Admission {
        scope: Scope::Agent,
        ..stop(&run, &format!("{}/root", run.id), StopMode::Graceful)
    };
    let own = scene.awaiting(raised).await;
    assert!(own.is_raised_by_agent());
    let asked = Admission {
        scope: Scope::Agent,
        ..stop(&run, "from outside", StopMode::Graceful)
    };
    let Admitted::New(asked) = scene.store.join(asked).await.unwrap() else {
        panic!("its run waits on it, and is not paused by it")
    };
    assert_eq!(scene.interrupt(own.id).await.askings().len(), 1);
    assert!(asked.pauses_run());
}

pub(crate) async fn what_differs_from_the_stop_under_way_is_a_stop_of_its_own<S: Store>(
    scene: Scene<S>,
) {
    let (run, another) = (scene.run().await, scene.run().await);
    let first = scene
        .admitted(stop(&run, "first", StopMode::Graceful))
        .await;
    let same = |text: &str| stop(&run, text, StopMode::Immediate);
    let below = first.node.child("below").unwrap();
    let others = [
        Admission {
            interrupt_type: InterruptType::Stop,
            ..same("of another type")
        },
        Admission {
            scope: Scope::Agent,
            ..same("of the agent alone")
        },
        Admission {
            scope: Scope::Agent,
            node: below.clone(),
            ..same("of another agent")
        },
        stop(&another, "of another run", StopMode::Immediate),
    ];
    for other in others {
        let key = other.key.clone();
        let joined = scene.store.join(other).await.unwrap();
        let is_new = matches!(&joined, Admitted::New(it) if it.id != first.id);
        assert!(is_new, "{key}: {joined:?}");
    }
    assert_eq!(scene.interrupt(first.id).await, first);
    // The whole run is the whole run, whichever of its agents is named.
    let whole = Admission {
        node: below,
        ..same("of all of it")
    };
    let joined = scene.store.join(whole).await.unwrap();
    assert_eq!(joined.into_interrupt().id, first.id);
}

pub(crate) async fn what_joins_a_stop_of_an_agent_that_has_ended_is_refused_once_that_is_over<
    S: Store,
>(
    scene: Scene<S>,
) {
    let run = scene.run().await;
    let ended = node(&run, "agent", NodeActivity::Completed);
    let of_agent = |text: &str| Admission {
        scope: Scope::Agent,
        node: ended.node.clone(),
        ..stop(&run, text, StopMode::Graceful)
    };
    let first = scene.admitted(of_agent("first")).await;
    let store = &scene.store;
    store
        .put_nodes(run.id, 1, vec![ended.clone()])
        .await
        .unwrap();
    let withdrawn = store.withdraw(first.id, actor(Role::System), WithdrawCause::NodeEnded);
    withdrawn.await.unwrap();
    let refused = AdmitError::NodeEnded {
        node: ended.node.clone(),
        activity: NodeActivity::Completed,
    };
    assert_eq!(store.join(of_agent("late")).await, Err(refused));
    assert_eq!(store.interrupt_of(&key("late")).await, Ok(None));
}

pub(crate) async fn a_key_that_joined_is_forgotten_with_its_run<S: Store>(scene: Scene<S>) {
    let run = scene.run().await;
    scene
        .admitted(stop(&run, "first", StopMode::Graceful))
        .await;
    let second = stop(&run, "second", StopMode::Graceful);
    scene.store.join(second).await.unwrap();
    for state in [RunState::Running, RunState::Completed] {
        scene
            .store
            .change_run(run.id, 1, state, None)
            .await
            .unwrap();
    }
    scene.wait(100);
    scene
        .store
        .purge(SignedDuration::from_secs(50))
        .await
        .unwrap();
    for text in ["first", "second"] {
        assert_eq!(
            scene.store.interrupt_of(&key(text)).await,
            Ok(None),
            "{text}"
        );
    }
    // Whoever uses it next asks for something else.
    let next = scene.run().await;
    scene
        .admitted(stop(&next, "second", StopMode::Graceful))
        .await;
}
