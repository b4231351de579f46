//! Nodes of runs, and messages to them.

use interrupt_router::{NodeId, RunId};
use interrupts::KindName;
use interrupts::life::{Role, RunState};
use interrupts::store::{
    AuditSubject, MessageError, MessageState, NewMessage, NodeActivity, NodeRow, Notification,
    Page, Run, RunError, Store, StoredMessage,
};
use jiff::Timestamp;

use crate::scene::{ALL, Scene, actor, delivery, key};

/// A node that takes messages.
pub(crate) fn node(run: &Run, name: &str, activity: NodeActivity) -> NodeRow {
    NodeRow {
        run: run.id,
        node: NodeId::root().child(name).unwrap(),
        kind: KindName::new("WORKER").unwrap(),
        activity,
        takes_messages: true,
        turn: 0,
        step: 0,
        tokens: 0,
        since: Timestamp::UNIX_EPOCH,
        waits: None,
    }
}

pub(crate) fn message(to: &NodeRow, text: &str) -> NewMessage {
    NewMessage {
        run: to.run,
        node: to.node.clone(),
        text: text.to_owned(),
        from: actor(Role::Supervisor),
        key: key(text),
    }
}

/// What nodes are told to do, in order.
async fn activities<S: Store>(scene: &Scene<S>) -> Vec<NodeActivity> {
    let told = scene.store.outbox(ALL).await.unwrap();
    told.iter()
        .filter_map(|row| match &row.notification {
            Notification::Node { activity, .. } => Some(*activity),
            _ => None,
        })
        .collect()
}

pub(crate) async fn a_node_is_told_of_when_it_does_something_else<S: Store>(scene: Scene<S>) {
    let run = scene.run().await;
    let store = &scene.store;
    let mut row = node(&run, "a", NodeActivity::Ready);
    store.put_nodes(run.id, 1, vec![row.clone()]).await.unwrap();
    let first = store.node(run.id, &row.node).await.unwrap().unwrap();
    assert_eq!(first.since, Timestamp::from_second(1_000_000).unwrap());
    scene.wait(5);
    // Another turn of the same activity is recorded, and is no news.
    row.turn = 1;
    store.put_nodes(run.id, 1, vec![row.clone()]).await.unwrap();
    let second = store.node(run.id, &row.node).await.unwrap().unwrap();
    assert_eq!((second.turn, second.since), (1, first.since));
    assert_eq!(activities(&scene).await, [NodeActivity::Ready]);
    row.activity = NodeActivity::Running;
    store.put_nodes(run.id, 1, vec![row.clone()]).await.unwrap();
    let third = store.node(run.id, &row.node).await.unwrap().unwrap();
    assert_eq!(third.since, Timestamp::from_second(1_000_005).unwrap());
    assert_eq!(
        activities(&scene).await,
        [NodeActivity::Ready, NodeActivity::Running]
    );
}

pub(crate) async fn nodes_are_listed_in_the_order_in_which_they_came_to_be<S: Store>(
    scene: Scene<S>,
) {
    let (one, two) = (scene.run().await, scene.run().await);
    let store = &scene.store;
    for (run, name) in [(&one, "z"), (&two, "a"), (&one, "a"), (&one, "z")] {
        let row = node(run, name, NodeActivity::Running);
        store.put_nodes(run.id, 1, vec![row]).await.unwrap();
    }
    let names = |rows: Vec<(u64, NodeRow)>| -> Vec<(u64, RunId, String)> {
        rows.into_iter()
            .map(|(position, row)| (position, row.run, row.node.to_string()))
            .collect()
    };
    let (a, z) = ("root/a".to_owned(), "root/z".to_owned());
    let all = names(store.nodes(None, ALL).await.unwrap());
    let expected = [
        (1, one.id, z.clone()),
        (2, two.id, a.clone()),
        (3, one.id, a.clone()),
    ];
    assert_eq!(all, expected);
    let of_one = names(store.nodes(Some(one.id), ALL).await.unwrap());
    assert_eq!(of_one, [expected[0].clone(), expected[2].clone()]);
    let page = Page { after: 1, limit: 1 };
    let part = names(store.nodes(Some(one.id), page).await.unwrap());
    assert_eq!(part, [expected[2].clone()]);
}

pub(crate) async fn only_the_owner_of_a_run_writes_its_nodes<S: Store>(scene: Scene<S>) {
    let (run, other) = (scene.run().await, scene.run().await);
    let store = &scene.store;
    store.release_run(run.id, 1).await.unwrap();
    store.own_run(run.id, delivery("second", 60)).await.unwrap();
    let row = node(&run, "a", NodeActivity::Running);
    let fenced = RunError::Fenced {
        given: 1,
        current: 2,
    };
    let nodes = vec![row.clone()];
    assert_eq!(store.put_nodes(run.id, 1, nodes).await, Err(fenced));
    // One that belongs elsewhere takes the others of its call with it.
    let foreign = vec![row.clone(), node(&other, "a", NodeActivity::Running)];
    let unknown = RunError::Unknown { run: other.id };
    assert_eq!(store.put_nodes(run.id, 2, foreign).await, Err(unknown));
    let nobody = RunId::generate();
    let unknown = RunError::Unknown { run: nobody };
    assert_eq!(store.put_nodes(nobody, 0, Vec::new()).await, Err(unknown));
    assert_eq!(store.nodes(None, ALL).await, Ok(Vec::new()));
    assert_eq!(store.node(run.id, &row.node).await, Ok(None));
    assert!(activities(&scene).await.is_empty());
}

