//! Runs, their journals and their checkpoints.

use interrupt_router::{NodeId, RunId};
use interrupts::life::{RunState, State};
use interrupts::store::{
    Begun, CheckpointDraft, CheckpointError, CheckpointId, Filter, Intent, JournalError, NewRun,
    Notification, Repeating, Run, RunError, Store,
};
use interrupts::{EffectId, KindName};
use jiff::SignedDuration;

use crate::scene::{ALL, Scene, delivery, question};

pub(crate) fn intent(run: &Run, name: &str) -> Intent {
    Intent {
        effect: EffectId::of_parts([run.id.uuid().as_bytes().as_slice(), name.as_bytes()]),
        run: run.id,
        node: NodeId::root(),
        kind: KindName::new("model_call").unwrap(),
        repeating: Repeating::AskPerson,
        content: format!("{{\"call\":\"{name}\"}}"),
        place: None,
    }
}

pub(crate) fn draft(run: &Run, parent: Option<CheckpointId>) -> CheckpointDraft {
    CheckpointDraft {
        run: run.id,
        epoch: run.epoch,
        parent,
        form: 1,
        content: r#"{"step":1}"#.to_owned(),
        intents: Vec::new(),
        pending: Vec::new(),
    }
}

pub(crate) async fn a_run_has_one_owner_at_a_time<S: Store>(scene: Scene<S>) {
    let run = scene.run().await;
    let store = &scene.store;
    let refused = store.own_run(run.id, delivery("second", 60)).await;
    assert!(matches!(refused, Err(RunError::Owned { .. })));
    scene.wait(999);
    let renewed = store.renew_run(run.id, 1, SignedDuration::from_secs(60));
    assert_eq!(renewed.await.unwrap().version, run.version);
    // A lease that is renewed is no change that the audit has to know of.
    store.verify_audit().await.unwrap();
    scene.wait(59);
    assert!(store.own_run(run.id, delivery("second", 60)).await.is_err());
    scene.wait(1);
    let second = store.own_run(run.id, delivery("second", 60)).await;
    assert_eq!(second.unwrap().epoch, 2);
    store.release_run(run.id, 2).await.unwrap();
    let third = store.own_run(run.id, delivery("third", 60)).await;
    assert_eq!(third.unwrap().epoch, 3);
}

pub(crate) async fn an_old_owner_writes_nothing<S: Store>(scene: Scene<S>) {
    let run = scene.run().await;
    let store = &scene.store;
    let begun = intent(&run, "begun");
    store.begin(1, begun.clone()).await.unwrap();
    let mut lost = delivery("second", 60);
    lost.lost = Some(delivery("owner", 0).owner);
    store.own_run(run.id, lost).await.unwrap();
    let (given, current) = (1, 2);
    let fenced = RunError::Fenced { given, current };
    let state = RunState::Running;
    assert_eq!(
        store.change_run(run.id, 1, state, None).await,
        Err(fenced.clone())
    );
    assert_eq!(store.release_run(run.id, 1).await, Err(fenced.clone()));
    let longer = SignedDuration::from_secs(60);
    assert_eq!(store.renew_run(run.id, 1, longer).await, Err(fenced));
    let fenced = JournalError::Fenced { given, current };
    let other = intent(&run, "other");
    assert_eq!(store.begin(1, other).await, Err(fenced.clone()));
    let finish = store.finish(1, begun.effect, "{}".to_owned()).await;
    assert_eq!(finish, Err(fenced));
    assert_eq!(
        store.save(draft(&run, None)).await,
        Err(CheckpointError::Fenced { given, current })
    );
    let journal = store.journal(run.id, ALL).await.unwrap();
    assert_eq!(journal.len(), 1);
    assert_eq!(journal[0].result, None);
}

