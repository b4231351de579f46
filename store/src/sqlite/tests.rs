//! What a file does when something is wrong with it: a clear error, nothing accepted, and on it goes afterwards.

use std::fs::OpenOptions;
use std::io::{Seek as _, SeekFrom, Write as _};
use std::path::Path;

use interrupts::store::{Audit as _, NewRun, RunError, Runs as _, StoreError};
use routing_core::RunId;
use sqlx::sqlite::SqliteConnection;

use super::SqliteStore;
use super::open::{connect, start};
use crate::adapter::StoreSettings;

fn new_run(content: &str) -> NewRun {
    NewRun {
        id: RunId::generate(),
        alias: None,
        content: content.to_owned(),
    }
}

async fn open(path: &Path) -> Result<SqliteStore, StoreError> {
    SqliteStore::open(path, StoreSettings::default()).await
}

async fn execute(connection: &mut SqliteConnection, sql: &'static str) {
    sqlx::query(sql).execute(connection).await.unwrap();
}

/// A store whose writing connection has been told something first.
async fn open_after(path: &Path, sql: &'static str) -> SqliteStore {
    let (mut connection, options) = connect(path).await.unwrap();
    execute(&mut connection, sql).await;
    start(connection, options, StoreSettings::default())
        .await
        .unwrap()
}

/// The store refuses a large run and a small one with the error, keeps neither, and takes both when it is
/// opened again.
async fn refuses_and_recovers(path: &Path, sql: &'static str, expected: &StoreError) {
    let large = new_run(&format!("\"{}\"", "x".repeat(1 << 20)));
    let store = open_after(path, sql).await;
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

#[tokio::test]
async fn a_full_disk_a_read_only_file_and_a_lock_are_clear_errors_and_lose_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.sqlite");
    let first = open(&path).await.unwrap();
    let kept = first.create_run(new_run("{}")).await.unwrap();
    first.close().await.unwrap();

    refuses_and_recovers(&path, "PRAGMA max_page_count = 60", &StoreError::Full).await;
    refuses_and_recovers(&path, "PRAGMA query_only = ON", &StoreError::ReadOnly).await;

    let (mut other, _options) = connect(&path).await.unwrap();
    execute(&mut other, "BEGIN IMMEDIATE").await;
    let store = open_after(&path, "PRAGMA busy_timeout = 1").await;
    let waiting = new_run("{}");
    let refused = store.create_run(waiting.clone()).await;
    assert_eq!(refused, Err(RunError::Store(StoreError::Locked)));
    execute(&mut other, "ROLLBACK").await;
    store.create_run(waiting).await.unwrap();
    assert_eq!(store.run(kept.id).await, Ok(Some(kept)));
}

#[tokio::test]
async fn a_store_that_was_full_goes_on_when_there_is_room() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.sqlite");
    let store = open_after(&path, "PRAGMA max_page_count = 60").await;
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
    let (mut connection, _options) = connect(&path).await.unwrap();
    execute(
        &mut connection,
        "INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time) \
         VALUES (99, 'later', 1, x'00', 0)",
    )
    .await;
    let refused = open(&path).await.map(drop);
    let newer = StoreError::Newer {
        found: 99,
        known: 2,
    };
    assert_eq!(refused, Err(newer.clone()));
    assert!(newer.to_string().contains("newer program"));
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
    assert_eq!(first.verify_audit().await.unwrap().position, 2);
}

#[tokio::test]
async fn a_row_that_was_changed_or_cut_off_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.sqlite");
    let store = open(&path).await.unwrap();
    for _run in 0..5 {
        store.create_run(new_run("{}")).await.unwrap();
    }
    let (mut vandal, _options) = connect(&path).await.unwrap();
    let broken = interrupts::store::VerifyError::Broken { position: 3 };
    execute(
        &mut vandal,
        "UPDATE audit SET entry = replace(entry, 'create', 'crated') WHERE position = 3",
    )
    .await;
    assert_eq!(store.verify_audit().await, Err(broken.clone()));
    execute(&mut vandal, "DELETE FROM audit WHERE position = 3").await;
    assert_eq!(store.verify_audit().await, Err(broken));
    execute(&mut vandal, "DELETE FROM audit WHERE position > 2").await;
    let cut = interrupts::store::VerifyError::CutOff {
        found: 2,
        expected: 5,
    };
    assert_eq!(store.verify_audit().await, Err(cut));
}
