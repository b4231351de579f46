//! What a paused run is that nobody executes, once its pause has ended.

use interrupt_router::{InterruptType, StopSource};
use interrupts::life::{Admission, Choosing, Interrupt, RunState, Verdict};
use interrupts::store::{AuditSubject, Deciding, Notification, Run, Store};
use jiff::{SignedDuration, Timestamp};

use crate::holding::{BEFORE_IT_TAKES_HOLD, WAYS, Way, end, hold, paused, resume, stop};
use crate::scene::{ALL, Scene, choosing, delivery, key, person, question};

/// A run that was paused, and that nobody executes.
async fn left<S: Store>(scene: &Scene<S>) -> Run {
    let run = scene.run().await;
    for state in [RunState::Running, RunState::Paused] {
        let changed = scene.store.change_run(run.id, run.epoch, state, None).await;
        changed.unwrap();
    }
    scene.store.release_run(run.id, run.epoch).await.unwrap()
}

async fn state<S: Store>(scene: &Scene<S>, run: &Run) -> RunState {
    scene.store.run(run.id).await.unwrap().unwrap().state
}

/// The states that the audit has of a run, each with its time.
async fn audited<S: Store>(scene: &Scene<S>, run: &Run) -> Vec<(Timestamp, RunState)> {
    let rows = scene.store.audit(ALL).await.unwrap();
    let rows = rows.iter().map(|row| row.read().unwrap());
    rows.filter_map(|entry| match entry.subject {
        AuditSubject::Run { run: of, state, .. } if of == run.id => Some((entry.at, state)),
        _ => None,
    })
    .collect()
}

pub(crate) async fn a_paused_run_waits_from_the_transaction_on_that_ends_its_pause_where_a_question_is_open<
    S: Store,
>(
    scene: Scene<S>,
) {
    for way in WAYS {
        let run = left(&scene).await;
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
        assert_eq!(state(&scene, &run).await, RunState::Paused, "{way:?}");
        scene.tells_transactions_apart();
        end(&scene, way, &pause).await;
        let after = scene.store.run(run.id).await.unwrap().unwrap();
        assert_eq!(after.state, RunState::Waiting, "{way:?}");
        assert_eq!(after.reason.as_deref(), Some("it waits for an answer"));
        let ended = scene.audited_at(pause.id).await.pop().unwrap();
        let waits = audited(&scene, &run).await.pop().unwrap();
        assert_eq!(waits, (ended.0, RunState::Waiting), "{way:?}");
        let told = scene.store.outbox(ALL).await.unwrap();
        let is_told = |told: &Notification| {
            matches!(told, Notification::Run { run: of, state, version, open: waiting, .. }
                if *of == run.id && *state == RunState::Waiting && *version == after.version
                    && *waiting == [open.id])
        };
        assert!(told.iter().any(|row| is_told(&row.notification)), "{way:?}");
        // Whoever goes on with it can.
        let owned = scene.store.own_run(run.id, delivery("next", 10)).await;
        let epoch = owned.unwrap().epoch;
        let goes_on = scene
            .store
            .change_run(run.id, epoch, RunState::Running, None);
        goes_on.await.unwrap();
        let _whole = scene.store.verify_audit().await.unwrap();
    }
}

pub(crate) async fn a_run_waits_only_once_nothing_pauses_it_any_more<S: Store>(scene: Scene<S>) {
    for together in [false, true] {
        let run = left(&scene).await;
        let open = scene.awaiting(question(&run, format!("k{together}"))).await;
        let first = paused(&scene, &run, &format!("first{together}")).await;
        // One that no user has asked for holds nothing, and pauses all the same.
        let of_system = Admission {
            source: StopSource::System,
            ..stop(&run, &format!("second{together}"))
        };
        let second = scene.awaiting(of_system).await;
        hold(&scene, &open, first.id).await.unwrap();
        if together {
            let deciding = |it: &Interrupt| Deciding {
                interrupt: it.id,
                judge: person(it),
                choosing: resume(),
                remember: None,
            };
            let both = vec![deciding(&first), deciding(&second)];
            scene.store.decide_together(both).await.unwrap();
        } else {
            end(&scene, Way::Withdrawn, &first).await;
            assert_eq!(scene.interrupt(open.id).await.held_by, None);
            assert_eq!(state(&scene, &run).await, RunState::Paused);
            end(&scene, Way::Withdrawn, &second).await;
        }
        assert_eq!(state(&scene, &run).await, RunState::Waiting);
    }
}

pub(crate) async fn a_run_waits_on_the_pause_of_its_agent<S: Store>(scene: Scene<S>) {
    let run = left(&scene).await;
    let own = Admission {
        interrupt_type: InterruptType::Pause,
        key: key(format!("{}/root#1", run.id)),
        ..question(&run, "k")
    };
    scene.awaiting(own).await;
    let pause = paused(&scene, &run, "pause").await;
    end(&scene, Way::Withdrawn, &pause).await;
    assert_eq!(state(&scene, &run).await, RunState::Waiting);
}

pub(crate) async fn a_run_stays_paused_where_it_waits_for_nothing<S: Store>(scene: Scene<S>) {
    let run = left(&scene).await;
    let decided = scene.awaiting(question(&run, "decided")).await;
    let answer = scene
        .store
        .decide(decided.id, person(&decided), choosing(None));
    answer.await.unwrap();
    // Nobody can answer what nobody is asked yet.
    scene.raised(question(&run, "raised")).await;
    let pause = paused(&scene, &run, "pause").await;
    end(&scene, Way::Withdrawn, &pause).await;
    assert_eq!(state(&scene, &run).await, RunState::Paused);
}

pub(crate) async fn a_run_that_somebody_has_or_has_given_up_is_not_said_to_wait<S: Store>(
    scene: Scene<S>,
) {
    let run = left(&scene).await;
    scene.awaiting(question(&run, "k")).await;
    let first = paused(&scene, &run, "first").await;
    let owned = scene.store.own_run(run.id, delivery("somebody", 10)).await;
    end(&scene, Way::Decided, &first).await;
    assert_eq!(state(&scene, &run).await, RunState::Paused);

    let epoch = owned.unwrap().epoch;
    scene.store.release_run(run.id, epoch).await.unwrap();
    let second = paused(&scene, &run, "second").await;
    let cancel = Choosing {
        verdict: Verdict::Cancel,
        ..choosing(None)
    };
    let given_up = scene.store.decide(second.id, person(&second), cancel).await;
    given_up.unwrap();
    assert_eq!(state(&scene, &run).await, RunState::Paused);

    // Of an owner whose lease has run out nobody knows that it is there.
    scene
        .store
        .own_run(run.id, delivery("gone", 10))
        .await
        .unwrap();
    let third = paused(&scene, &run, "third").await;
    scene.wait(11);
    end(&scene, Way::Withdrawn, &third).await;
    assert_eq!(state(&scene, &run).await, RunState::Waiting);
}
