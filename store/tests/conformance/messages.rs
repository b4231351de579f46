//! Messages that are taken back, and messages that are read.

use interrupts::life::Role;
use interrupts::store::{
    AuditSubject, MessageError, MessageEvent, MessageState, NodeActivity, RunError, Store,
};

use crate::nodes::{message, node};
use crate::scene::{ALL, Scene, actor, delivery};

pub(crate) async fn a_message_is_taken_back_until_it_is_read_and_not_after_that<S: Store>(
    scene: Scene<S>,
) {
    let run = scene.run().await;
    let store = &scene.store;
    let reader = node(&run, "a", NodeActivity::Running);
    let nodes = vec![reader.clone()];
    store.put_nodes(run.id, 1, nodes).await.unwrap();
    for text in ["first", "second", "third"] {
        let sent = store.send_message(message(&reader, text)).await.unwrap();
        assert_eq!(sent.state, MessageState::Waiting);
    }
    let by = actor(Role::Supervisor);
    let withdrawn = store.withdraw_message(run.id, 2, by.clone()).await.unwrap();
    let at = scene.now();
    let state = MessageState::Withdrawn { at, by: by.clone() };
    assert_eq!(withdrawn.state, state);
    scene.wait(5);
    // Whoever says it again is told the same.
    let other = actor(Role::Operator);
    let again = store.withdraw_message(run.id, 2, other).await;
    assert_eq!(again, Ok(withdrawn.clone()));

    let read = store.read_messages(run.id, 1, &[1, 2]).await;
    assert_eq!(read, Ok(vec![1]), "what was taken back is not read");
    let at = scene.now();
    scene.wait(5);
    let read = store.read_messages(run.id, 1, &[1]).await;
    assert_eq!(read, Ok(vec![1]), "its turn may not have been recorded");
    let late = store.withdraw_message(run.id, 1, by.clone()).await;
    assert_eq!(late, Err(MessageError::AlreadyRead { message: 1, at }));

    let kept = store.messages(run.id, ALL).await.unwrap();
    let states: Vec<_> = kept.iter().map(|kept| kept.state.clone()).collect();
    assert_eq!(
        states,
        [MessageState::Read { at }, state, MessageState::Waiting]
    );
    let texts: Vec<_> = kept.iter().map(|kept| &*kept.message.text).collect();
    assert_eq!(texts, ["first", "second", "third"], "no text is lost");

    let audited = store.audit(ALL).await.unwrap();
    let taken_back: Vec<_> = audited
        .iter()
        .filter_map(|row| match row.read().unwrap().subject {
            AuditSubject::Message {
                message,
                from,
                event: MessageEvent::Withdrawn,
                ..
            } => Some((message, from)),
            _ => None,
        })
        .collect();
    assert_eq!(taken_back, [(2, by)], "once");
}

pub(crate) async fn a_message_is_found_in_its_run_alone_and_read_by_the_runs_owner<S: Store>(
    scene: Scene<S>,
) {
    let (run, other) = (scene.run().await, scene.run().await);
    let store = &scene.store;
    let reader = node(&run, "a", NodeActivity::Running);
    let nodes = vec![reader.clone()];
    store.put_nodes(run.id, 1, nodes).await.unwrap();
    store.send_message(message(&reader, "hello")).await.unwrap();
    let by = actor(Role::Supervisor);
    for (run, message) in [(other.id, 1), (run.id, 2), (run.id, 0)] {
        let unknown = Err(MessageError::UnknownMessage { run, message });
        let withdrawn = store.withdraw_message(run, message, by.clone()).await;
        assert_eq!(withdrawn, unknown);
    }
    assert_eq!(store.read_messages(other.id, 1, &[1]).await, Ok(Vec::new()));
    store.release_run(run.id, 1).await.unwrap();
    store.own_run(run.id, delivery("second", 60)).await.unwrap();
    let fenced = RunError::Fenced {
        given: 1,
        current: 2,
    };
    assert_eq!(store.read_messages(run.id, 1, &[1]).await, Err(fenced));
    let kept = store.messages(run.id, ALL).await.unwrap();
    assert!(kept[0].state.is_waiting(), "an old owner reads nothing");
}
