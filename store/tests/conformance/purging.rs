//! Forgetting what is over.

use interrupt_router::RunId;
use interrupts::life::RunState;
use interrupts::store::{
    CheckpointId, Consumer, NewRun, NodeActivity, Page, Purged, Run, RunError, Store,
};
use jiff::SignedDuration;

use crate::nodes::{message, node};
use crate::running::{draft, intent};
use crate::scene::{ALL, Scene, choosing, delivery, person, question, rerouting};

const HOUR: SignedDuration = SignedDuration::from_secs(3_600);

/// A run that has something of everything.
async fn busy_run<S: Store>(scene: &Scene<S>, name: &str) -> Run {
    let run = scene.run().await;
    let store = &scene.store;
    let worker = node(&run, name, NodeActivity::Running);
    store
        .put_nodes(run.id, 1, vec![worker.clone()])
        .await
        .unwrap();
    store.send_message(message(&worker, name)).await.unwrap();
    store.begin(1, intent(&run, name)).await.unwrap();
    store.save(draft(&run, None)).await.unwrap();
    scene
        .admitted(rerouting(&run, &format!("{name}-event"), "OTHER"))
        .await;
    let open = scene.awaiting(question(&run, format!("{name}-asks"))).await;
    let decided = store.decide(open.id, person(&open), choosing(None));
    decided.await.unwrap();
    for state in [RunState::Running, RunState::Waiting] {
        store.change_run(run.id, 1, state, None).await.unwrap();
    }
    run
}

async fn end<S: Store>(scene: &Scene<S>, run: &Run) {
    let end = RunState::Cancelled;
    scene.store.change_run(run.id, 1, end, None).await.unwrap();
}

/// Everything that is kept of a run, as one text.
async fn kept<S: Store>(scene: &Scene<S>, run: &Run, name: &str) -> String {
    let store = &scene.store;
    let of_run = interrupts::store::Filter {
        run: Some(run.id),
        ..Default::default()
    };
    format!(
        "{:?}",
        (
            store.run(run.id).await,
            store.interrupts(&of_run, ALL).await,
            store
                .reroute(&crate::scene::event(&format!("{name}-event")))
                .await,
            store.nodes(Some(run.id), ALL).await,
            store.messages(run.id, ALL).await,
            store.journal(run.id, ALL).await,
            store.checkpoints(run.id, ALL).await,
        )
    )
}

pub(crate) async fn a_purge_removes_what_ended_long_ago_and_nothing_else<S: Store>(
    scene: Scene<S>,
) {
    let (old, live) = (
        busy_run(&scene, "old").await,
        busy_run(&scene, "live").await,
    );
    end(&scene, &old).await;
    scene.wait(3_600);
    let young = busy_run(&scene, "young").await;
    end(&scene, &young).await;
    let stays = [
        kept(&scene, &live, "live").await,
        kept(&scene, &young, "young").await,
    ];
    let store = &scene.store;
    let would = store.purgeable(HOUR).await.unwrap();
    assert_eq!(
        would,
        Purged {
            runs: vec![old.id],
            interrupts: 2,
            reroutes: 1,
            effects: 2,
            checkpoints: 1,
            nodes: 1,
            messages: 1,
            ..would.clone()
        }
    );
    assert!(store.run(old.id).await.unwrap().is_some(), "only counted");
    assert_eq!(store.purge(HOUR).await, Ok(would));
    let gone = kept(&scene, &old, "old").await;
    assert_eq!(
        gone,
        "(Ok(None), Ok([]), Ok(None), Ok([]), Ok([]), Ok([]), Ok([]))"
    );
    assert_eq!(kept(&scene, &live, "live").await, stays[0]);
    assert_eq!(kept(&scene, &young, "young").await, stays[1]);
    let effect = intent(&old, "old").effect;
    assert_eq!(store.effect(effect).await, Ok(None));
    let again = store.purge(HOUR).await.unwrap();
    assert!(again.runs.is_empty());
}

pub(crate) async fn a_purged_audit_is_verified_from_its_anchor<S: Store>(scene: Scene<S>) {
    let store = &scene.store;
    let first = busy_run(&scene, "first").await;
    let of_first = store.verify_audit().await.unwrap().head;
    let second = busy_run(&scene, "second").await;
    end(&scene, &first).await;
    scene.wait(3_600);
    let purged = store.purge(HOUR).await.unwrap();
    assert_eq!(purged.audit_rows, of_first.position, "the next one lives");
    let rows = store.audit(ALL).await.unwrap();
    assert_eq!(rows[0].position, of_first.position + 1);
    assert_eq!(rows[0].previous, of_first.digest);
    let says = rows.last().unwrap().read().unwrap().subject;
    let (through, anchor) = (of_first.position, of_first.digest);
    assert_eq!(
        says,
        interrupts::store::AuditSubject::Purge { through, anchor }
    );
    let head = store.verify_audit().await.unwrap().head;
    assert_eq!(head, rows.last().unwrap().head());
    // All of it, once nothing lives any more; what comes after follows still.
    end(&scene, &second).await;
    scene.wait(3_600);
    store.purge(HOUR).await.unwrap();
    busy_run(&scene, "third").await;
    let head = store.verify_audit().await.unwrap().head;
    let rows = store.audit(ALL).await.unwrap();
    assert_eq!(head, rows.last().unwrap().head());
}

