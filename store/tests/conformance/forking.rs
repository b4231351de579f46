//! Runs that go on from a checkpoint of another one.

use std::collections::BTreeMap;

use interrupt_router::{InterruptType, NodeId, RunId};
use interrupts::life::{Admission, Choosing, Role, RunState, Scope, Verdict};
use interrupts::store::{
    AdmitError, AuditSubject, Begun, CheckpointId, ForkStart, Intent, JournalEntry, KnownEffect,
    NewRun, NodeActivity, Notification, PendingInput, Run, RunError, Store, WaitingMessages,
};
use interrupts::{EffectId, KindName};

use crate::nodes::{message, node};
use crate::running::{draft, intent};
use crate::scene::{ALL, Scene, actor, choosing, delivery, event, person, question, rerouting};

/// An effect at a place of a run.
fn placed(run: &Run, place: &str) -> Intent {
    Intent {
        effect: EffectId::in_run(run.id, place),
        place: Some(place.to_owned()),
        ..intent(run, place)
    }
}

fn fork() -> NewRun {
    NewRun {
        root: None,
        id: RunId::generate(),
        alias: None,
        content: r#"{"goal":"the same"}"#.to_owned(),
    }
}

/// What is said to a fork.
fn starting_with(known: &KnownEffect) -> ForkStart {
    ForkStart {
        said: Some(known.clone()),
        ..ForkStart::default()
    }
}

async fn done<S: Store>(scene: &Scene<S>, intent: Intent, result: &str) -> JournalEntry {
    let effect = intent.effect;
    scene.store.begin(1, intent).await.unwrap();
    let finished = scene.store.finish(1, effect, result.to_owned());
    finished.await.unwrap()
}

pub(crate) async fn a_fork_takes_over_what_had_its_result_at_the_checkpoint<S: Store>(
    scene: Scene<S>,
) {
    let run = scene.run().await;
    let store = &scene.store;
    let (late, open) = (placed(&run, "b"), placed(&run, "d"));
    store.begin(1, late.clone()).await.unwrap();
    done(&scene, placed(&run, "c"), "\"c\"").await;
    done(&scene, placed(&run, "a"), "\"a\"").await;
    done(&scene, intent(&run, "without a place"), "\"w\"").await;
    store.begin(1, open.clone()).await.unwrap();
    let checkpoint = store.save(draft(&run, None)).await.unwrap();
    // Begun before the checkpoint and done after it, or begun after it: not the fork's.
    store
        .finish(1, late.effect, "\"b\"".to_owned())
        .await
        .unwrap();
    done(&scene, placed(&run, "e"), "\"e\"").await;

    let new = fork();
    let forked = store.fork_run(checkpoint.id, new.clone()).await.unwrap();
    assert_eq!(forked.forked_from, Some(checkpoint.id));
    assert_eq!(forked.content, new.content);
    let journal = store.journal(forked.id, ALL).await.unwrap();
    let taken: Vec<_> = journal
        .iter()
        .map(|entry| {
            let result = entry.result.as_ref().unwrap();
            let place = entry.intent.place.as_deref().unwrap();
            (place, result.content.as_str(), entry.intent.effect)
        })
        .collect();
    let effect = |place| EffectId::in_run(forked.id, place);
    assert_eq!(
        taken,
        [("c", "\"c\"", effect("c")), ("a", "\"a\"", effect("a"))]
    );
    // What the fork begins at such a place is known.
    let owned = store.own_run(forked.id, delivery("owner", 60)).await;
    let epoch = owned.unwrap().epoch;
    let known = store.begin(epoch, placed(&forked, "a")).await;
    assert_eq!(known, Ok(Begun::Known(journal[1].clone())));
    let rows = store.audit(ALL).await.unwrap();
    let forks = rows
        .iter()
        .filter_map(|row| match row.read().unwrap().subject {
            AuditSubject::Fork { run, from, effects } => Some((run, from, effects)),
            _ => None,
        });
    assert_eq!(forks.collect::<Vec<_>>(), [(forked.id, checkpoint.id, 2)]);
}

