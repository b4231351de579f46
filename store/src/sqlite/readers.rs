//! Connections that read, each for one question at a time.

use std::convert::Infallible;
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, PoisonError};

use interrupts::OwnFiles;
use interrupts::store::StoreError;
use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;

use super::connection::FileConnection;
use super::open::connect_reader;
use super::opened_file::OpenedFile;
use super::read_only::ReadOnlySource;
use crate::relational::Database;

/// How many may read at the same time.
const SEATS: usize = 4;

/// The connections, opened when they are needed first.
pub(super) struct Readers {
    idle: Mutex<Vec<FileConnection>>,
    seats: Arc<Semaphore>,
    file: Arc<OpenedFile>,
    /// Dropped after the connections.
    place: ReadOnlySource,
    _own: Arc<OwnFiles>,
    /// Dropped last. Tells the writer that every connection here is closed.
    _closed: Option<Sender<Infallible>>,
}

impl Readers {
    pub(super) fn new(
        place: ReadOnlySource,
        file: Arc<OpenedFile>,
        own: Arc<OwnFiles>,
        closed: Option<Sender<Infallible>>,
    ) -> Self {
        Self {
            place,
            idle: Mutex::new(Vec::new()),
            seats: Arc::new(Semaphore::new(SEATS)),
            file,
            _own: own,
            _closed: closed,
        }
    }

    /// Asks a question where it may block. Dropped, it is answered all the same, and the answer is discarded.
    pub(super) async fn ask<T: Send + 'static>(
        self: &Arc<Self>,
        question: impl Fn(&mut dyn Database) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let seat = Arc::clone(&self.seats).acquire_owned().await;
        let seat = seat.map_err(|_closed| StoreError::Closed)?;
        let readers = Arc::clone(self);
        let asked = spawn_blocking(move || {
            let _seat = seat;
            readers.file.check()?;
            let mut connection = match readers.take() {
                Some(idle) => idle,
                None => readers.connect()?,
            };
            let answer = question(&mut connection);
            readers.put_back(connection);
            answer
        });
        asked.await.map_err(|error| StoreError::Unavailable {
            detail: error.to_string(),
        })?
    }

    /// Answers a question at once, on the thread that asks, where a connection is idle: a row that is found by its
    /// key is there in less time than it takes to wake a thread that may block. Dropped, it was not asked.
    pub(super) async fn look_up<T: Send + 'static>(
        self: &Arc<Self>,
        question: impl Fn(&mut dyn Database) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let Ok(_seat) = self.seats.try_acquire() else {
            return self.ask(question).await;
        };
        self.file.check()?;
        let Some(mut connection) = self.take() else {
            return self.ask(question).await;
        };
        let answer = question(&mut connection);
        self.put_back(connection);
        answer
    }

    /// Waits until no one reads, and closes all connections.
    pub(super) async fn close(&self) {
        let all = u32::try_from(SEATS).unwrap_or(u32::MAX);
        if let Ok(_all) = self.seats.acquire_many(all).await {
            self.seats.close();
        }
        while self.take().is_some() {}
    }

    /// One more connection, to the file that was opened first.
    fn connect(&self) -> Result<FileConnection, StoreError> {
        let connection = connect_reader(&self.place.path)?;
        if let Err(gone) = self.file.check() {
            // It may be open on another file. Closing it could checkpoint the old log into that file.
            Box::leak(Box::new(connection));
            return Err(gone);
        }
        Ok(FileConnection(connection))
    }

    fn take(&self) -> Option<FileConnection> {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        idle.pop()
    }

    fn put_back(&self, connection: FileConnection) {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        idle.push(connection);
    }
}
