//! Schemas in PostgreSQL: of others, of older and of newer versions.

use interrupt_router::RunId;
use interrupts::life::RunState;
use interrupts::store::{NewRun, Outbox as _, RunError, Runs as _, StoreError};
use store::{PostgresStore, StoreSettings};
use tokio_postgres::NoTls;

use crate::postgres::{new_run, open};
use crate::scene::{ALL, own_place};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_schema_of_another_program_and_one_of_a_newer_version_are_left_alone() {
    let Some(place) = own_place() else { return };
    let server = std::env::var("IRQ_TEST_POSTGRES").unwrap();
    let (client, connection) = tokio_postgres::connect(&server, NoTls).await.unwrap();
    tokio::spawn(connection);
    let schema = place.schema();
    let others = format!("CREATE SCHEMA {schema}; CREATE TABLE {schema}.orders (id BIGINT)");
    client.batch_execute(&others).await.unwrap();
    let refused = PostgresStore::open(&place, StoreSettings::default()).await;
    assert_eq!(refused.map(drop), Err(StoreError::Foreign));
    let newer = format!(
        "CREATE TABLE {schema}.irq_schema (id BIGINT, version BIGINT); \
         INSERT INTO {schema}.irq_schema VALUES (1, 1000)"
    );
    client.batch_execute(&newer).await.unwrap();
    let refused = PostgresStore::open(&place, StoreSettings::default()).await;
    assert!(matches!(
        refused,
        Err(StoreError::Newer { found: 1_000, .. })
    ));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_newer_schema_that_says_so_is_used_beside_the_programs_that_know_it() {
    let Some(place) = own_place() else { return };
    let before = open(&place).await;
    let server = std::env::var("IRQ_TEST_POSTGRES").unwrap();
    let (client, connection) = tokio_postgres::connect(&server, NoTls).await.unwrap();
    tokio::spawn(connection);
    let schema = place.schema();
    let upgraded = format!(
        "UPDATE {schema}.irq_schema SET version = 1000; \
         ALTER TABLE {schema}.runs ADD COLUMN more BIGINT NOT NULL DEFAULT 0"
    );
    client.batch_execute(&upgraded).await.unwrap();
    let after = open(&place).await;
    let (first, second) = (new_run(&before).await, new_run(&after).await);
    let read = open(&place).await;
    for run in [first, second] {
        assert_eq!(read.run(run.id).await.unwrap(), Some(run));
    }
    let sql = format!("SELECT version FROM {schema}.irq_schema");
    let version: i64 = client.query_one(&sql, &[]).await.unwrap().get(0);
    assert_eq!(version, 1_000, "it is not taken back");
    let broken = format!("UPDATE {schema}.irq_schema SET compatible = 1000");
    client.batch_execute(&broken).await.unwrap();
    for running in [&before, &after] {
        let content = NewRun {
            root: None,
            id: RunId::generate(),
            alias: None,
            content: "{}".to_owned(),
        };
        let refused = running.create_run(content).await;
        assert!(
            matches!(
                refused,
                Err(RunError::Store(StoreError::Newer { found: 1_000, .. }))
            ),
            "it goes on with a schema that it does not know: {refused:?}"
        );
    }
    let refused = PostgresStore::open(&place, StoreSettings::default()).await;
    assert!(matches!(
        refused,
        Err(StoreError::Newer { found: 1_000, .. })
    ));
}

/// The third version looked for the run of a notice in its JSON as it is.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_store_of_the_third_version_is_brought_up_to_date_and_takes_any_reason() {
    let Some(place) = own_place() else { return };
    let before = open(&place).await;
    let run = new_run(&before).await;
    let told = before.outbox_of(run.id, ALL).await.unwrap();
    let server = std::env::var("IRQ_TEST_POSTGRES").unwrap();
    let (client, connection) = tokio_postgres::connect(&server, NoTls).await.unwrap();
    tokio::spawn(connection);
    let schema = place.schema();
    let third = format!(
        "ALTER TABLE {schema}.outbox DROP COLUMN run; \
         ALTER TABLE {schema}.outbox ADD COLUMN run TEXT COLLATE \"C\" GENERATED ALWAYS AS \
         (COALESCE(body::json ->> 'run', body::json #>> '{{checkpoint,run}}')) STORED; \
         CREATE INDEX outbox_of_run ON {schema}.outbox (run, position) WHERE run IS NOT NULL; \
         ALTER TABLE {schema}.interrupts DROP COLUMN priority, DROP COLUMN assignee, \
         DROP COLUMN claimed_by, DROP COLUMN claimed_until; \
         UPDATE {schema}.irq_schema SET version = 3"
    );
    client.batch_execute(&third).await.unwrap();
    let end = |store: PostgresStore| async move {
        let reason = Some("a\0b".to_owned());
        let running = store.change_run(run.id, 1, RunState::Running, None).await;
        running.unwrap();
        store
            .change_run(run.id, 1, RunState::Failed, reason)
            .await
            .map(|_ended| store)
    };
    let refused = end(before).await.map(drop);
    assert!(
        matches!(
            refused,
            Err(RunError::Store(StoreError::InvalidValue { .. }))
        ),
        "{refused:?}"
    );
    let after = end(open(&place).await).await.unwrap();
    let all = after.outbox_of(run.id, ALL).await.unwrap();
    assert_eq!(all[..told.len()], told);
    assert!(all.len() > told.len());
}
