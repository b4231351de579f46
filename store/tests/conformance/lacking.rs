//! Stores from which another program has deleted rows: nothing goes on from what is left.

use interrupt_router::{RunId, StopMode};
use interrupts::store::{Audit as _, Interrupts as _, Journal as _, RunError, Runs, StoreError};
use rusqlite::Connection;
use store::{Opening, SqliteStore, StoreSettings, StoreStatus};

use crate::joining::stop;
use crate::running::intent;
use crate::scene::{Scene, delivery, question};

/// Tables, and a row of each. The first ones of the outbox may have been told and forgotten.
const ROWS: [(&str, u32); 5] = [
    ("journal", 1),
    ("interrupts", 1),
    ("runs", 1),
    ("outbox", 2),
    ("audit", 1),
];

async fn is_not_taken_up(store: &impl Runs, run: RunId, table: &str) {
    let taken = store.own_run(run, delivery("another", 60)).await;
    let Err(RunError::Store(StoreError::Corrupt { detail })) = taken else {
        panic!("{table}: {taken:?}");
    };
    assert!(detail.contains(table), "{detail}");
}

/// A process that began before does not look through the file again.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_of_a_file_that_lacks_a_row_by_now_is_not_taken_up() {
    for (table, row) in ROWS {
        let scene = Scene::in_sqlite().await;
        let run = scene.run().await;
        let path = scene.folder.as_ref().unwrap().path().join("store.sqlite");
        let store = SqliteStore::open(&path, StoreSettings::default()).await;
        let store = store.unwrap();
        store.begin(1, intent(&run, "effect")).await.unwrap();
        store.admit(question(&run, "asked")).await.unwrap();
        let one = format!("DELETE FROM {table} WHERE position = {row}");
        let deleted = Connection::open(&path).unwrap().execute(&one, ()).unwrap();
        assert_eq!(deleted, 1);
        is_not_taken_up(&store, run.id, table).await;
    }
}

/// A stop does not wait until all of a large file was looked through, and is taken by one that lacks something.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_that_is_opened_at_once_takes_a_stop_whatever_it_lacks() {
    let scene = Scene::in_sqlite().await;
    let run = scene.run().await;
    let effect = intent(&run, "effect");
    scene.store.begin(1, effect).await.unwrap();
    let path = scene.folder.as_ref().unwrap().path().join("store.sqlite");
    let vandal = Connection::open(&path).unwrap();
    vandal.execute("DELETE FROM journal", ()).unwrap();
    let opened = async |opening| {
        let settings = StoreSettings {
            opening,
            ..StoreSettings::default()
        };
        SqliteStore::open(&path, settings).await.unwrap()
    };
    let looked_through = opened(Opening::Checked).await;
    assert!(matches!(
        looked_through.status(),
        StoreStatus::Damaged { .. }
    ));
    let at_once = opened(Opening::AtOnce).await;
    assert_eq!(at_once.status(), &StoreStatus::Whole);
    let asked = stop(&run, "stop", StopMode::Immediate);
    at_once.join(asked).await.unwrap();
}

#[cfg(feature = "postgres")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_of_a_store_in_postgres_that_lacks_a_row_is_not_taken_up() {
    use crate::postgres::{new_run, open};

    for (table, row) in ROWS {
        let Some(place) = crate::scene::own_place() else {
            return;
        };
        let store = open(&place).await;
        let run = new_run(&store).await;
        store.begin(1, intent(&run, "effect")).await.unwrap();
        store.admit(question(&run, "asked")).await.unwrap();
        let server = std::env::var("IRQ_TEST_POSTGRES").unwrap();
        let connected = tokio_postgres::connect(&server, tokio_postgres::NoTls);
        let (client, connection) = connected.await.unwrap();
        tokio::spawn(connection);
        let schema = place.schema();
        let one = format!("DELETE FROM {schema}.{table} WHERE position = {row}");
        assert_eq!(client.execute(&one, &[]).await.unwrap(), 1);
        // Another process, which begins now.
        let store = open(&place).await;
        let counted = store.count_rows().await;
        assert!(
            matches!(&counted, Err(StoreError::Corrupt { detail }) if detail.contains(table)),
            "{table}: {counted:?}"
        );
        is_not_taken_up(&store, run.id, table).await;
    }
}
