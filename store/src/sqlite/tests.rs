//! What a file does when something is wrong with it: a clear error, nothing accepted, and on it goes afterwards.

mod bound;

use std::fs::OpenOptions;
use std::io::{Seek as _, SeekFrom, Write as _};
use std::path::Path;
use std::sync::{Mutex, mpsc};
use std::time::Duration;

use futures_util::FutureExt as _;
use interrupt_router::RunId;
use interrupts::store::{Audit as _, Delivery, NewRun, RunError, Runs as _, StoreError};
use interrupts::{OwnFiles, OwnerName};
use jiff::SignedDuration;
use rusqlite::Connection;

use super::open::{connect, make, start};
use super::{SqliteStore, schema, until_closed};
use crate::adapter::StoreSettings;
use crate::relational::Relational as _;

fn new_run(content: &str) -> NewRun {
    NewRun {
        root: None,
        id: RunId::generate(),
        alias: None,
        content: content.to_owned(),
    }
}

async fn open(path: &Path) -> Result<SqliteStore, StoreError> {
    SqliteStore::open(path, StoreSettings::default()).await
}

fn told(connection: &Connection, sql: &str) {
    connection.execute_batch(sql).unwrap();
}

/// A store whose writing connection has been told something first.
fn open_after(path: &Path, sql: &'static str) -> SqliteStore {
    make(path).unwrap();
    let connection = connect(path).unwrap();
    told(&connection, sql);
    let own = std::sync::Arc::new(super::open::own_files(path));
    start(connection, path, StoreSettings::default(), own).unwrap()
}

/// The store refuses a large run and a small one with the error, keeps neither, and takes both when it is
/// opened again.
async fn refuses_and_recovers(path: &Path, sql: &'static str, expected: &StoreError) {
    let large = new_run(&format!("\"{}\"", "x".repeat(1 << 20)));
    let store = open_after(path, sql);
    let refused = store.create_run(large.clone()).await;
    assert_eq!(refused, Err(RunError::Store(expected.clone())));
    assert_eq!(store.run(large.id).await, Ok(None));
    store.close().await.unwrap();
    let store = open(path).await.unwrap();
    store.create_run(large.clone()).await.unwrap();
    assert!(store.run(large.id).await.unwrap().is_some());
    store.verify_audit().await.unwrap();
    store.close().await.unwrap();
}

#[cfg(unix)]
#[tokio::test]
async fn the_files_of_an_open_store_are_kept_from_other_readers_whatever_it_was_called() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    open(&path("store.sqlite"))
        .await
        .unwrap()
        .close()
        .await
        .unwrap();
    std::os::unix::fs::symlink(path("store.sqlite"), path("link")).unwrap();
    let store = open(&path("link")).await.unwrap();
    store.create_run(new_run("{}")).await.unwrap();
    for name in [
        "link",
        "store.sqlite",
        "store.sqlite-wal",
        "store.sqlite-shm",
    ] {
        assert!(path(name).exists(), "{name}");
        assert!(OwnFiles::include(&path(name)), "{name}");
    }
    store.close().await.unwrap();
    assert!(!OwnFiles::include(&path("store.sqlite")), "it is closed");
}

#[tokio::test]
async fn a_full_disk_a_read_only_file_and_a_lock_are_clear_errors_and_lose_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.sqlite");
    let first = open(&path).await.unwrap();
    let kept = first.create_run(new_run("{}")).await.unwrap();
    first.close().await.unwrap();

    refuses_and_recovers(&path, "PRAGMA max_page_count = 60", &StoreError::Full).await;
    refuses_and_recovers(&path, "PRAGMA query_only = ON", &StoreError::ReadOnly).await;

    let other = connect(&path).unwrap();
    told(&other, "BEGIN IMMEDIATE");
    let store = open_after(&path, "PRAGMA busy_timeout = 1");
    let waiting = new_run("{}");
    let refused = store.create_run(waiting.clone()).await;
    assert_eq!(refused, Err(RunError::Store(StoreError::Locked)));
    told(&other, "ROLLBACK");
    store.create_run(waiting).await.unwrap();
    assert_eq!(store.run(kept.id).await, Ok(Some(kept)));
}