pub(crate) async fn a_fork_of_a_fork_takes_over_what_the_first_one_took<S: Store>(scene: Scene<S>) {
    let run = scene.run().await;
    let store = &scene.store;
    done(&scene, placed(&run, "a"), "\"a\"").await;
    let checkpoint = store.save(draft(&run, None)).await.unwrap();
    let first = store.fork_run(checkpoint.id, fork()).await.unwrap();
    let first = store
        .own_run(first.id, delivery("owner", 60))
        .await
        .unwrap();
    let mut of_fork = draft(&first, Some(checkpoint.id));
    of_fork.epoch = first.epoch;
    let of_fork = store.save(of_fork).await.unwrap();
    let second = store.fork_run(of_fork.id, fork()).await.unwrap();
    let journal = store.journal(second.id, ALL).await.unwrap();
    assert_eq!(journal.len(), 1);
    assert_eq!(journal[0].intent.effect, EffectId::in_run(second.id, "a"));
}

pub(crate) async fn a_fork_is_made_once_and_only_of_a_checkpoint<S: Store>(scene: Scene<S>) {
    let run = scene.run().await;
    let store = &scene.store;
    let first = store.save(draft(&run, None)).await.unwrap();
    let second = store.save(draft(&run, None)).await.unwrap();
    let new = NewRun {
        root: None,
        alias: Some("second try".to_owned()),
        ..fork()
    };
    let forked = store.fork_run(first.id, new.clone()).await.unwrap();
    let again = store.fork_run(first.id, new.clone()).await;
    assert_eq!(again, Ok(forked.clone()));
    let taken = Err(RunError::Taken { run: forked.id });
    assert_eq!(store.fork_run(second.id, new.clone()).await, taken);
    assert_eq!(store.create_run(new.clone()).await, taken);
    let same_alias = NewRun {
        root: None,
        id: RunId::generate(),
        ..new
    };
    assert_eq!(store.fork_run(first.id, same_alias).await, taken);
    assert_eq!(store.run_of("second try").await, Ok(Some(forked)));
    let checkpoint = CheckpointId {
        run: run.id,
        number: 3,
    };
    let nothing = fork();
    assert_eq!(
        store.fork_run(checkpoint, nothing.clone()).await,
        Err(RunError::NoCheckpoint { checkpoint })
    );
    assert_eq!(store.run(nothing.id).await, Ok(None));
}

pub(crate) async fn a_fork_has_what_it_is_created_with<S: Store>(scene: Scene<S>) {
    let run = scene.run().await;
    let store = &scene.store;
    done(&scene, placed(&run, "a"), "\"a\"").await;
    let checkpoint = store.save(draft(&run, None)).await.unwrap();
    let told = store.outbox(ALL).await.unwrap().len();
    let new = fork();
    let known = KnownEffect {
        node: NodeId::root(),
        kind: KindName::new("input").unwrap(),
        place: "said".to_owned(),
        content: "\"mind the oven\"".to_owned(),
        result: "{}".to_owned(),
    };
    let create = async || {
        let start = starting_with(&known);
        let created = store.fork_run_with(checkpoint.id, new.clone(), start);
        created.await.unwrap()
    };
    let forked = create().await;
    let journal = store.journal(forked.id, ALL).await.unwrap();
    let places = journal.iter().map(|entry| entry.intent.place.as_deref());
    assert_eq!(places.collect::<Vec<_>>(), [Some("a"), Some("said")]);
    let said = &journal[1];
    assert_eq!(said.intent.content, known.content);
    assert_eq!(said.intent.effect, EffectId::in_run(forked.id, "said"));
    let result = said.result.as_ref().unwrap();
    assert_eq!(result.content, known.result);
    // It happens now; what was taken over happened in the other run.
    let outbox = store.outbox(ALL).await.unwrap();
    let news = outbox[told..].iter().filter_map(|row| {
        let Notification::Effect { effect, done, .. } = &row.notification else {
            return None;
        };
        Some((*effect, *done))
    });
    let effect = said.intent.effect;
    assert_eq!(news.collect::<Vec<_>>(), [(effect, false), (effect, true)]);

    assert_eq!(create().await, forked);
    let again = store.journal(forked.id, ALL).await.unwrap();
    assert_eq!(again, journal);
    // A fork of it takes it over with the rest.
    let owned = store.own_run(forked.id, delivery("owner", 60)).await;
    let owned = owned.unwrap();
    let mut of_fork = draft(&owned, Some(checkpoint.id));
    of_fork.epoch = owned.epoch;
    let of_fork = store.save(of_fork).await.unwrap();
    let second = store.fork_run(of_fork.id, fork()).await.unwrap();
    let taken = store.journal(second.id, ALL).await.unwrap();
    let places = taken.iter().map(|entry| entry.intent.place.as_deref());
    assert_eq!(places.collect::<Vec<_>>(), [Some("a"), Some("said")]);
    // Where there is nothing to go on from, nothing is created.
    let nowhere = CheckpointId {
        run: run.id,
        number: 7,
    };
    let nothing = fork();
    let refused = store.fork_run_with(nowhere, nothing.clone(), starting_with(&known));
    assert!(refused.await.is_err());
    assert_eq!(store.journal(nothing.id, ALL).await, Ok(Vec::new()));
}

