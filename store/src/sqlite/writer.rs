//! The one thread that writes: a queue of operations, many in one transaction, each answered after the commit.

use std::ops::ControlFlow;
use std::sync::Arc;

use interrupts::OwnFiles;
use interrupts::store::StoreError;
use rusqlite::Connection;
use tokio::sync::{mpsc, oneshot};

use super::error::store_error;
use super::leaving::OpenStore;
use super::opened_file::OpenedFile;
use super::{flush, load};
use crate::adapter::StoreSettings;
use crate::operation::{Halt, Operation};
use crate::tables::Tables;

/// The most operations in one transaction.
const LARGEST_BATCH: usize = 512;

/// What running a job found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ran {
    /// Its answer stands ready.
    Finished,
    /// A row has to be loaded first.
    Absent,
}

/// An operation in the queue, whatever its type.
pub(super) trait Job: Send {
    fn want(&self, tables: &mut Tables);

    /// Runs the operation, keeps its answer, and keeps or undoes what it wrote.
    fn run(&mut self, tables: &mut Tables) -> Ran;

    /// Runs the operation for the rows that it asks for, and undoes what it wrote.
    fn probe(&self, tables: &mut Tables);

    /// Sends the answer, or the reason why the transaction failed.
    fn answer(self: Box<Self>, committed: Result<(), StoreError>);
}

/// An operation, its answer once there is one, and who waits for it.
pub(super) struct Queued<O: Operation> {
    operation: O,
    answer: Option<Result<O::Output, O::Error>>,
    asker: oneshot::Sender<Result<O::Output, O::Error>>,
}

impl<O: Operation> Queued<O> {
    pub(super) const fn new(
        operation: O,
        asker: oneshot::Sender<Result<O::Output, O::Error>>,
    ) -> Self {
        Self {
            operation,
            answer: None,
            asker,
        }
    }
}

impl<O: Operation> Job for Queued<O> {
    fn want(&self, tables: &mut Tables) {
        self.operation.want(tables);
    }

    fn run(&mut self, tables: &mut Tables) -> Ran {
        let answer = match self.operation.run(tables) {
            Ok(output) => {
                tables.keep();
                Ok(output)
            }
            Err(halt) => {
                tables.undo();
                match halt {
                    Halt::Absent => return Ran::Absent,
                    Halt::Refused(error) => Err(error),
                }
            }
        };
        self.answer = Some(answer);
        Ran::Finished
    }

    fn probe(&self, tables: &mut Tables) {
        let _found = self.operation.run(tables);
        tables.undo();
    }

    fn answer(self: Box<Self>, committed: Result<(), StoreError>) {
        let answer = match (committed, self.answer) {
            (Ok(()), Some(answer)) => answer,
            (Ok(()), None) => Err(StoreError::Closed.into()),
            (Err(error), _) => Err(error.into()),
        };
        // Whoever asked may have gone away; what was done stays done.
        let _gone = self.asker.send(answer);
    }
}

/// The thread.
pub(super) struct Writer {
    connection: Connection,
    queue: mpsc::Receiver<Box<dyn Job>>,
    settings: StoreSettings,
    file: Arc<OpenedFile>,
    /// Goes after the connection.
    own: Arc<OwnFiles>,
    /// Goes last.
    open: OpenStore,
}

impl Writer {
    pub(super) fn new(
        connection: Connection,
        queue: mpsc::Receiver<Box<dyn Job>>,
        settings: StoreSettings,
        file: Arc<OpenedFile>,
        own: Arc<OwnFiles>,
    ) -> Self {
        Self {
            connection,
            queue,
            settings,
            file,
            own,
            open: OpenStore::begin(),
        }
    }

    /// Writes until nobody can submit anything any more.
    pub(super) fn run(mut self) {
        let mut batch = Vec::new();
        while self.queue.blocking_recv_many(&mut batch, LARGEST_BATCH) > 0 {
            self.write(std::mem::take(&mut batch));
        }
        if self.file.is_not_known_to_be_gone().is_err() {
            // Closing would move what the log has into the file, where there may be another one by now.
            Box::leak(Box::new(self.connection));
        } else if let Err((_connection, error)) = self.connection.close() {
            tracing::warn!(%error, "the store did not close cleanly");
        }
        drop((self.own, self.open));
    }

    fn write(&self, mut batch: Vec<Box<dyn Job>>) {
        match self.transact(&mut batch) {
            Err(error) if batch.len() > 1 && is_about_one_row(&error) => {
                // One operation must not take the others down with it.
                for job in batch {
                    let mut alone = vec![job];
                    let written = self.transact(&mut alone);
                    answer(alone, &written);
                }
            }
            written => answer(batch, &written),
        }
    }

    fn transact(&self, batch: &mut [Box<dyn Job>]) -> Result<(), StoreError> {
        let written = self.attempt(batch);
        if let Err(error) = &written {
            tracing::error!(%error, operations = batch.len(), "a transaction of the store failed");
            // Where the transaction never began, or SQLite has ended it already, there is nothing to roll back.
            if let Err(error) = self.execute("ROLLBACK") {
                tracing::debug!(%error, "nothing was rolled back");
            }
        }
        written
    }

    fn attempt(&self, batch: &mut [Box<dyn Job>]) -> Result<(), StoreError> {
        self.file.is_not_known_to_be_gone()?;
        let now = self.settings.now();
        let mut tables = Tables::partial(self.settings.rules(), now);
        for job in batch.iter() {
            job.want(&mut tables);
        }
        self.execute("BEGIN IMMEDIATE")?;
        load::missing(&self.connection, &mut tables)?;
        let mut finished = 0;
        while let ControlFlow::Continue(first) = run_from(batch, finished, &mut tables) {
            finished = first;
            if !load::missing(&self.connection, &mut tables)? {
                return Err(StoreError::Unavailable {
                    detail: "an operation waits for rows that it does not name".to_owned(),
                });
            }
        }
        flush::dirty(&self.connection, &mut tables)?;
        self.execute("COMMIT")?;
        // Before the answers: a commit to a file that is gone is not acknowledged.
        self.file.check()
    }

    fn execute(&self, sql: &'static str) -> Result<(), StoreError> {
        let mut statement = self.connection.prepare_cached(sql).map_err(store_error)?;
        statement.execute(()).map_err(store_error)?;
        Ok(())
    }
}

/// Runs the jobs in their order, up to the first that needs a row. The rest is only asked what it needs, so that
/// all of it is loaded at once; it runs when its turn comes.
fn run_from(
    batch: &mut [Box<dyn Job>],
    from: usize,
    tables: &mut Tables,
) -> ControlFlow<(), usize> {
    let mut first_absent = None;
    for (number, job) in batch.iter_mut().enumerate().skip(from) {
        if first_absent.is_some() {
            job.probe(tables);
        } else if job.run(tables) == Ran::Absent {
            first_absent = Some(number);
        }
    }
    match first_absent {
        Some(first) => ControlFlow::Continue(first),
        None => ControlFlow::Break(()),
    }
}

/// Whether a failure may be the fault of one operation, so that the others deserve another try.
const fn is_about_one_row(error: &StoreError) -> bool {
    matches!(
        error,
        StoreError::Unavailable { .. }
            | StoreError::Corrupt { .. }
            | StoreError::DamagedRow { .. }
            | StoreError::Full
    )
}

fn answer(batch: Vec<Box<dyn Job>>, written: &Result<(), StoreError>) {
    for job in batch {
        job.answer(written.clone());
    }
}
