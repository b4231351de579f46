//! Messages that are taken back, and messages that are read.

use interrupt_router::{InterruptType, StopMode};
use interrupts::life::{Admission, Role, RunState, Scope, WithdrawCause};
use interrupts::store::{
    AuditSubject, Intent, JournalError, MessageError, MessageEvent, MessageState, NodeActivity,
    NodeRow, Repeating, RunError, Store,
};
use interrupts::{EffectId, KindName};

use crate::joining::stop;
use crate::nodes::{message, node};
use crate::scene::{ALL, Scene, actor, delivery, key};

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

pub(crate) async fn a_message_is_refused_behind_a_stop_that_ends_its_reader<S: Store>(
    scene: Scene<S>,
) {
    let run = scene.run().await;
    let store = &scene.store;
    let rows = ["above", "above/reader", "beside"];
    let rows = rows.map(|name| node(&run, name, NodeActivity::Ready));
    let [above, reader, beside] = rows.clone();
    store.put_nodes(run.id, 1, rows.to_vec()).await.unwrap();
    let of = |row: &NodeRow, interrupt_type, scope| Admission {
        interrupt_type,
        scope,
        node: row.node.clone(),
        ..stop(&run, "stop", StopMode::Graceful)
    };
    for (stops, reads_on) in [
        (of(&reader, InterruptType::Stop, Scope::Agent), true),
        (of(&above, InterruptType::Prune, Scope::Agent), true),
        (of(&beside, InterruptType::Stop, Scope::Run), false),
    ] {
        let interrupt_type = stops.interrupt_type;
        let key = key(format!("{} {interrupt_type} {reads_on}", stops.node));
        let Admission { id, .. } = stops;
        scene.admitted(Admission { key, ..stops }).await;
        let refused = MessageError::NodeStops {
            node: reader.node.clone(),
            interrupt: id,
            interrupt_type,
            is_cancelable: true,
        };
        let late = store.send_message(message(&reader, "late")).await;
        assert_eq!(late, Err(refused));
        let text = format!("beside {id}");
        let others = store.send_message(message(&beside, &text)).await;
        assert_eq!(others.is_ok(), reads_on, "{others:?}");
        let withdrawn = store.withdraw(id, actor(Role::Operator), WithdrawCause::Withdrawn);
        withdrawn.await.unwrap();
    }
    // One of which its run was told is not withdrawn any more.
    let told = Admission {
        key: key("told"),
        ..of(&beside, InterruptType::Prune, Scope::Agent)
    };
    let id = scene.admitted(told).await.id;
    store.deliver(id, delivery("process-1", 60)).await.unwrap();
    let late = store.send_message(message(&beside, "too late")).await;
    let refused = MessageError::NodeStops {
        node: beside.node.clone(),
        interrupt: id,
        interrupt_type: InterruptType::Prune,
        is_cancelable: false,
    };
    assert_eq!(late, Err(refused));
    // What goes on reads it. A BRANCH is admitted once nothing waits.
    let sent = store.messages(run.id, ALL).await.unwrap();
    let sent: Vec<u64> = sent.iter().map(|it| it.position).collect();
    store.read_messages(run.id, 1, &sent).await.unwrap();
    for interrupt_type in [InterruptType::Pause, InterruptType::Branch] {
        let key = key(interrupt_type.to_string());
        let stops = of(&reader, interrupt_type, Scope::Agent);
        scene.admitted(Admission { key, ..stops }).await;
    }
    store.send_message(message(&reader, "late")).await.unwrap();
}

pub(crate) async fn what_nobody_has_read_is_said_to_be_unread_with_the_end_of_its_reader<
    S: Store,
>(
    scene: Scene<S>,
) {
    let run = scene.run().await;
    let store = &scene.store;
    let rows = ["a", "b"].map(|name| node(&run, name, NodeActivity::Ready));
    store.put_nodes(run.id, 1, rows.to_vec()).await.unwrap();
    let [first, second] = rows;
    for (row, text) in [
        (&first, "read"),
        (&first, "taken back"),
        (&first, "left"),
        (&second, "left, too"),
    ] {
        store.send_message(message(row, text)).await.unwrap();
    }
    let by = actor(Role::Supervisor);
    store.read_messages(run.id, 1, &[1]).await.unwrap();
    store.withdraw_message(run.id, 2, by.clone()).await.unwrap();
    let states = async || {
        let kept = store.messages(run.id, ALL).await.unwrap();
        kept.into_iter().map(|kept| kept.state).collect::<Vec<_>>()
    };
    let at_first = states().await;
    scene.wait(5);
    let pruned = NodeRow {
        activity: NodeActivity::Pruned,
        ..first
    };
    store.put_nodes(run.id, 1, vec![pruned]).await.unwrap();
    let unread = MessageState::Unread { at: scene.now() };
    let left = &states().await[..];
    assert_eq!(left[..2], at_first[..2], "what was read, was");
    assert_eq!(left[2..], [unread.clone(), MessageState::Waiting]);
    scene.wait(5);
    for state in [RunState::Running, RunState::Completed] {
        store.change_run(run.id, 1, state, None).await.unwrap();
    }
    let end = MessageState::Unread { at: scene.now() };
    assert_eq!(states().await[2..], [unread, end]);
    // It can be taken back still, so that no fork reads it.
    let withdrawn = store.withdraw_message(run.id, 3, by).await.unwrap();
    assert!(matches!(withdrawn.state, MessageState::Withdrawn { .. }));
}