pub(crate) async fn an_alias_belongs_to_one_run<S: Store>(scene: Scene<S>) {
    let new = NewRun {
        root: None,
        id: RunId::generate(),
        alias: Some("thread-123".to_owned()),
        content: "{}".to_owned(),
    };
    let run = scene.store.create_run(new.clone()).await.unwrap();
    assert_eq!(scene.store.create_run(new.clone()).await, Ok(run.clone()));
    assert_eq!(scene.store.run_of("thread-123").await, Ok(Some(run)));
    assert_eq!(scene.store.run_of("thread-124").await, Ok(None));
    let taken = Err(RunError::Taken { run: new.id });
    let mut other = new.clone();
    other.id = RunId::generate();
    assert_eq!(scene.store.create_run(other).await, taken);
    let mut changed = new;
    changed.content = r#"{"goal":2}"#.to_owned();
    assert_eq!(scene.store.create_run(changed).await, taken);
}

pub(crate) async fn a_run_follows_its_states_and_its_end_cancels_what_is_open<S: Store>(
    scene: Scene<S>,
) {
    let run = scene.run().await;
    let store = &scene.store;
    let refused = store.change_run(run.id, 1, RunState::Paused, None).await;
    let (from, to) = (RunState::Created, RunState::Paused);
    assert_eq!(refused, Err(RunError::Illegal { from, to }));
    for state in [RunState::Running, RunState::Waiting] {
        store.change_run(run.id, 1, state, None).await.unwrap();
    }
    let open = scene.awaiting(question(&run, "open")).await;
    let requested = scene.admitted(question(&run, "requested")).await;
    let other = scene.run().await;
    let elsewhere = scene.awaiting(question(&other, "elsewhere")).await;
    let reason = Some("the user said so".to_owned());
    let ended = store.change_run(run.id, 1, RunState::Cancelled, reason.clone());
    assert_eq!(ended.await.unwrap().reason, reason);
    for ended in [&open, &requested] {
        assert_eq!(scene.interrupt(ended.id).await.state, State::Cancelled);
    }
    let still = scene.interrupt(elsewhere.id).await;
    assert_eq!(still.state, State::AwaitingReview);
    let owned = store.own_run(run.id, delivery("late", 60)).await;
    assert!(matches!(owned, Err(RunError::Illegal { .. })));
    let told = store.outbox(ALL).await.unwrap();
    let states: Vec<_> = told
        .iter()
        .filter_map(|row| match &row.notification {
            Notification::Run { state, .. } => Some(*state),
            _ => None,
        })
        .collect();
    let of_other = RunState::Created;
    assert_eq!(
        states,
        [
            RunState::Created,
            RunState::Running,
            RunState::Waiting,
            of_other,
            RunState::Cancelled
        ]
    );
    // Who follows the run up to its end has heard of all that ended with it.
    let last = &told.last().unwrap().notification;
    let is_its_end =
        |run_told: &RunId, state: &RunState| *run_told == run.id && *state == RunState::Cancelled;
    assert!(
        matches!(last, Notification::Run { run, state, .. } if is_its_end(run, state)),
        "{last:?}"
    );
}

/// In the transaction of its end, with what others of its batch admitted.
pub(crate) async fn nothing_outlives_the_end_of_its_run<S: Store>(scene: Scene<S>) {
    let run = scene.run().await;
    let store = &scene.store;
    for number in 0..300 {
        scene.admitted(question(&run, format!("k{number}"))).await;
    }
    let at_once = ["one", "two", "three"].map(|key| store.admit(question(&run, key)));
    let end = store.change_run(run.id, 1, RunState::Cancelled, None);
    let (admitted, ended) = futures_util::join!(futures_util::future::join_all(at_once), end);
    ended.unwrap();
    let of_run = Filter {
        run: Some(run.id),
        ..Filter::default()
    };
    let all = store.interrupts(&of_run, ALL).await.unwrap();
    let admitted = admitted.iter().filter(|it| it.is_ok()).count();
    assert_eq!(all.len(), 300 + admitted);
    let live = all.iter().filter(|(_place, it)| it.state.is_live());
    assert_eq!(live.count(), 0);
}

