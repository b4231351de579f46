//! What is there after the store was closed, and after the process was killed.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

use futures_util::future::join_all;
use interrupt_router::RunId;
use interrupts::store::{Audit as _, Interrupts as _, NewRun, Outbox as _, Runs as _};
use store::{SqliteStore, StoreSettings};

use crate::scene::{ALL, Scene, choosing, key, person, question, rerouting};

/// Names the file that the child publishes to.
const CHILD_FILE: &str = "IRQ_STORE_TEST_FILE";

/// What a child prints before each key that was acknowledged.
const ACKNOWLEDGED: &str = "acknowledged ";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn everything_is_there_when_the_store_is_opened_again() {
    let scene = Scene::in_sqlite().await;
    let run = scene.run().await;
    scene.admitted(rerouting(&run, "e", "OTHER")).await;
    let open = scene.awaiting(question(&run, "k")).await;
    let head = scene.store.verify_audit().await.unwrap().head;
    let told = scene.store.outbox(ALL).await.unwrap();
    let scene = scene.reopen().await;
    assert_eq!(scene.interrupt(open.id).await, open);
    assert_eq!(scene.store.verify_audit().await.unwrap().head, head);
    assert_eq!(scene.store.outbox(ALL).await.unwrap(), told);
    let decided = scene
        .store
        .decide(open.id, person(&open), choosing(None))
        .await
        .unwrap();
    let scene = scene.reopen().await;
    assert_eq!(scene.interrupt(open.id).await, decided);
    let known = scene.store.admit(question(&run, "k")).await.unwrap();
    assert_eq!(known.into_interrupt(), decided);
    scene.store.verify_audit().await.unwrap();
}

/// The child: publishes from many tasks at once, and prints each key when the store has answered. Without the
/// file it is no child, and there is nothing to do.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn child_that_publishes_until_it_is_killed() {
    let Some(file) = std::env::var_os(CHILD_FILE) else {
        return;
    };
    let store = SqliteStore::open(file, StoreSettings::default())
        .await
        .unwrap();
    let new = NewRun {
        root: None,
        id: RunId::generate(),
        alias: None,
        content: "{}".to_owned(),
    };
    let run = store.create_run(new).await.unwrap();
    let publishers = (0..8).map(|publisher| {
        let (store, run) = (&store, &run);
        async move {
            for number in 0..100_000 {
                let name = format!("{}-{publisher}-{number}", run.id);
                store.admit(question(run, name.clone())).await.unwrap();
                println!("{ACKNOWLEDGED}{name}");
            }
        }
    });
    join_all(publishers).await;
}

/// Starts the child, kills it after so many acknowledgements, and returns all that it had printed.
fn publish_and_kill(file: &Path, acknowledgements: usize) -> Vec<String> {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "--nocapture"])
        .arg("recovery::child_that_publishes_until_it_is_killed")
        .env(CHILD_FILE, file)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut keys = Vec::new();
    let output = BufReader::new(child.stdout.take().unwrap());
    for line in output.lines() {
        // The last line may be cut off by the kill: without its end it was not acknowledged to anybody.
        let line = line.unwrap();
        if let Some((_before, name)) = line.split_once(ACKNOWLEDGED) {
            keys.push(name.to_owned());
        }
        if keys.len() == acknowledgements {
            child.kill().unwrap();
        }
    }
    child.wait().unwrap();
    assert!(keys.len() >= acknowledgements, "the child ended too early");
    keys
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_acknowledged_survives_kill_9() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("store.sqlite");
    let mut acknowledged = Vec::new();
    for deaths in 0..5 {
        acknowledged.extend(publish_and_kill(&file, 20 + deaths * 37));
        let store = SqliteStore::open(&file, StoreSettings::default())
            .await
            .unwrap();
        for name in &acknowledged {
            // A key is "run-publisher-number"; one that the kill cut short has fewer parts.
            if name.split('-').count() < 3 {
                continue;
            }
            let found = store.interrupt_of(&key(name.clone())).await.unwrap();
            assert!(found.is_some(), "{name} was acknowledged and is lost");
        }
        let rows = store.interrupts(&Default::default(), ALL).await.unwrap();
        let head = store.verify_audit().await.unwrap().head;
        let runs = store.runs(&[], ALL).await.unwrap().len();
        assert_eq!(head.position, (rows.len() + runs) as u64);
        assert_eq!(store.outbox(ALL).await.unwrap().len(), rows.len() + runs);
        store.close().await.unwrap();
    }
}

