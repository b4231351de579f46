//! Everything in one SQLite file, durably.
//!
//! One thread writes. It takes the operations that are waiting, runs them in one transaction, and answers each
//! after the commit: many operations share one flush to the disk. Readers have connections of their own. Other
//! processes may use the same file; each transaction reads what it needs anew.

mod connection;
mod error;
mod leaving;
mod log;
mod open;
mod opened_file;
mod read_only;
mod readers;
mod schema;
mod status;
#[cfg(test)]
mod tests;

use std::fmt::{self, Debug};
use std::sync::Arc;

use interrupts::store::StoreError;
use jiff::Timestamp;

use crate::adapter::{Adapter, StoreSettings};
use crate::operation::Operation;
use crate::relational::Found;
use crate::relational::{Database, Relational, Writer};
use leaving::Owned;
use readers::Readers;

pub(crate) use connection::FileWriter;
pub use leaving::until_closed;
#[cfg(feature = "postgres")]
pub(crate) use open::remove;
pub use schema::schema;
pub use status::StoreStatus;

/// A store in a SQLite file.
///
/// Must be opened and used within a Tokio runtime. When it is dropped, operations that were submitted are still
/// carried out, as long as the process lives; to wait for them, use [`SqliteStore::close`].
pub type SqliteStore = Adapter<Sqlite>;

/// A SQLite file.
pub struct Sqlite {
    settings: StoreSettings,
    /// Before the writer, which waits for them: its connection is the last one, and tidies up.
    readers: Arc<Readers>,
    /// Where there is none, every operation is refused.
    writer: Option<Writer>,
    status: StoreStatus,
    /// Dropped last.
    owned: Owned,
}

impl Debug for Sqlite {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Sqlite")
    }
}

impl SqliteStore {
    /// Its status when it was opened.
    pub const fn status(&self) -> &StoreStatus {
        &self.backend.status
    }

    /// Waits until everything that was submitted is done, and closes the file.
    ///
    /// # Errors
    ///
    /// [`StoreError::Unavailable`] where the writing thread has panicked.
    ///
    /// # Cancel safety
    ///
    /// Dropped, the store closes all the same, but no one waits for it.
    pub async fn close(self) -> Result<(), StoreError> {
        let Sqlite {
            writer,
            readers,
            owned,
            status: _,
            settings: _,
        } = self.backend;
        readers.close().await;
        drop((readers, owned));
        match writer {
            Some(writer) => writer.close().await,
            None => Ok(()),
        }
    }
}

/// Moves the log of a file that no one writes into the file, so that the file alone is the store.
#[cfg(feature = "postgres")]
pub(crate) fn settle(path: &std::path::Path) -> Found<()> {
    open::move_log(&open::connect(path)?)
}

/// A new database in the memory of this process.
pub(crate) fn memory_writer(settings: StoreSettings) -> Found<FileWriter> {
    let connection = open::in_memory()?;
    Ok(FileWriter::new(connection, settings, None))
}

/// A connection that writes to a file which is there.
#[cfg(feature = "postgres")]
pub(crate) fn file_writer(path: &std::path::Path, settings: StoreSettings) -> Found<FileWriter> {
    let own = Arc::new(open::own_files(path));
    let connection = open::connect(path)?;
    let file = Arc::new(opened_file::OpenedFile::of(path)?);
    let (_no_readers, readers) = std::sync::mpsc::channel();
    let place = connection::WrittenFile {
        file,
        readers,
        own,
        open: leaving::OpenStore::begin(),
    };
    Ok(FileWriter::new(connection, settings, Some(place)))
}

impl Relational for Sqlite {
    fn time(&self) -> Timestamp {
        self.settings.now()
    }

    async fn submit<O: Operation>(&self, operation: O) -> Result<O::Output, O::Error> {
        match &self.writer {
            Some(writer) => writer.submit(operation).await,
            None => Err(self.status.refusal().unwrap_or(StoreError::Closed).into()),
        }
    }

    async fn ask<T: Send + 'static>(
        &self,
        question: impl Fn(&mut dyn Database) -> Found<T> + Send + 'static,
    ) -> Found<T> {
        self.readers.ask(question).await
    }

    async fn look_up<T: Send + 'static>(
        &self,
        question: impl Fn(&mut dyn Database) -> Found<T> + Send + 'static,
    ) -> Found<T> {
        self.readers.look_up(question).await
    }
}
