//! A connection to a file, as a database of rows.

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::mpsc::Receiver;
use std::time::Duration;

use interrupts::OwnFiles;
use jiff::Timestamp;
use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, Row, ToSql, params_from_iter};

use super::error::store_error;
use super::leaving::OpenStore;
use super::opened_file::OpenedFile;
use super::schema;
use crate::adapter::StoreSettings;
use crate::relational::Found;
use crate::relational::{Cell, ColumnValue, Columns, Database, Lookup, Transactions};
use crate::tables::Tables;

/// How long the writer waits for a reader that still has an answer to finish.
const LAST_ANSWER: Duration = Duration::from_secs(1);

/// A connection to a file. What is of `rusqlite` gets types of our own, so that the public traits say nothing of it.
pub(super) struct FileConnection(pub(super) Connection);

struct FileRow<'row>(&'row Row<'row>);

struct BoundCell<'cell>(&'cell Cell<'cell>);

impl Columns for FileRow<'_> {
    fn value(&self, column: usize) -> Found<ColumnValue<'_>> {
        Ok(match self.0.get_ref(column).map_err(store_error)? {
            ValueRef::Null => ColumnValue::Nothing,
            ValueRef::Integer(number) => ColumnValue::Number(number),
            ValueRef::Real(number) => ColumnValue::Fraction(number),
            ValueRef::Text(text) => ColumnValue::Text(text),
            ValueRef::Blob(bytes) => ColumnValue::Bytes(bytes),
        })
    }
}

impl ToSql for BoundCell<'_> {
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

impl Database for FileConnection {
    fn each(
        &mut self,
        sql: &'static str,
        values: &[Cell<'_>],
        read: &mut dyn FnMut(&dyn Columns) -> Found<()>,
    ) -> Found<()> {
        let mut statement = self.0.prepare_cached(sql).map_err(store_error)?;
        let mut rows = statement
            .query(params_from_iter(values.iter().map(BoundCell)))
            .map_err(store_error)?;
        while let Some(row) = rows.next().map_err(store_error)? {
            read(&FileRow(row))?;
        }
        Ok(())
    }

    fn execute(&mut self, sql: &'static str, values: &[Cell<'_>]) -> Found<u64> {
        let mut statement = self.0.prepare_cached(sql).map_err(store_error)?;
        let changed = statement.execute(params_from_iter(values.iter().map(BoundCell)));
        changed.map(|rows| rows as u64).map_err(store_error)
    }

    fn look_up(&mut self, lookups: &[Lookup], tables: &mut Tables) -> Found<()> {
        for lookup in lookups {
            let mut statement = self.0.prepare_cached(lookup.sql()).map_err(store_error)?;
            for (number, key) in lookup.keys().iter().enumerate() {
                let key = params_from_iter(key.iter().map(BoundCell));
                let mut rows = statement.query(key).map_err(store_error)?;
                while let Some(row) = rows.next().map_err(store_error)? {
                    lookup.take(tables, number, &FileRow(row))?;
                }
            }
        }
        Ok(())
    }

    fn begin_snapshot(&mut self) -> Found<()> {
        self.execute("BEGIN", &[]).map(drop)
    }

    fn end_snapshot(&mut self) -> Found<()> {
        self.execute("ROLLBACK", &[]).map(drop)
    }
}

/// The connection that writes a file, or what there is in memory.
pub(crate) struct FileWriter {
    connection: FileConnection,
    settings: StoreSettings,
    now: Timestamp,
    place: Option<WrittenFile>,
}

/// The file that a connection writes.
pub(super) struct WrittenFile {
    pub(super) file: Arc<OpenedFile>,
    /// Ends when the last connection that reads is closed.
    pub(super) readers: Receiver<Infallible>,
    /// Dropped after the connection.
    pub(super) own: Arc<OwnFiles>,
    /// Dropped last.
    pub(super) open: OpenStore,
}

impl FileWriter {
    pub(super) const fn new(
        connection: Connection,
        settings: StoreSettings,
        place: Option<WrittenFile>,
    ) -> Self {
        Self {
            connection: FileConnection(connection),
            settings,
            now: Timestamp::UNIX_EPOCH,
            place,
        }
    }
}

impl Database for FileWriter {
    fn each(
        &mut self,
        sql: &'static str,
        values: &[Cell<'_>],
        read: &mut dyn FnMut(&dyn Columns) -> Found<()>,
    ) -> Found<()> {
        self.connection.each(sql, values, read)
    }

    fn execute(&mut self, sql: &'static str, values: &[Cell<'_>]) -> Found<u64> {
        self.connection.execute(sql, values)
    }

    fn look_up(&mut self, lookups: &[Lookup], tables: &mut Tables) -> Found<()> {
        self.connection.look_up(lookups, tables)
    }

    fn begin_snapshot(&mut self) -> Found<()> {
        self.connection.begin_snapshot()
    }

    fn end_snapshot(&mut self) -> Found<()> {
        self.connection.end_snapshot()
    }
}

impl Transactions for FileWriter {
    fn begin(&mut self) -> Found<()> {
        if let Some(place) = &self.place {
            place.file.is_not_known_to_be_gone()?;
        }
        // As it was when the transaction was asked for: waiting for another process does not make it later.
        self.now = self.settings.now();
        Database::execute(self, "BEGIN IMMEDIATE", &[])?;
        schema::check(&self.connection.0)
    }

    fn time(&mut self) -> Found<Timestamp> {
        Ok(self.now)
    }

    fn commit(&mut self) -> Found<()> {
        Database::execute(self, "COMMIT", &[])?;
        // Before the answers: a commit to a file that is gone is not acknowledged.
        match &self.place {
            Some(place) => place.file.check(),
            None => Ok(()),
        }
    }

    fn roll_back(&mut self) {
        if let Err(error) = Database::execute(self, "ROLLBACK", &[]) {
            tracing::debug!(%error, "nothing was rolled back");
        }
    }

    fn close(self) {
        let Some(place) = self.place else { return };
        // The last connection that is closed moves the log into the file, and one that only reads cannot.
        let _ended = place.readers.recv_timeout(LAST_ANSWER);
        if place.file.is_not_known_to_be_gone().is_err() {
            // Closing would move what the log has into the file, where there may be another one by now.
            Box::leak(Box::new(self.connection));
        } else if let Err((_connection, error)) = self.connection.0.close() {
            tracing::warn!(%error, "the store did not close cleanly");
        }
        drop((place.own, place.open));
    }
}
