//! A file that this release wrote: every later one opens it, verifies it and goes on from it.
//!
//! To write it anew, which only a release that changes the schema does:
//! `IRQ_WRITE_GOLDEN=1 cargo nextest run -p interrupt-router-store golden`.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use interrupt_router::RunId;
use interrupts::life::{RunState, State};
use interrupts::store::{
    Audit as _, Begun, Checkpoints as _, ForkStart, Interrupts as _, Journal as _, Messages as _,
    NewRun, NodeActivity, Nodes as _, Outbox as _, Runs as _, Tokens as _,
};
use interrupts::{Digest, EffectId};
use rusqlite::Connection;
use store::{SqliteStore, StoreSettings};

use crate::nodes::{message, node};
use crate::running::{draft, intent};
use crate::scene::{ALL, Scene, asked, choosing, delivery, key, person, question, rerouting};
use crate::tokens::token;

/// By which the run is found whose id nobody knows.
const ALIAS: &str = "golden";

/// The place of an effect that is done, and of one whose outcome is unknown.
const PLACES: [&str; 2] = ["root#1/answer/0", "root#2/answer/0"];

fn golden() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/schema-2.db")
}

/// Writes a life in which something of everything stands open.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_golden_file_can_be_written_anew() {
    let scene = Scene::in_sqlite().await;
    let store = scene.store.clone();
    let new = NewRun {
        root: None,
        id: RunId::generate(),
        alias: Some(ALIAS.to_owned()),
        content: "{}".to_owned(),
    };
    let created = store.create_run(new).await.unwrap();
    let run = store
        .own_run(created.id, delivery("owner", 60))
        .await
        .unwrap();
    store
        .change_run(run.id, 1, RunState::Running, None)
        .await
        .unwrap();
    let worker = node(&run, "worker", NodeActivity::Running);
    store
        .put_nodes(run.id, 1, vec![worker.clone()])
        .await
        .unwrap();
    store.send_message(message(&worker, "hello")).await.unwrap();
    store.put_token(token("secret")).await.unwrap();
    for place in PLACES {
        let mut effect = intent(&run, place);
        effect.effect = EffectId::in_run(run.id, place);
        effect.place = Some(place.to_owned());
        store.begin(1, effect).await.unwrap();
    }
    let done = EffectId::in_run(run.id, PLACES[0]);
    store.finish(1, done, "\"yes\"".to_owned()).await.unwrap();
    store.save(draft(&run, None)).await.unwrap();
    let told = scene.admitted(rerouting(&run, "event", "OTHER")).await;
    store
        .deliver(told.id, delivery("worker", 60))
        .await
        .unwrap();
    scene.awaiting(question(&run, "asks")).await;
    drop(store);
    let Scene { store, folder, .. } = scene;
    let file = folder.as_ref().unwrap().path().join("store.sqlite");
    Arc::into_inner(store).unwrap().close().await.unwrap();
    if std::env::var_os("IRQ_WRITE_GOLDEN").is_some() {
        let small = Connection::open(file).unwrap();
        small
            .execute_batch("PRAGMA journal_mode = delete; PRAGMA page_size = 512; VACUUM;")
            .unwrap();
        let into = golden();
        std::fs::create_dir_all(into.parent().unwrap()).unwrap();
        std::fs::copy(small.path().unwrap(), into).unwrap();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_of_this_release_opens_verifies_and_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("golden.db");
    std::fs::copy(golden(), &file).unwrap();
    let store = SqliteStore::open(&file, StoreSettings::default())
        .await
        .unwrap();
    let head = store.verify_audit().await.unwrap().head;
    let run = store.run_of(ALIAS).await.unwrap().unwrap();
    assert_eq!((run.state, run.epoch), (RunState::Running, 1));
    let nodes = store.nodes(Some(run.id), ALL).await.unwrap();
    assert_eq!(nodes[0].1.activity, NodeActivity::Running);
    let messages = store.messages(run.id, ALL).await.unwrap();
    assert_eq!(messages[0].message.text, "hello");
    let secret = Digest::of(b"secret");
    assert!(store.use_token(secret).await.unwrap().is_some());
    assert!(!store.outbox(ALL).await.unwrap().is_empty());

    // Its leases are over: another process goes on where it stood.
    let run = store.own_run(run.id, delivery("next", 60)).await.unwrap();
    assert_eq!(run.epoch, 2);
    let mut known = intent(&run, PLACES[0]);
    known.effect = EffectId::in_run(run.id, PLACES[0]);
    known.place = Some(PLACES[0].to_owned());
    let Begun::Known(entry) = store.begin(2, known).await.unwrap() else {
        panic!("its result is there");
    };
    assert_eq!(entry.result.unwrap().content, "\"yes\"");
    let unknown = store.unknown_effects(run.id, ALL).await.unwrap();
    assert_eq!(unknown.len(), 1);
    let event = store.interrupt_of(&key("event")).await.unwrap().unwrap();
    let event = store.deliver(event.id, delivery("next", 60)).await.unwrap();
    let answered = store.acknowledge(event.id, event.epoch, asked()).await;
    assert_eq!(answered.unwrap().state, State::Acknowledged);
    let asks = store.interrupt_of(&key("asks")).await.unwrap().unwrap();
    // The event's reroute is bound to the question, and decides where the answer goes.
    let decided = store.decide(asks.id, person(&asks), choosing(None)).await;
    assert_eq!(decided.unwrap().state, State::Rerouted);
    let last = store.last_checkpoint(run.id).await.unwrap().unwrap();
    let fork = NewRun {
        root: None,
        id: RunId::generate(),
        alias: None,
        content: "{}".to_owned(),
    };
    let start = ForkStart {
        drops_pending: true,
        ..ForkStart::default()
    };
    let fork = store.fork_run_with(last.id, fork, start).await.unwrap();
    assert_eq!(store.journal(fork.id, ALL).await.unwrap().len(), 1);
    let after = store.verify_audit().await.unwrap().head;
    assert!(after.position > head.position);
}