pub(crate) async fn a_notification_stays_until_every_consumer_has_dealt_with_it<S: Store>(
    scene: Scene<S>,
) {
    let store = &scene.store;
    // The first row tells of the run itself.
    let run = scene.run().await;
    for number in 0..4 {
        scene.admitted(question(&run, format!("k{number}"))).await;
    }
    let left = async || -> Vec<u64> {
        let rows = store.outbox(ALL).await.unwrap();
        rows.iter().map(|row| row.position).collect()
    };
    for (consumer, through) in [("relay", 4), ("watcher", 2)] {
        let consumer = Consumer::new(consumer).unwrap();
        store.consumed(&consumer, through).await.unwrap();
    }
    let purged = store.purge(HOUR).await.unwrap();
    assert_eq!(purged, Purged::default(), "all is too young");
    scene.wait(3_600);
    assert_eq!(store.purge(HOUR).await.unwrap().notifications, 2);
    assert_eq!(left().await, [3, 4, 5]);
    scene.admitted(question(&run, "young")).await;
    let watcher = Consumer::new("watcher").unwrap();
    store.consumed(&watcher, 6).await.unwrap();
    assert_eq!(store.purge(HOUR).await.unwrap().notifications, 2);
    assert_eq!(left().await, [5, 6], "the relay is at 4");
    let relay = Consumer::new("relay").unwrap();
    store.consumed(&relay, 6).await.unwrap();
    store.purge(HOUR).await.unwrap();
    assert_eq!(left().await, [6], "it is young");
    assert_eq!(store.purge(-HOUR).await.unwrap().notifications, 1);
    let page = Page { after: 6, limit: 1 };
    scene.admitted(question(&run, "next")).await;
    assert_eq!(store.outbox(page).await.unwrap()[0].position, 7);
}

/// A run that has ended, and its checkpoint.
async fn ended_at<S: Store>(scene: &Scene<S>) -> CheckpointId {
    let run = scene.run().await;
    let checkpoint = scene.store.save(draft(&run, None)).await.unwrap().id;
    end(scene, &run).await;
    checkpoint
}

fn fork() -> NewRun {
    NewRun {
        root: None,
        id: RunId::generate(),
        alias: None,
        content: "{}".to_owned(),
    }
}

pub(crate) async fn a_run_stays_while_a_live_fork_of_it_has_no_checkpoint_of_its_own<S: Store>(
    scene: Scene<S>,
) {
    let store = &scene.store;
    let (from, given_up) = (ended_at(&scene).await, ended_at(&scene).await);
    let forked = store.fork_run(from, fork()).await.unwrap();
    let other = store.fork_run(given_up, fork()).await.unwrap();
    let owned = async |run: &Run| {
        let owned = store.own_run(run.id, delivery("owner", 600)).await.unwrap();
        let running = RunState::Running;
        let change = store.change_run(run.id, owned.epoch, running, None);
        change.await.unwrap()
    };
    // Its process may have died at once, or be at work.
    scene.wait(3_600);
    assert!(store.purgeable(HOUR).await.unwrap().runs.is_empty());
    assert!(store.purge(HOUR).await.unwrap().runs.is_empty());
    let (forked, other) = (owned(&forked).await, owned(&other).await);
    assert!(store.purge(HOUR).await.unwrap().runs.is_empty());
    assert!(store.checkpoint(from).await.unwrap().is_some());
    let again = store.fork_run(from, fork()).await.unwrap();

    // What has ended goes on from nowhere, and what has saved one goes on from that.
    let cancelled = RunState::Cancelled;
    for run in [&other, &again] {
        let epoch = run.epoch;
        store
            .change_run(run.id, epoch, cancelled, None)
            .await
            .unwrap();
    }
    let mut own = draft(&forked, Some(from));
    own.epoch = forked.epoch;
    let own = store.save(own).await.unwrap();
    let runs = store.purge(HOUR).await.unwrap().runs;
    assert_eq!(runs, [from.run, given_up.run]);
    let mut next = draft(&forked, Some(own.id));
    next.epoch = forked.epoch;
    store.save(next).await.unwrap();
}

pub(crate) async fn of_a_purge_and_a_fork_at_once_one_is_too_late<S: Store>(scene: Scene<S>) {
    let mut froms = Vec::new();
    for _round in 0..50 {
        froms.push(ended_at(&scene).await);
    }
    scene.wait(3_600);
    let store = scene.store.clone();
    let forks = tokio::spawn({
        let (store, froms) = (store.clone(), froms.clone());
        async move {
            let mut forks = Vec::new();
            // From the last one, so that the two meet.
            for from in froms.into_iter().rev() {
                forks.push((from, store.fork_run(from, fork()).await));
                tokio::task::yield_now().await;
            }
            forks
        }
    });
    let purged = store.purge(HOUR).await.unwrap();
    for (from, forked) in forks.await.unwrap() {
        let kept = store.checkpoint(from).await.unwrap();
        match forked {
            Ok(_) => assert!(kept.is_some(), "{from}"),
            Err(error) => {
                assert_eq!(error, RunError::NoCheckpoint { checkpoint: from });
                assert!(purged.runs.contains(&from.run));
            }
        }
    }
    for run in purged.runs {
        assert_eq!(store.run(run).await, Ok(None));
    }
}