pub(crate) async fn effects_and_checkpoints_are_told_and_counted<S: Store>(scene: Scene<S>) {
    let run = scene.run().await;
    let store = &scene.store;
    let entry = done(&scene, placed(&run, "a"), "1").await;
    assert_eq!(entry.result.unwrap().count, 2, "its intent and itself");
    let mut with_intent = draft(&run, None);
    with_intent.intents = vec![placed(&run, "b")];
    let checkpoint = store.save(with_intent).await.unwrap();
    assert_eq!(checkpoint.journal, 3);
    let read = store.checkpoint(checkpoint.id).await;
    assert_eq!(read, Ok(Some(checkpoint.clone())));
    let (a, b) = (placed(&run, "a").effect, placed(&run, "b").effect);
    let told = store.outbox(ALL).await.unwrap();
    let told: Vec<_> = told
        .iter()
        .skip(1) // It tells of the run itself.
        .map(|row| match &row.notification {
            Notification::Effect { effect, done, .. } => Ok((*effect, *done)),
            Notification::Checkpoint { checkpoint } => Err(checkpoint.number),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(
        told,
        [Ok((a, false)), Ok((a, true)), Ok((b, false)), Err(1)]
    );
    let rows = store.audit(ALL).await.unwrap();
    let last = rows.last().unwrap().read().unwrap().subject;
    let expected = AuditSubject::Checkpoint {
        run: run.id,
        number: 1,
        content: checkpoint.digest,
    };
    assert_eq!(last, expected);
}

/// A fork would go on without a message that waits: neither a fork nor a BRANCH of the run is made before it is read,
/// taken back, or left unread by the end of the run.
pub(crate) async fn a_run_whose_agents_have_messages_to_read_is_not_forked<S: Store>(
    scene: Scene<S>,
) {
    let (run, store) = (scene.run().await, &scene.store);
    let (a, b) = (
        node(&run, "a", NodeActivity::Running),
        node(&run, "b", NodeActivity::Running),
    );
    let nodes = vec![a.clone(), b.clone()];
    store.put_nodes(run.id, 1, nodes).await.unwrap();
    let from = store.save(draft(&run, None)).await.unwrap().id;
    let before = store.fork_run(from, fork()).await.unwrap();
    for (number, reader) in [&a, &a, &b].into_iter().enumerate() {
        let text = format!("{}-{number}", run.id);
        store.send_message(message(reader, &text)).await.unwrap();
    }
    let branch = |key: &str| Admission {
        interrupt_type: InterruptType::Branch,
        scope: Scope::Run,
        ..question(&run, key)
    };
    let waiting = WaitingMessages(BTreeMap::from([(a.node.clone(), 2), (b.node.clone(), 1)]));
    assert!(
        waiting
            .to_string()
            .ends_with("2 messages to root/a, 1 message to root/b"),
        "{waiting}"
    );
    let refused = store.fork_run(from, fork()).await;
    assert_eq!(refused, Err(pending_messages(&run, waiting.clone())));
    let refused = store.admit(branch("first")).await;
    assert_eq!(refused, Err(AdmitError::MessagesWait(waiting.clone())));
    let refused = store.join(branch("first")).await;
    assert_eq!(refused, Err(AdmitError::MessagesWait(waiting)));
    // What was forked before stays, and the other run is not told of another's messages.
    let again = NewRun {
        id: before.id,
        ..fork()
    };
    assert_eq!(store.fork_run(from, again).await, Ok(before));

    store.read_messages(run.id, 1, &[1, 3]).await.unwrap();
    let one = WaitingMessages(BTreeMap::from([(a.node.clone(), 1)]));
    let refused = store.fork_run(from, fork()).await;
    assert_eq!(refused, Err(pending_messages(&run, one)));
    let taken_back = store.withdraw_message(run.id, 2, actor(Role::Supervisor));
    taken_back.await.unwrap();
    store.fork_run(from, fork()).await.unwrap();
    store.admit(branch("second")).await.unwrap();

    store.send_message(message(&b, "late")).await.unwrap();
    assert!(store.fork_run(from, fork()).await.is_err());
    let dropping = ForkStart {
        drops_pending: true,
        ..ForkStart::default()
    };
    store.fork_run_with(from, fork(), dropping).await.unwrap();
    for state in [RunState::Running, RunState::Failed] {
        store.change_run(run.id, 1, state, None).await.unwrap();
    }
    store.fork_run(from, fork()).await.unwrap();
}

fn pending_messages(run: &Run, waiting: WaitingMessages) -> RunError {
    RunError::Pending {
        run: run.id,
        pending: PendingInput::Messages(waiting),
        goes_on: true,
    }
}

/// What a fork of a run at a checkpoint would go on without.
async fn pending_at<S: Store>(
    scene: &Scene<S>,
    run: &Run,
    from: CheckpointId,
) -> Option<PendingInput> {
    let new = NewRun {
        root: None,
        id: RunId::generate(),
        alias: None,
        content: "{}".to_owned(),
    };
    let start = ForkStart {
        leaves: Some(run.id),
        ..ForkStart::default()
    };
    match scene.store.fork_run_with(from, new, start).await {
        Ok(_forked) => None,
        Err(RunError::Pending { pending, .. }) => Some(pending),
        Err(error) => panic!("{error}"),
    }
}

/// The same, where the run stands.
async fn pending<S: Store>(scene: &Scene<S>, run: &Run) -> Option<PendingInput> {
    let run = scene.store.run(run.id).await.unwrap().unwrap();
    pending_at(scene, &run, run.goes_on_from().unwrap()).await
}

/// A run that has a checkpoint.
async fn standing<S: Store>(scene: &Scene<S>) -> Run {
    let run = scene.run().await;
    scene.store.save(draft(&run, None)).await.unwrap();
    assert_eq!(pending(scene, &run).await, None);
    run
}

/// A fork would go on without what its run was told and has not carried out: that is named.
pub(crate) async fn what_a_fork_would_go_on_without_is_named<S: Store>(scene: Scene<S>) {
    let store = &*scene.store;
    let answered = standing(&scene).await;
    let open = scene.awaiting(question(&answered, "open")).await;
    assert_eq!(pending(&scene, &answered).await, None, "it asks for itself");
    // Both may be in one transaction.
    let (decided, forked) = futures_util::join!(
        store.decide(open.id, person(&open), choosing(None)),
        pending(&scene, &answered)
    );
    let answer = Some(PendingInput::Answer(open.id));
    assert_eq!(forked, answer);
    let effect = decided.unwrap().decision.unwrap().effect;
    store.finish(1, effect, "{}".to_owned()).await.unwrap();
    assert_eq!(pending(&scene, &answered).await, None);

    let asked = standing(&scene).await;
    scene.admitted(rerouting(&asked, "event", "OTHER")).await;
    let reroute = Some(PendingInput::Reroute(event("event")));
    assert_eq!(pending(&scene, &asked).await, reroute);
    // A fork that begins earlier has nothing of what came later.
    let earlier = CheckpointId {
        run: asked.id,
        number: 1,
    };
    store.save(draft(&asked, None)).await.unwrap();
    assert_eq!(pending(&scene, &asked).await, reroute);
    assert_eq!(pending_at(&scene, &asked, earlier).await, None);

    let told = standing(&scene).await;
    let words = Intent {
        kind: KindName::new("input").unwrap(),
        ..placed(&told, "said")
    };
    done(&scene, words, "{}").await;
    assert_eq!(pending(&scene, &told).await, Some(PendingInput::Words));
    store.save(draft(&told, None)).await.unwrap();
    assert_eq!(pending(&scene, &told).await, None, "a fork takes it over");
}

/// Of the end of a pause, only what was said with it.
pub(crate) async fn a_pause_that_ended_without_words_holds_up_no_fork<S: Store>(scene: Scene<S>) {
    let paused = standing(&scene).await;
    for (content, says) in [(None, false), (Some(r#"{"input":"keep it short"}"#), true)] {
        let pause = Admission {
            interrupt_type: InterruptType::Pause,
            scope: Scope::Run,
            ..question(&paused, content.unwrap_or("plain"))
        };
        let open = scene.awaiting(pause).await;
        let decision = Choosing {
            verdict: if says {
                Verdict::Respond
            } else {
                Verdict::Resume
            },
            content: content.map(str::to_owned),
            ..choosing(None)
        };
        let decided = scene.store.decide(open.id, person(&open), decision);
        decided.await.unwrap();
        let answer = says.then_some(PendingInput::Answer(open.id));
        assert_eq!(pending(&scene, &paused).await, answer);
    }
}
