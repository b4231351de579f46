//! Admitting: once for each key, or not at all.

use interrupt_router::{InterruptId, InterruptType, RunId, StopMode};
use interrupts::life::{Admission, AdmissionError, Evidence, RunState, Scope, State};
use interrupts::store::{
    AdmitError, Admitted, AuditSubject, Deciders, NodeActivity, NodeRow, Notification,
    RaisedQuestion, Store,
};

use crate::joining::stop;
use crate::nodes::node;
use crate::scene::{ALL, Scene, asked, delivery, event, key, question, rerouting, route};

pub(crate) async fn the_same_request_gets_the_same_answer_whatever_became_of_it<S: Store>(
    scene: Scene<S>,
) {
    let run = scene.run().await;
    let first = scene.admitted(question(&run, "k")).await;
    let again = scene.store.admit(question(&run, "k")).await.unwrap();
    assert_eq!(again, Admitted::Known(first.clone()));
    let delivered = scene
        .store
        .deliver(first.id, delivery("worker", 60))
        .await
        .unwrap();
    let later = scene.store.admit(question(&run, "k")).await.unwrap();
    assert_eq!(later, Admitted::Known(delivered.clone()));
    let found = scene.store.interrupt_of(&key("k")).await.unwrap();
    assert_eq!(found, Some(delivered));
    assert_eq!(scene.audited(first.id).await, ["admit", "take"]);
}

pub(crate) async fn a_key_with_other_content_is_refused<S: Store>(scene: Scene<S>) {
    let run = scene.run().await;
    let first = scene.admitted(question(&run, "k")).await;
    let mut other = question(&run, "k");
    other.reason = "something else".to_owned();
    assert_eq!(
        scene.store.admit(other).await,
        Err(AdmitError::OtherContent {
            key: key("k"),
            interrupt: first.id
        })
    );
    assert_eq!(scene.interrupt(first.id).await, first);
}

/// Neither an event nor a stop stands in the way of what an agent of the run asks, or is taken for it.
pub(crate) async fn the_keys_of_the_runs_agents_are_theirs_alone<S: Store>(scene: Scene<S>) {
    let run = scene.run().await;
    let own = format!("{}/root#1", run.id);
    let refused = Err(AdmitError::Refused(AdmissionError::KeyReserved {
        run: run.id,
    }));
    for from_outside in [question(&run, &*own), stop(&run, &own, StopMode::Graceful)] {
        assert_eq!(scene.store.admit(from_outside.clone()).await, refused);
        assert_eq!(scene.store.join(from_outside).await, refused);
    }
    let raised = scene.raised(question(&run, &*own)).await;
    assert!(raised.is_raised_by_agent());
    let other = scene.run().await;
    scene.admitted(question(&other, "run_of/nobody")).await;
}

pub(crate) async fn an_id_or_a_run_that_does_not_fit_is_refused<S: Store>(scene: Scene<S>) {
    let run = scene.run().await;
    let first = scene.admitted(question(&run, "k")).await;
    let mut same_id = question(&run, "l");
    same_id.id = first.id;
    assert_eq!(
        scene.store.admit(same_id).await,
        Err(AdmitError::IdTaken {
            interrupt: first.id
        })
    );
    let mut nowhere = question(&run, "m");
    nowhere.run = RunId::generate();
    assert_eq!(
        scene.store.admit(nowhere.clone()).await,
        Err(AdmitError::UnknownRun { run: nowhere.run })
    );
}

pub(crate) async fn an_ended_run_takes_no_interrupt<S: Store>(scene: Scene<S>) {
    let run = scene.run().await;
    let state = RunState::Cancelled;
    scene
        .store
        .change_run(run.id, run.epoch, state, None)
        .await
        .unwrap();
    assert_eq!(
        scene.store.admit(question(&run, "k")).await,
        Err(AdmitError::Refused(AdmissionError::RunEnded { state }))
    );
}

