//! A backend of another crate: a SQLite database in memory, whose only connection all share. It uses what is public of the
//! store, and nothing else.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use interrupt_router::RunId;
use interrupts::store::{Audit as _, NewRun, Outbox as _, Runs as _, StoreError};
use jiff::Timestamp;
use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, Row, ToSql, params_from_iter};
use store::backend::{
    Cell, ColumnValue, Columns, Database, Found, Operation, Relational, Transactions, Writer,
    schema,
};
use store::{Adapter, StoreSettings};
use tokio::sync::{Mutex, OwnedMutexGuard};
use tokio::task::spawn_blocking;

use crate::scene::{ALL, Scene};

pub(crate) type ThirdStore = Adapter<Third>;

/// Whoever holds the lock reads, or is in a transaction.
pub(crate) struct Third {
    shared: Arc<Mutex<Shared>>,
    writer: Writer,
    settings: StoreSettings,
    commits_fail: Arc<AtomicBool>,
}

impl Third {
    pub(crate) fn open(settings: StoreSettings) -> Found<ThirdStore> {
        let connection = Connection::open_in_memory().map_err(store_error)?;
        for step in schema() {
            connection.execute_batch(step).map_err(store_error)?;
        }
        let shared = Arc::new(Mutex::new(Shared(connection)));
        let commits_fail = Arc::new(AtomicBool::new(false));
        let writing = Writing {
            shared: Arc::clone(&shared),
            open: None,
            now: Timestamp::UNIX_EPOCH,
            settings: settings.clone(),
            commits_fail: Arc::clone(&commits_fail),
        };
        let writer = Writer::start(writing, settings.clone())?;
        Ok(Adapter::over(Self {
            shared,
            writer,
            settings,
            commits_fail,
        }))
    }

    pub(crate) async fn close(self) -> Found<()> {
        self.writer.close().await
    }
}

impl Relational for Third {
    fn time(&self) -> Timestamp {
        self.settings.now()
    }

    async fn submit<O: Operation>(&self, operation: O) -> Result<O::Output, O::Error> {
        self.writer.submit(operation).await
    }

    async fn ask<T: Send + 'static>(
        &self,
        question: impl Fn(&mut dyn Database) -> Found<T> + Send + 'static,
    ) -> Found<T> {
        let mut shared = Arc::clone(&self.shared).lock_owned().await;
        let asked = spawn_blocking(move || question(&mut *shared));
        asked.await.map_err(|error| StoreError::Unavailable {
            detail: error.to_string(),
        })?
    }
}

fn store_error(error: rusqlite::Error) -> StoreError {
    StoreError::Unavailable {
        detail: error.to_string(),
    }
}

/// The connection.
struct Shared(Connection);

struct FoundRow<'row>(&'row Row<'row>);

impl Columns for FoundRow<'_> {
    fn value(&self, column: usize) -> Found<ColumnValue<'_>> {
        let value = self.0.get_ref(column);
        let value = value.map_err(|error| StoreError::Corrupt {
            detail: error.to_string(),
        })?;
        Ok(match value {
            ValueRef::Null => ColumnValue::Nothing,
            ValueRef::Integer(number) => ColumnValue::Number(number),
            ValueRef::Real(number) => ColumnValue::Fraction(number),
            ValueRef::Text(text) => ColumnValue::Text(text),
            ValueRef::Blob(bytes) => ColumnValue::Bytes(bytes),
        })
    }
}

struct Bound<'cell>(&'cell Cell<'cell>);

impl ToSql for Bound<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self.0.value() {
            ColumnValue::Nothing => ValueRef::Null,
            ColumnValue::Number(number) => ValueRef::Integer(number),
            ColumnValue::Fraction(number) => ValueRef::Real(number),
            ColumnValue::Text(text) => ValueRef::Text(text),
            ColumnValue::Bytes(bytes) => ValueRef::Blob(bytes),
        }))
    }
}