/// Publishes through a shell that lets no file grow beyond a size, and returns the keys that were acknowledged.
fn publish_with_little_room(file: &Path, kilobytes: usize) -> Vec<String> {
    let program = std::env::current_exe().unwrap();
    // A write beyond the limit then fails as one to a full disk does, instead of ending the process.
    let script = format!("trap '' XFSZ; ulimit -f {kilobytes}; exec \"$0\" \"$@\"");
    let output = Command::new("bash")
        .args(["-c", &script])
        .arg(program)
        .args(["--exact", "--nocapture"])
        .arg("recovery::child_that_publishes_until_it_is_killed")
        .env(CHILD_FILE, file)
        .output()
        .unwrap();
    assert!(!output.status.success(), "it never ran out of room");
    let said = String::from_utf8(output.stdout).unwrap();
    said.lines()
        .filter_map(|line| line.split_once(ACKNOWLEDGED))
        .map(|(_before, name)| name.to_owned())
        .collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_acknowledged_before_the_room_ended_is_there_and_it_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("store.sqlite");
    let acknowledged = publish_with_little_room(&file, 2_000);
    assert!(!acknowledged.is_empty());
    let store = SqliteStore::open(&file, StoreSettings::default())
        .await
        .unwrap();
    for name in &acknowledged {
        let found = store.interrupt_of(&key(name.clone())).await.unwrap();
        assert!(found.is_some(), "{name} was acknowledged and is lost");
    }
    store.verify_audit().await.unwrap();
    let new = NewRun {
        root: None,
        id: RunId::generate(),
        alias: None,
        content: "{}".to_owned(),
    };
    store.create_run(new).await.unwrap();
}

/// A power cut leaves some beginning of what was written to the log: at every one of them there is a whole
/// commit, and the audit of all commits up to it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_log_that_is_cut_off_anywhere_opens_at_a_whole_commit() {
    let scene = Scene::in_sqlite().await;
    let run = scene.run().await;
    for number in 0..12 {
        scene.admitted(question(&run, format!("k{number}"))).await;
    }
    let folder = scene.folder.as_ref().unwrap().path();
    let log = std::fs::read(folder.join("store.sqlite-wal")).unwrap();
    let main = std::fs::read(folder.join("store.sqlite")).unwrap();
    let cuts = 24;
    let mut found = Vec::new();
    for cut in 0..=cuts {
        let copy = tempfile::tempdir().unwrap();
        let file = copy.path().join("store.sqlite");
        std::fs::write(&file, &main).unwrap();
        let part = &log[..log.len() * cut / cuts];
        std::fs::write(copy.path().join("store.sqlite-wal"), part).unwrap();
        let store = SqliteStore::open(&file, StoreSettings::default())
            .await
            .unwrap();
        let kept = store.interrupts(&Default::default(), ALL).await.unwrap();
        let runs = store.runs(&[], ALL).await.unwrap().len();
        let head = store.verify_audit().await.unwrap().head;
        // Creating, owning, and one row for each that was admitted.
        let of_run = head.position - kept.len() as u64;
        assert!(of_run <= 2 * runs as u64, "{of_run} rows of {runs} runs");
        assert_eq!(store.outbox(ALL).await.unwrap().len(), kept.len() + runs);
        found.push(kept.len());
        store.close().await.unwrap();
    }
    assert!(found.is_sorted(), "{found:?}");
    assert_eq!(found.last(), Some(&12));
}