pub(crate) async fn a_stop_of_an_agent_that_has_ended_is_refused<S: Store>(scene: Scene<S>) {
    let run = scene.run().await;
    let stop = |text: &str, agent: &NodeRow| Admission {
        interrupt_type: InterruptType::Pause,
        node: agent.node.clone(),
        ..question(&run, text)
    };
    let works = node(&run, "agent", NodeActivity::Running);
    let put = scene.store.put_nodes(run.id, 1, vec![works.clone()]);
    put.await.unwrap();
    let in_time = scene.admitted(stop("in time", &works)).await;
    for activity in [
        NodeActivity::Completed,
        NodeActivity::Failed,
        NodeActivity::Cancelled,
        NodeActivity::Pruned,
    ] {
        let ended = node(&run, "agent", activity);
        let put = scene.store.put_nodes(run.id, 1, vec![ended.clone()]);
        put.await.unwrap();
        let refused = AdmitError::NodeEnded {
            node: ended.node.clone(),
            activity,
        };
        let before = scene.store.audit(ALL).await.unwrap().len();
        let late = scene.store.admit(stop("late", &ended)).await;
        assert_eq!(late, Err(refused));
        assert_eq!(scene.store.audit(ALL).await.unwrap().len(), before);
        // What was asked in time is answered all the same, and so is what concerns the whole run.
        let again = scene.store.admit(stop("in time", &ended)).await;
        assert_eq!(again, Ok(Admitted::Known(in_time.clone())));
        let whole = Admission {
            scope: Scope::Run,
            ..stop(&format!("whole run, {activity:?}"), &ended)
        };
        scene.admitted(whole).await;
    }
    // Nobody has heard of this one yet, and it may come to be.
    let unborn = node(&run, "unborn", NodeActivity::Pending);
    scene.admitted(stop("unborn", &unborn)).await;
    // What is asked of it as an event does not stop it.
    let asked = Admission {
        node: works.node.clone(),
        ..question(&run, "question")
    };
    scene.admitted(asked).await;
    // That all of the run has ended says more.
    let state = RunState::Cancelled;
    let ended = scene.store.change_run(run.id, 1, state, None).await;
    ended.unwrap();
    assert_eq!(
        scene.store.admit(stop("later", &works)).await,
        Err(AdmitError::Refused(AdmissionError::RunEnded { state }))
    );
}

pub(crate) async fn an_admission_is_told_and_audited_in_one_transaction<S: Store>(scene: Scene<S>) {
    let run = scene.run().await;
    let before = scene.store.outbox(ALL).await.unwrap().len();
    let admitted = scene.admitted(rerouting(&run, "e", "OTHER")).await;
    let told = scene.store.outbox(ALL).await.unwrap().split_off(before);
    assert!(matches!(
        &told[0].notification,
        Notification::Interrupt { interrupt, state: State::Requested, version: 1, .. }
            if *interrupt == admitted.id
    ));
    assert!(
        matches!(&told[1].notification, Notification::Reroute { event, .. } if event.as_str() == "e")
    );
    assert_eq!(told.len(), 2);
    let reroute = scene.store.reroute(&event("e")).await.unwrap().unwrap();
    assert_eq!(reroute.target, route("OTHER"));
    let last = scene.store.audit(ALL).await.unwrap().pop().unwrap();
    assert!(matches!(
        last.read().unwrap().subject,
        AuditSubject::Reroute { .. }
    ));
    assert_eq!(scene.audited(admitted.id).await, ["admit"]);
}

pub(crate) async fn a_refusal_leaves_nothing_behind<S: Store>(scene: Scene<S>) {
    let run = scene.run().await;
    // Raised at its boundary, an immediate pause comes to its acknowledgement and is refused there.
    let mut pause = question(&run, "k");
    pause.interrupt_type = InterruptType::Pause;
    pause.mode = StopMode::Immediate;
    let (rows, told) = (
        scene.store.audit(ALL).await.unwrap(),
        scene.store.outbox(ALL).await.unwrap(),
    );
    let raised = RaisedQuestion {
        admission: pause.clone(),
        delivery: delivery("worker", 60),
        deciders: Deciders::default(),
    };
    assert!(matches!(
        scene.store.raise(raised).await,
        Err(AdmitError::NotRaised(_))
    ));
    assert_eq!(scene.store.interrupt(pause.id).await, Ok(None));
    assert_eq!(scene.store.interrupt_of(&key("k")).await, Ok(None));
    assert_eq!(scene.store.audit(ALL).await.unwrap(), rows);
    assert_eq!(scene.store.outbox(ALL).await.unwrap(), told);
    // The key is free.
    let paused = scene.admitted(pause).await;
    let delivered = scene.store.deliver(paused.id, delivery("worker", 60));
    let epoch = delivered.await.unwrap().epoch;
    scene
        .store
        .acknowledge(paused.id, epoch, Evidence::Cancelled)
        .await
        .unwrap();
}

pub(crate) async fn a_raised_question_is_acknowledged_with_three_audit_rows<S: Store>(
    scene: Scene<S>,
) {
    let run = scene.run().await;
    scene.admitted(rerouting(&run, "e", "OTHER")).await;
    let mut own = question(&run, "k");
    own.id = InterruptId::generate();
    let raised = scene.raised(own.clone()).await;
    assert_eq!(raised.state, State::Acknowledged);
    assert_eq!(raised.bound.map(|bound| bound.target), Some(route("OTHER")));
    assert_eq!(
        scene.audited(raised.id).await,
        ["admit", "take", "acknowledge"]
    );
    let again = RaisedQuestion {
        admission: own,
        delivery: delivery("another", 60),
        deciders: Deciders::default(),
    };
    let known = scene.store.raise(again).await.unwrap();
    assert!(matches!(known, Admitted::Known(interrupt) if interrupt.epoch == 1));
    let refused = scene.store.acknowledge(raised.id, 1, asked()).await;
    assert!(refused.is_err(), "it is acknowledged already");
}