#[tokio::test]
async fn a_store_that_was_full_goes_on_when_there_is_room() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.sqlite");
    let store = open_after(&path, "PRAGMA max_page_count = 60");
    let large = new_run(&format!("\"{}\"", "x".repeat(1 << 20)));
    let small = new_run("{}");
    // One operation that does not fit must not take the others of its batch with it.
    let (refused, accepted) =
        tokio::join!(store.create_run(large), store.create_run(small.clone()));
    assert_eq!(refused, Err(RunError::Store(StoreError::Full)));
    assert_eq!(accepted.unwrap().id, small.id);
    assert!(store.run(small.id).await.unwrap().is_some());
    store.verify_audit().await.unwrap();
}

#[tokio::test]
async fn a_file_of_a_newer_program_is_refused_with_the_reason() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.sqlite");
    open(&path).await.unwrap().close().await.unwrap();
    told(&connect(&path).unwrap(), "PRAGMA user_version = 99");
    let refused = open(&path).await.map(drop);
    let newer = StoreError::Newer {
        found: 99,
        known: schema::NEWEST,
    };
    assert_eq!(refused, Err(newer.clone()));
    assert!(newer.to_string().contains("newer program"));
}

#[tokio::test]
async fn a_file_that_a_newer_program_has_changed_meanwhile_is_written_no_more() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.sqlite");
    let store = open(&path).await.unwrap();
    let before = store.create_run(new_run("{}")).await.unwrap();
    let newer_program = connect(&path).unwrap();
    told(&newer_program, "PRAGMA user_version = 99");
    let refused = store.create_run(new_run("{}")).await;
    let newer = StoreError::Newer {
        found: 99,
        known: schema::NEWEST,
    };
    assert_eq!(refused, Err(RunError::Store(newer)));
    let count = number(&newer_program, "SELECT COUNT(*) FROM runs");
    assert_eq!(count, 1);
    assert_eq!(store.run(before.id).await, Ok(Some(before)));
}

#[tokio::test]
async fn a_damaged_page_and_a_file_that_is_no_database_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.sqlite");
    let store = open(&path).await.unwrap();
    for _run in 0..50 {
        let content = format!("\"{}\"", "x".repeat(2_000));
        store.create_run(new_run(&content)).await.unwrap();
    }
    store.close().await.unwrap();
    let mut file = OpenOptions::new().write(true).open(&path).unwrap();
    for page in 2..20 {
        file.seek(SeekFrom::Start(page * 4_096)).unwrap();
        file.write_all(&[0xa5; 512]).unwrap();
    }
    drop(file);
    let refused = open(&path).await.map(drop);
    assert!(
        matches!(refused, Err(StoreError::Corrupt { .. })),
        "{refused:?}"
    );

    let no_database = folder.path().join("text.sqlite");
    std::fs::write(&no_database, "this is a text, ".repeat(1_000)).unwrap();
    let refused = open(&no_database).await.map(drop);
    assert!(
        matches!(refused, Err(StoreError::Corrupt { .. })),
        "{refused:?}"
    );
}

#[tokio::test]
async fn two_processes_may_open_a_new_file_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.sqlite");
    let (first, second) = tokio::join!(open(&path), open(&path));
    let (first, second) = (first.unwrap(), second.unwrap());
    let run = first.create_run(new_run("{}")).await.unwrap();
    assert_eq!(second.run(run.id).await, Ok(Some(run)));
    second.create_run(new_run("{}")).await.unwrap();
    assert_eq!(first.verify_audit().await.unwrap().head.position, 2);
}

#[tokio::test]
async fn a_row_that_was_changed_or_cut_off_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.sqlite");
    let store = open(&path).await.unwrap();
    for _run in 0..5 {
        store.create_run(new_run("{}")).await.unwrap();
    }
    let vandal = connect(&path).unwrap();
    let broken = interrupts::store::VerifyError::Broken { position: 3 };
    told(
        &vandal,
        "UPDATE audit SET entry = replace(entry, 'create', 'crated') WHERE position = 3",
    );
    assert_eq!(store.verify_audit().await, Err(broken.clone()));
    told(&vandal, "DELETE FROM audit WHERE position = 3");
    assert_eq!(store.verify_audit().await, Err(broken));
    told(&vandal, "DELETE FROM audit WHERE position > 2");
    let cut = interrupts::store::VerifyError::CutOff {
        found: 2,
        expected: 5,
    };
    assert_eq!(store.verify_audit().await, Err(cut));
}