/// An entry that says which messages are read.
fn reading(reader: &NodeRow, place: &str, said: &str) -> Intent {
    Intent {
        effect: EffectId::in_run(reader.run, place),
        run: reader.run,
        node: reader.node.clone(),
        kind: KindName::new("mail").unwrap(),
        repeating: Repeating::Idempotent,
        content: said.to_owned(),
        place: Some(place.to_owned()),
    }
}

pub(crate) async fn what_is_read_under_a_key_is_kept_there_and_read_once<S: Store>(
    scene: Scene<S>,
) {
    let run = scene.run().await;
    let store = &scene.store;
    let reader = node(&run, "a", NodeActivity::Running);
    let nodes = vec![reader.clone()];
    store.put_nodes(run.id, 1, nodes).await.unwrap();
    for text in ["first", "second", "third"] {
        store.send_message(message(&reader, text)).await.unwrap();
    }
    let states = async || {
        let kept = store.messages(run.id, ALL).await.unwrap();
        kept.into_iter().map(|it| it.state).collect::<Vec<_>>()
    };
    let at = scene.now();
    let intent = reading(&reader, "one", "1 and 2");
    let read = store.keep_reading(1, intent.clone(), &[1, 2]).await;
    let kept = read.unwrap().unwrap();
    assert_eq!(kept.intent, intent);
    assert!(kept.result.is_some(), "it is whole");
    let both = [
        MessageState::Read { at },
        MessageState::Read { at },
        MessageState::Waiting,
    ];
    assert_eq!(states().await, both);
    scene.wait(5);
    // Looked at again, other messages wait: the key has those that were read with it.
    let again = reading(&reader, "one", "3");
    let again = store.keep_reading(1, again, &[3]).await;
    assert_eq!(again, Ok(Some(kept.clone())));
    assert_eq!(states().await, both);
    assert_eq!(store.effect(intent.effect).await, Ok(Some(kept)));
    let by = actor(Role::Supervisor);
    let late = store.withdraw_message(run.id, 1, by).await;
    assert_eq!(late, Err(MessageError::AlreadyRead { message: 1, at }));
    let none = store
        .keep_reading(1, reading(&reader, "none", ""), &[])
        .await;
    assert!(none.unwrap().is_some(), "that nothing came is kept too");
}

pub(crate) async fn what_cannot_all_be_read_under_a_key_is_not_read<S: Store>(scene: Scene<S>) {
    let run = scene.run().await;
    let store = &scene.store;
    let reader = node(&run, "a", NodeActivity::Running);
    let nodes = vec![reader.clone()];
    store.put_nodes(run.id, 1, nodes).await.unwrap();
    for text in ["taken back", "read elsewhere", "waits"] {
        store.send_message(message(&reader, text)).await.unwrap();
    }
    let by = actor(Role::Supervisor);
    store.withdraw_message(run.id, 1, by).await.unwrap();
    let elsewhere = reading(&reader, "elsewhere", "2");
    store.keep_reading(1, elsewhere, &[2]).await.unwrap();
    let intent = reading(&reader, "one", "too much");
    for gone in [1, 2, 4] {
        let read = store.keep_reading(1, intent.clone(), &[3, gone]).await;
        assert_eq!(read, Ok(None), "message {gone}");
    }
    store.release_run(run.id, 1).await.unwrap();
    store.own_run(run.id, delivery("second", 60)).await.unwrap();
    let fenced = JournalError::Fenced {
        given: 1,
        current: 2,
    };
    let old = store.keep_reading(1, intent.clone(), &[3]).await;
    assert_eq!(old, Err(fenced));
    let kept = store.messages(run.id, ALL).await.unwrap();
    assert!(kept[2].state.is_waiting(), "it is still there to be read");
    assert_eq!(store.effect(intent.effect).await, Ok(None));
}