pub(crate) async fn a_result_is_read_and_never_produced_again<S: Store>(scene: Scene<S>) {
    let run = scene.run().await;
    let store = &scene.store;
    let call = intent(&run, "call");
    let first = store.begin(1, call.clone()).await.unwrap();
    assert!(matches!(first, Begun::New(_)));
    let again = store.begin(1, call.clone()).await.unwrap();
    assert!(matches!(&again, Begun::Known(entry) if entry.result.is_none()));
    let result = r#"{"said":"yes"}"#.to_owned();
    let entry = store.finish(1, call.effect, result.clone()).await.unwrap();
    assert_eq!(
        store.finish(1, call.effect, result).await,
        Ok(entry.clone())
    );
    let other = store.finish(1, call.effect, "{}".to_owned()).await;
    let effect = call.effect;
    assert_eq!(other, Err(JournalError::OtherResult { effect }));
    assert_eq!(store.begin(1, call.clone()).await, Ok(Begun::Known(entry)));
    let mut changed = call;
    changed.content = "{}".to_owned();
    assert_eq!(
        store.begin(1, changed).await,
        Err(JournalError::OtherIntent { effect })
    );
    let unknown = intent(&run, "never begun").effect;
    assert_eq!(
        store.finish(1, unknown, "{}".to_owned()).await,
        Err(JournalError::UnknownEffect { effect: unknown })
    );
}

pub(crate) async fn effects_without_a_result_are_listed_as_unknown<S: Store>(scene: Scene<S>) {
    let run = scene.run().await;
    let other = scene.run().await;
    let store = &scene.store;
    for name in ["a", "b", "c"] {
        store.begin(1, intent(&run, name)).await.unwrap();
    }
    store.begin(1, intent(&other, "d")).await.unwrap();
    let effect = intent(&run, "b").effect;
    store.finish(1, effect, "{}".to_owned()).await.unwrap();
    let names = |entries: Vec<interrupts::store::JournalEntry>| -> Vec<EffectId> {
        entries.iter().map(|entry| entry.intent.effect).collect()
    };
    let all = names(store.journal(run.id, ALL).await.unwrap());
    assert_eq!(all, ["a", "b", "c"].map(|name| intent(&run, name).effect));
    let unknown = names(store.unknown_effects(run.id, ALL).await.unwrap());
    assert_eq!(unknown, ["a", "c"].map(|name| intent(&run, name).effect));
}

pub(crate) async fn checkpoints_are_numbered_and_name_their_parents<S: Store>(scene: Scene<S>) {
    let run = scene.run().await;
    let store = &scene.store;
    assert_eq!(store.last_checkpoint(run.id).await, Ok(None));
    let first = store.save(draft(&run, None)).await.unwrap();
    let mut second = draft(&run, Some(first.id));
    second.intents = vec![intent(&run, "next")];
    let second = store.save(second).await.unwrap();
    assert_eq!((first.id.number, second.id.number), (1, 2));
    assert_eq!(second.pending, [intent(&run, "next").effect]);
    let unknown = store.unknown_effects(run.id, ALL).await.unwrap();
    assert_eq!(unknown.len(), 1, "its intent came with it");
    assert_eq!(store.checkpoint(first.id).await, Ok(Some(first.clone())));
    assert_eq!(
        store.last_checkpoint(run.id).await,
        Ok(Some(second.clone()))
    );
    assert_eq!(
        store.checkpoints(run.id, ALL).await,
        Ok(vec![first, second.clone()])
    );
    let fork = scene.run().await;
    let forked = store.save(draft(&fork, Some(second.id))).await.unwrap();
    assert_eq!((forked.id.number, forked.parent), (1, Some(second.id)));
}

pub(crate) async fn a_refused_checkpoint_leaves_no_intent_behind<S: Store>(scene: Scene<S>) {
    let run = scene.run().await;
    let store = &scene.store;
    let parent = CheckpointId {
        run: run.id,
        number: 7,
    };
    assert_eq!(
        store.save(draft(&run, Some(parent))).await,
        Err(CheckpointError::UnknownParent { parent })
    );
    let mut unknown = draft(&run, None);
    unknown.intents = vec![intent(&run, "begins")];
    unknown.pending = vec![intent(&run, "never begun").effect];
    let refused = store.save(unknown).await;
    assert!(matches!(refused, Err(CheckpointError::Journal(_))));
    assert_eq!(store.journal(run.id, ALL).await, Ok(Vec::new()));
    assert_eq!(store.last_checkpoint(run.id).await, Ok(None));
}