impl Database for Shared {
    fn each(
        &mut self,
        sql: &'static str,
        values: &[Cell<'_>],
        read: &mut dyn FnMut(&dyn Columns) -> Found<()>,
    ) -> Found<()> {
        let mut statement = self.0.prepare_cached(sql).map_err(store_error)?;
        let values = params_from_iter(values.iter().map(Bound));
        let mut rows = statement.query(values).map_err(store_error)?;
        while let Some(row) = rows.next().map_err(store_error)? {
            read(&FoundRow(row))?;
        }
        Ok(())
    }

    fn execute(&mut self, sql: &'static str, values: &[Cell<'_>]) -> Found<u64> {
        let mut statement = self.0.prepare_cached(sql).map_err(store_error)?;
        let changed = statement.execute(params_from_iter(values.iter().map(Bound)));
        changed.map(|rows| rows as u64).map_err(store_error)
    }

    fn begin_snapshot(&mut self) -> Found<()> {
        self.execute("BEGIN", &[]).map(drop)
    }

    fn end_snapshot(&mut self) -> Found<()> {
        self.execute("ROLLBACK", &[]).map(drop)
    }
}

/// The one that writes. It has the lock from the beginning of a transaction to its end.
struct Writing {
    shared: Arc<Mutex<Shared>>,
    open: Option<OwnedMutexGuard<Shared>>,
    now: Timestamp,
    settings: StoreSettings,
    commits_fail: Arc<AtomicBool>,
}

impl Writing {
    fn open(&mut self) -> Found<&mut Shared> {
        self.open.as_deref_mut().ok_or(StoreError::Closed)
    }
}

impl Database for Writing {
    fn each(
        &mut self,
        sql: &'static str,
        values: &[Cell<'_>],
        read: &mut dyn FnMut(&dyn Columns) -> Found<()>,
    ) -> Found<()> {
        self.open()?.each(sql, values, read)
    }

    fn execute(&mut self, sql: &'static str, values: &[Cell<'_>]) -> Found<u64> {
        self.open()?.execute(sql, values)
    }

    fn begin_snapshot(&mut self) -> Found<()> {
        self.open()?.begin_snapshot()
    }

    fn end_snapshot(&mut self) -> Found<()> {
        self.open()?.end_snapshot()
    }
}

impl Transactions for Writing {
    fn begin(&mut self) -> Found<()> {
        self.now = self.settings.now();
        self.open = Some(Arc::clone(&self.shared).blocking_lock_owned());
        self.execute("BEGIN IMMEDIATE", &[]).map(drop)
    }

    fn time(&mut self) -> Found<Timestamp> {
        Ok(self.now)
    }

    fn commit(&mut self) -> Found<()> {
        if self.commits_fail.load(Ordering::Relaxed) {
            return Err(StoreError::Full);
        }
        self.execute("COMMIT", &[])?;
        self.open = None;
        Ok(())
    }

    fn roll_back(&mut self) {
        // Fails where nothing was begun.
        let _undone = self.execute("ROLLBACK", &[]);
        self.open = None;
    }

    fn close(self) {}
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_transaction_that_fails_leaves_nothing_and_the_next_one_goes_on() {
    let store = Scene::in_third().store;
    let new = NewRun {
        root: None,
        id: RunId::generate(),
        alias: None,
        content: "{}".to_owned(),
    };
    store.backend().commits_fail.store(true, Ordering::Relaxed);
    let refused = store.create_run(new.clone()).await;
    assert!(refused.is_err(), "{refused:?}");
    assert_eq!(store.run(new.id).await.unwrap(), None);
    assert_eq!(store.outbox(ALL).await.unwrap(), []);
    store.backend().commits_fail.store(false, Ordering::Relaxed);
    store.create_run(new.clone()).await.unwrap();
    assert!(store.run(new.id).await.unwrap().is_some());
    store.verify_audit().await.unwrap();
    let backend = Arc::into_inner(store).unwrap().into_backend();
    backend.close().await.unwrap();
}

/// What a store means is in the operations and statements of the crate: a backend only has to carry out each kind of them.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_backend_of_another_crate_carries_out_what_the_crate_says() {
    use crate::{admitting, deciding, forking, running};
    let scene = Scene::in_third;
    admitting::an_admission_is_told_and_audited_in_one_transaction(scene()).await;
    deciding::a_decision_consumes_the_bound_reroute_and_is_dispatched_once(scene()).await;
    forking::what_a_fork_would_go_on_without_is_named(scene()).await;
    running::nothing_outlives_the_end_of_its_run(scene()).await;
}