pub(crate) async fn a_message_is_accepted_once_told_and_audited<S: Store>(scene: Scene<S>) {
    let run = scene.run().await;
    let store = &scene.store;
    let reader = node(&run, "a", NodeActivity::Running);
    let nodes = vec![reader.clone()];
    store.put_nodes(run.id, 1, nodes).await.unwrap();
    let first = message(&reader, "look at the tests first");
    let stored = store.send_message(first.clone()).await.unwrap();
    assert_eq!(stored.message, first);
    let next = message(&reader, "and then at the docs");
    let next = store.send_message(next).await.unwrap();
    assert_eq!((stored.position, next.position), (1, 2));
    let again = store.send_message(first.clone()).await;
    assert_eq!(again, Ok(stored.clone()));
    let mut other = first.clone();
    other.text = "something else".to_owned();
    let key = first.key.clone();
    assert_eq!(
        store.send_message(other).await,
        Err(MessageError::OtherContent { key })
    );
    let all = store.messages(run.id, ALL).await.unwrap();
    assert_eq!(all, [stored.clone(), next.clone()]);
    let rest = Page { after: 1, limit: 9 };
    assert_eq!(store.messages(run.id, rest).await, Ok(vec![next]));
    let elsewhere = scene.run().await;
    assert_eq!(store.messages(elsewhere.id, ALL).await, Ok(Vec::new()));

    let told = store.outbox(ALL).await.unwrap();
    let of_messages = told.iter().filter_map(|row| match &row.notification {
        Notification::Message { message, .. } => Some(*message),
        _ => None,
    });
    assert_eq!(of_messages.collect::<Vec<_>>(), [1, 2]);
    let audited = store.audit(ALL).await.unwrap();
    let of_messages = audited
        .iter()
        .filter_map(|row| match row.read().unwrap().subject {
            AuditSubject::Message { message, from, .. } => Some((message, from)),
            _ => None,
        });
    let from = actor(Role::Supervisor);
    assert_eq!(
        of_messages.collect::<Vec<_>>(),
        [(1, from.clone()), (2, from)]
    );
}

pub(crate) async fn a_message_that_nobody_will_read_is_refused<S: Store>(scene: Scene<S>) {
    let run = scene.run().await;
    let store = &scene.store;
    let reader = node(&run, "reader", NodeActivity::Running);
    let ended = node(&run, "ended", NodeActivity::Pruned);
    let mut deaf = node(&run, "deaf", NodeActivity::Ready);
    deaf.takes_messages = false;
    let nodes = vec![reader.clone(), ended.clone(), deaf.clone()];
    store.put_nodes(run.id, 1, nodes).await.unwrap();
    let absent = node(&run, "absent", NodeActivity::Ready);
    let mut stray = message(&reader, "stray");
    stray.run = RunId::generate();
    let of = |text: &str| NewMessage {
        text: text.to_owned(),
        ..message(&reader, "unfit")
    };
    let (empty, large) = (of(" \n"), of(&"x".repeat((1 << 20) + 1)));
    let refusals = [
        (
            message(&ended, "too late"),
            MessageError::NodeEnded { node: ended.node },
        ),
        (
            message(&deaf, "not you"),
            MessageError::TakesNoMessages { node: deaf.node },
        ),
        (
            message(&absent, "nobody"),
            MessageError::UnknownNode {
                run: run.id,
                node: absent.node,
            },
        ),
        (stray.clone(), MessageError::UnknownRun { run: stray.run }),
        (empty, MessageError::Empty),
        (
            large,
            MessageError::TooLarge {
                given: (1 << 20) + 1,
                most: 1 << 20,
            },
        ),
    ];
    for (message, refusal) in refusals {
        assert_eq!(store.send_message(message).await, Err(refusal));
    }
    let accepted = message(&reader, "in time");
    let stored = store.send_message(accepted.clone()).await.unwrap();
    assert_eq!(stored.position, 1, "what was refused left no gap");
    for state in [RunState::Running, RunState::Completed] {
        store.change_run(run.id, 1, state, None).await.unwrap();
    }
    let state = RunState::Completed;
    let late = store.send_message(message(&reader, "after the end")).await;
    assert_eq!(late, Err(MessageError::RunEnded { state }));
    let state = MessageState::Unread { at: scene.now() };
    let known = StoredMessage { state, ..stored };
    assert_eq!(store.send_message(accepted).await, Ok(known));
}