/// What one statement finds, as one number.
fn number(connection: &Connection, sql: &str) -> i64 {
    connection.query_row(sql, (), |row| row.get(0)).unwrap()
}

#[tokio::test]
async fn what_another_version_put_beside_a_row_survives_its_change() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.sqlite");
    let store = open(&path).await.unwrap();
    let new = new_run("{}");
    let run = store.create_run(new).await.unwrap();
    let other = connect(&path).unwrap();
    for (table, column) in [("runs", "body"), ("outbox", "heads")] {
        let sql = format!(
            "UPDATE {table} SET {column} = json_set({column}, '$.later', json('{{\"deep\":[1]}}')), seal = NULL"
        );
        told(&other, &sql);
    }
    let owner = Delivery {
        owner: OwnerName::new("owner").unwrap(),
        lease: SignedDuration::from_secs(60),
        lost: None,
    };
    store.own_run(run.id, owner.clone()).await.unwrap();
    told(
        &other,
        "UPDATE runs SET body = json_set(body, '$.lease.later', 7), seal = NULL",
    );
    store.release_run(run.id, 1).await.unwrap();
    store.own_run(run.id, owner).await.unwrap();
    for (table, column) in [("runs", "body"), ("outbox", "heads")] {
        let sql = format!(
            "SELECT json_extract({column}, '$.later.deep[0]') FROM {table} \
             ORDER BY position DESC LIMIT 1"
        );
        assert_eq!(number(&other, &sql), 1, "{table}");
    }
    let epoch = "SELECT json_extract(body, '$.epoch') FROM runs";
    assert_eq!(number(&other, epoch), 2, "what is known is the new one");
    let of_old_lease = "SELECT json_type(body, '$.lease.later') IS NULL FROM runs";
    assert_eq!(number(&other, of_old_lease), 1, "it went with its lease");
    assert_eq!(store.verify_audit().await.unwrap().head.position, 4);
}

#[tokio::test]
async fn a_file_of_the_first_schema_is_brought_up_to_date() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.sqlite");
    let run = RunId::generate();
    let old = Connection::open(&path).unwrap();
    told(&old, include_str!("../../migrations/0001_life.sql"));
    let sql = format!(
        "INSERT INTO slots VALUES ('{run} root/a', '{{}}');
         INSERT INTO reroutes VALUES ('e', 0, 0, '{{\"run\":\"{run}\"}}');
         INSERT INTO heads VALUES (1, '{{\"audit\":{{\"position\":0,\"digest\":\"{zeros}\"}},\
            \"outbox\":0,\"interrupts\":0,\"runs\":0,\"journal\":0}}');
         PRAGMA user_version = 1; PRAGMA application_id = {ours};",
        zeros = "0".repeat(64),
        ours = 0x6972_7173,
    );
    told(&old, &sql);
    drop(old);
    let store = open(&path).await.unwrap();
    store.create_run(new_run("{}")).await.unwrap();
    let new = connect(&path).unwrap();
    for table in ["slots", "reroutes"] {
        let sql = format!("SELECT run = '{run}' FROM {table}");
        assert_eq!(number(&new, &sql), 1, "{table}");
    }
}

#[tokio::test]
async fn a_database_of_another_program_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("photos.sqlite");
    let photos = Connection::open(&path).unwrap();
    told(&photos, "CREATE TABLE photos (id INTEGER PRIMARY KEY)");
    let ours = format!("PRAGMA application_id = {}", 0x6972_7173);
    // Nor is one whose tables no step of ours has made, whichever mark it has.
    for mark in ["PRAGMA user_version = 0", "PRAGMA user_version = 3", &ours] {
        told(&photos, "PRAGMA user_version = 0");
        told(&photos, mark);
        let refused = open(&path).await.map(drop);
        assert_eq!(refused, Err(StoreError::Foreign), "{mark}");
    }
    assert_eq!(number(&photos, "SELECT COUNT(*) FROM sqlite_schema"), 1);
}

#[tokio::test]
async fn an_empty_file_and_a_log_without_its_file_are_no_new_store() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    std::fs::write(path("empty"), b"").unwrap();
    let refused = open(&path("empty")).await.map(drop).unwrap_err();
    assert!(refused.to_string().contains("is empty"), "{refused}");
    assert_eq!(std::fs::read(path("empty")).unwrap(), b"");
    std::fs::write(path("lost-wal"), b"what was written last").unwrap();
    let refused = open(&path("lost")).await.map(drop).unwrap_err();
    assert!(refused.to_string().contains("its log is"), "{refused}");
    assert!(path("lost-wal").exists() && !path("lost").exists());
}

