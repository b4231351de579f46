//! The one thread that writes: a queue of operations, many in one transaction, each answered after the commit.

use std::ops::ControlFlow;
use std::thread::JoinHandle;

use interrupts::store::StoreError;
use tokio::sync::{mpsc, oneshot};
use tokio::task::spawn_blocking;

use super::database::Transactions;
use super::{flush, load};
use crate::adapter::StoreSettings;
use crate::operation::{Halt, Operation};
use crate::tables::Tables;

/// The most operations that a process writes in one transaction.
pub const LARGEST_BATCH: usize = 512;

/// How many operations may wait to be written.
const QUEUE: usize = 4_096;

/// The thread of a process that writes to a store, and the queue before it.
///
/// When it is dropped, operations that were submitted are still carried out, as long as the process lives; to wait for
/// them, use [`Writer::close`].
pub struct Writer {
    jobs: mpsc::Sender<Box<dyn Job>>,
    thread: JoinHandle<()>,
    settings: StoreSettings,
}

impl Writer {
    /// Starts the thread. It closes the connection when no one can submit anything any more.
    ///
    /// # Errors
    ///
    /// [`StoreError::Unavailable`] where the system has no thread.
    pub fn start(database: impl Transactions, settings: StoreSettings) -> Result<Self, StoreError> {
        let (jobs, queue) = mpsc::channel(QUEUE);
        let writing = WriteLoop {
            database,
            queue,
            settings: settings.clone(),
        };
        let thread = std::thread::Builder::new()
            .name("store writer".to_owned())
            .spawn(|| writing.run())
            .map_err(|error| StoreError::Unavailable {
                detail: format!("no thread to write with: {error}"),
            })?;
        Ok(Self {
            jobs,
            thread,
            settings,
        })
    }

    /// Puts an operation into the queue, and waits until it is durable or refused.
    ///
    /// # Errors
    ///
    /// What the operation is refused with; or, as its error, the [`StoreError`] of the transaction.
    ///
    /// # Cancel safety
    ///
    /// Dropped while the queue is full, nothing was done. Dropped later, the operation is carried out all the same.
    pub async fn submit<O: Operation>(&self, operation: O) -> Result<O::Output, O::Error> {
        let submitted = Queued::submit(operation, &self.jobs);
        self.settings.timed::<O>(submitted).await
    }

    /// Waits until everything that was submitted is done, and the connection is closed.
    ///
    /// # Errors
    ///
    /// [`StoreError::Unavailable`] where the thread has panicked.
    ///
    /// # Cancel safety
    ///
    /// Dropped, it closes all the same, but no one waits for it.
    pub async fn close(self) -> Result<(), StoreError> {
        drop(self.jobs);
        let ended = spawn_blocking(move || self.thread.join()).await;
        match ended {
            Ok(Ok(())) => Ok(()),
            Ok(Err(_panicked)) => Err(StoreError::Unavailable {
                detail: "the writing thread has panicked".to_owned(),
            }),
            Err(error) => Err(StoreError::Unavailable {
                detail: error.to_string(),
            }),
        }
    }
}

/// What running a job found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ran {
    /// Its answer is ready.
    Finished,
    /// A row has to be loaded first.
    Absent,
}

/// An operation of any type in the queue.
trait Job: Send {
    fn want(&self, tables: &mut Tables);

    /// Runs the operation, keeps its answer, and keeps or undoes what it wrote.
    fn run(&mut self, tables: &mut Tables) -> Ran;

    /// Runs the operation for the rows that it asks for, and undoes what it wrote.
    fn probe(&self, tables: &mut Tables);

    /// Sends the answer, or the reason why the transaction failed.
    fn answer(self: Box<Self>, committed: Result<(), StoreError>);
}

/// An operation, its answer once there is one, and who waits for it.
struct Queued<O: Operation> {
    operation: O,
    answer: Option<Result<O::Output, O::Error>>,
    asker: oneshot::Sender<Result<O::Output, O::Error>>,
}

impl<O: Operation> Queued<O> {
    /// Puts an operation into a queue, and waits for its answer.
    async fn submit(
        operation: O,
        jobs: &mpsc::Sender<Box<dyn Job>>,
    ) -> Result<O::Output, O::Error> {
        let slot = jobs.reserve().await.map_err(|_closed| StoreError::Closed)?;
        let (asker, answer) = oneshot::channel();
        slot.send(Box::new(Self {
            operation,
            answer: None,
            asker,
        }));
        match answer.await {
            Ok(answer) => answer,
            Err(_dropped) => Err(StoreError::Closed.into()),
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
        // The caller may have gone away; what was done stays done.
        let _gone = self.asker.send(answer);
    }
}

/// Carries an operation out at once, on the thread that asks.
///
/// # Errors
///
/// As [`Writer::submit`].
pub(crate) fn carry_out<O: Operation>(
    database: &mut impl Transactions,
    settings: &StoreSettings,
    operation: O,
) -> Result<O::Output, O::Error> {
    let (asker, mut answer) = oneshot::channel();
    let job = Queued {
        operation,
        answer: None,
        asker,
    };
    write(database, settings, vec![Box::new(job)]);
    match answer.try_recv() {
        Ok(answer) => answer,
        Err(_dropped) => Err(StoreError::Closed.into()),
    }
}

/// What the thread does.
struct WriteLoop<D> {
    database: D,
    queue: mpsc::Receiver<Box<dyn Job>>,
    settings: StoreSettings,
}

impl<D: Transactions> WriteLoop<D> {
    /// Writes until no one can submit anything any more.
    fn run(mut self) {
        let mut batch = Vec::new();
        while self.queue.blocking_recv_many(&mut batch, LARGEST_BATCH) > 0 {
            let batch = std::mem::take(&mut batch);
            write(&mut self.database, &self.settings, batch);
        }
        self.database.close();
    }
}

fn write(database: &mut impl Transactions, settings: &StoreSettings, mut batch: Vec<Box<dyn Job>>) {
    match transact(database, settings, &mut batch) {
        Err(error) if batch.len() > 1 && is_about_one_row(&error) => {
            // One operation must not take the others down with it.
            for job in batch {
                let mut alone = vec![job];
                let written = transact(database, settings, &mut alone);
                answer(alone, &written);
            }
        }
        written => answer(batch, &written),
    }
}

fn transact(
    database: &mut impl Transactions,
    settings: &StoreSettings,
    batch: &mut [Box<dyn Job>],
) -> Result<(), StoreError> {
    loop {
        let written = attempt(database, settings, batch);
        if let Err(error) = &written {
            database.roll_back();
            if database.can_try_again() {
                tracing::debug!(%error, "a transaction of the store is tried again");
                continue;
            }
            tracing::error!(%error, operations = batch.len(), "a transaction of the store failed");
        }
        return written;
    }
}

fn attempt(
    database: &mut impl Transactions,
    settings: &StoreSettings,
    batch: &mut [Box<dyn Job>],
) -> Result<(), StoreError> {
    let mut tables = Tables::new(settings.rules());
    for job in batch.iter() {
        job.want(&mut tables);
    }
    database.begin()?;
    load::missing(database, &mut tables)?;
    tables.now = database.time()?;
    let mut finished = 0;
    while let ControlFlow::Continue(first) = run_from(batch, finished, &mut tables) {
        finished = first;
        if !load::missing(database, &mut tables)? {
            return Err(StoreError::Unavailable {
                detail: "an operation waits for rows that it does not name".to_owned(),
            });
        }
    }
    flush::dirty(database, &mut tables)?;
    database.commit()
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
            | StoreError::InvalidValue { .. }
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
