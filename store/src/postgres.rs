//! Everything in a PostgreSQL database, for processes on many machines.
//!
//! One thread of each process writes, as with a file: it takes the operations that are waiting, runs them in one
//! transaction, and answers each after the commit. A lock in the database lets one transaction of a store run at a time,
//! so that its lists have no gaps and what an operation has read is still true when it writes. A `NOTIFY` with the
//! commit wakes the processes that wait for news.

mod dialect;
mod error;
mod location;
mod notifier;
mod readers;
mod schema;
mod session;
mod writer;

use std::fmt::{self, Debug};
use std::sync::Arc;

use interrupts::store::StoreError;
use jiff::Timestamp;
use tokio::task::spawn_blocking;

use crate::adapter::{Adapter, StoreSettings};
use crate::operation::Operation;
use crate::relational::Found;
use crate::relational::{Database, Relational, Writer};
use readers::Readers;
use session::Session;
use writer::DatabaseWriter;

pub use location::PostgresLocation;
pub use notifier::PostgresNotifier;

/// A store in a PostgreSQL database. Any number of processes, on any number of machines, may have the same.
///
/// Must be opened and used within a Tokio runtime. When it is dropped, operations that were submitted are still
/// carried out, as long as the process lives; to wait for them, use [`PostgresStore::close`].
pub type PostgresStore = Adapter<Postgres>;

/// A PostgreSQL database.
pub struct Postgres {
    settings: StoreSettings,
    readers: Arc<Readers>,
    writer: Writer,
    clock: Arc<writer::ServerClock>,
    /// Whether a commit waits until it is on another machine.
    is_replicated: bool,
}

impl Debug for Postgres {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Postgres")
    }
}

impl PostgresStore {
    /// Opens the store at a location. The schema is made where there is none, and brought up to date.
    ///
    /// # Errors
    ///
    /// [`StoreError`] where the server cannot be reached or is older than version 14, would not be durable, or what is
    /// there was written by a newer version of this program, or by another one.
    ///
    /// # Cancel safety
    ///
    /// Dropped, the schema is as it was, or up to date.
    pub async fn open(
        location: &PostgresLocation,
        settings: StoreSettings,
    ) -> Result<Self, StoreError> {
        let location = Arc::new(location.clone());
        let opened = spawn_blocking(move || {
            let mut session = Session::open(&location)?;
            schema::update(&mut session, location.schema())?;
            let is_replicated = session.is_replicated();
            let clock = Arc::new(writer::ServerClock::default());
            clock.stands_at(session.opened_at());
            let mut database = DatabaseWriter::new(
                session,
                Arc::clone(&location),
                settings.clone(),
                Arc::clone(&clock),
            );
            database.forget_old_writers()?;
            let writer = Writer::start(database, settings.clone())?;
            Ok(Adapter::over(Postgres {
                settings,
                readers: Arc::new(Readers::new(location, Arc::clone(&clock))),
                writer,
                clock,
                is_replicated,
            }))
        });
        opened.await.map_err(|error| StoreError::Unavailable {
            detail: error.to_string(),
        })?
    }

    /// Whether there is a store at a location. Nothing is made.
    ///
    /// # Errors
    ///
    /// As [`PostgresStore::open`].
    ///
    /// # Cancel safety
    ///
    /// Safe: it only looks.
    pub async fn exists(location: &PostgresLocation) -> Result<bool, StoreError> {
        let location = location.clone();
        let looked = spawn_blocking(move || {
            let mut session = Session::open(&location)?;
            Ok(schema::version(&mut session, location.schema())? > 0)
        });
        looked.await.map_err(|error| StoreError::Unavailable {
            detail: error.to_string(),
        })?
    }

    /// What an operator should know of it, in words.
    pub const fn notice(&self) -> Option<&'static str> {
        match self.backend.is_replicated {
            true => None,
            false => Some(
                "PostgreSQL has no synchronous standby: where its disk is lost, so is what was acknowledged",
            ),
        }
    }

    /// Waits until everything that was submitted is done, and closes all connections.
    ///
    /// # Errors
    ///
    /// [`StoreError::Unavailable`] where the writing thread has panicked.
    ///
    /// # Cancel safety
    ///
    /// Dropped, the store closes all the same, but no one waits for it.
    pub async fn close(self) -> Result<(), StoreError> {
        let Postgres {
            readers, writer, ..
        } = self.backend;
        // Closing a connection may block.
        let readers = spawn_blocking(move || drop(readers));
        let written = writer.close().await;
        let _closed = readers.await;
        written
    }
}

/// A connection that writes to a store which is there.
pub(crate) fn writer_at(location: &PostgresLocation) -> Found<DatabaseWriter> {
    let session = Session::open(location)?;
    let clock = Arc::new(writer::ServerClock::default());
    clock.stands_at(session.opened_at());
    let location = Arc::new(location.clone());
    Ok(DatabaseWriter::new(
        session,
        location,
        StoreSettings::default(),
        clock,
    ))
}

impl Relational for Postgres {
    fn time(&self) -> Timestamp {
        self.clock.now(&self.settings)
    }

    async fn submit<O: Operation>(&self, operation: O) -> Result<O::Output, O::Error> {
        self.writer.submit(operation).await
    }

    async fn ask<T: Send + 'static>(
        &self,
        question: impl Fn(&mut dyn Database) -> Found<T> + Send + 'static,
    ) -> Found<T> {
        self.readers.ask(question).await
    }
}