#[tokio::test]
async fn a_new_store_has_its_name_when_it_is_whole_and_nothing_else_is_left() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.sqlite");
    let openings = (0..8).map(|_| open(&path));
    let stores = futures_util::future::join_all(openings).await;
    for store in stores {
        let store = store.unwrap();
        store.create_run(new_run("{}")).await.unwrap();
        store.close().await.unwrap();
    }
    let left: Vec<_> = std::fs::read_dir(folder.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .filter(|name| name.to_string_lossy().contains(".new-"))
        .collect();
    assert!(left.is_empty(), "{left:?}");
    let connection = connect(&path).unwrap();
    assert_eq!(number(&connection, "SELECT COUNT(*) FROM runs"), 8);
}

#[cfg(unix)]
#[tokio::test]
async fn a_question_that_nobody_waits_for_any_more_leaves_nothing_beside_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.sqlite");
    let store = open(&path).await.unwrap();
    store.create_run(new_run("{}")).await.unwrap();
    let (begun, begins) = mpsc::channel();
    let (go_on, goes_on) = mpsc::channel::<()>();
    let goes_on = Mutex::new(goes_on);
    let asked = store.backend.ask(move |database| {
        let mut runs = 0;
        database.each("SELECT count(*) FROM runs", &[], &mut |_row| {
            runs += 1;
            Ok(())
        })?;
        begun.send(()).unwrap();
        goes_on.lock().unwrap().recv().unwrap();
        Ok(runs)
    });
    assert!(asked.now_or_never().is_none());
    begins.recv().unwrap();
    drop(store);
    // As long as the thread that writes needs to close, if it does not wait.
    std::thread::sleep(Duration::from_millis(100));
    go_on.send(()).unwrap();
    assert!(until_closed(Duration::from_secs(10)));
    let left = std::fs::read_dir(folder.path()).unwrap();
    let left: Vec<_> = left.map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["store.sqlite"]);
}

#[tokio::test]
async fn a_link_to_a_store_that_is_not_there_yet_is_followed() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    std::os::unix::fs::symlink("disk/store.sqlite", path("link")).unwrap();
    std::fs::create_dir(path("disk")).unwrap();
    let store = open(&path("link")).await.unwrap();
    store.create_run(new_run("{}")).await.unwrap();
    store.close().await.unwrap();
    assert!(path("disk/store.sqlite").is_file() && path("link").is_symlink());
}

#[tokio::test]
async fn a_store_that_is_gone_answers_nothing_more_even_if_it_comes_back() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.sqlite");
    let store = open(&path).await.unwrap();
    let kept = store.create_run(new_run("{}")).await.unwrap();
    let aside = folder.path().join("aside");
    std::fs::rename(&path, &aside).unwrap();
    let refused = store.create_run(new_run("{}")).await.unwrap_err();
    let is_gone = |error: &StoreError| matches!(error, StoreError::Gone { .. });
    assert!(
        matches!(&refused, RunError::Store(error) if is_gone(error)),
        "{refused:?}"
    );
    assert!(is_gone(&store.run(kept.id).await.unwrap_err()));
    std::fs::rename(&aside, &path).unwrap();
    assert!(is_gone(&store.run(kept.id).await.unwrap_err()));
    store.close().await.unwrap();
    let store = open(&path).await.unwrap();
    assert!(store.run(kept.id).await.unwrap().is_some());
    store.verify_audit().await.unwrap();
}

#[tokio::test]
async fn a_store_whose_log_was_emptied_is_gone() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let store = open(&path("emptied")).await.unwrap();
    store.create_run(new_run("{}")).await.unwrap();
    let log = OpenOptions::new().write(true).open(path("emptied-wal"));
    log.unwrap().set_len(0).unwrap();
    assert_gone(store.create_run(new_run("{}")).await);
}

fn assert_gone(refused: Result<interrupts::store::Run, RunError>) {
    assert!(
        matches!(refused, Err(RunError::Store(StoreError::Gone { .. }))),
        "{refused:?}"
    );
}
