//! The store as a queueing server: one transaction at a time under its lock, in the order of the requests for it; each
//! process writes in one batch what has gathered while it waited; questions share the cores with the work of
//! transactions.

use std::collections::VecDeque;
use std::time::Duration;

use ::store::{LARGEST_BATCH, READS_AT_ONCE};

use crate::measured::{Costs, microseconds};
use crate::processor::Processor;

/// An event for the timeline to plan.
#[derive(Debug, Clone, Copy)]
pub enum StoreEvent {
    /// A job may be done, unless another one was added since.
    Worked(u64),
    /// The commit is on disk.
    Flushed,
}

/// An event of the store, and its time.
pub type Plan = (Duration, StoreEvent);

/// An operation in a process's queue, and what continues once it is committed.
#[derive(Debug)]
pub struct StoreOperation<W> {
    /// Its work, besides the transaction.
    pub work: Duration,
    /// What continues.
    pub then: W,
}

/// A finished read or transaction.
#[derive(Debug)]
pub enum FinishedOperation<R, W> {
    /// A question of a process is answered.
    Read(R),
    /// A transaction is committed, with these operations.
    Committed(Vec<StoreOperation<W>>),
}

#[derive(Debug)]
enum StoreJob<R> {
    Read { process: usize, then: R },
    Transaction,
    Other,
}

/// The connections of one process.
#[derive(Debug)]
struct StoreProcess<R, W> {
    reads: usize,
    waiting: VecDeque<(Duration, R)>,
    queue: VecDeque<StoreOperation<W>>,
    /// What it writes now, or once it has the lock.
    batch: Vec<StoreOperation<W>>,
}

/// The store.
#[derive(Debug)]
pub struct Store<R, W> {
    transaction: Duration,
    flush: Duration,
    largest: usize,
    processor: Processor<StoreJob<R>>,
    generation: u64,
    /// Whether something has changed since the last plan.
    has_changed: bool,
    processes: Vec<StoreProcess<R, W>>,
    /// The processes that wait for the lock; the first one has it.
    line: VecDeque<usize>,
    others: usize,
    locked_since: Duration,
    is_away: bool,
    is_flushing: bool,
    /// For how long the lock was held.
    pub locked: Duration,
    /// How many transactions were committed.
    pub commits: u64,
}

impl<R, W> Store<R, W> {
    /// A store that so many processes use, each of which writes at most `largest` operations in one transaction.
    pub fn new(costs: &Costs, processes: usize, largest: usize) -> Self {
        let process = |_number| StoreProcess {
            reads: 0,
            waiting: VecDeque::new(),
            queue: VecDeque::new(),
            batch: Vec::new(),
        };
        Self {
            transaction: microseconds(costs.transaction),
            flush: microseconds(costs.flush),
            largest,
            processor: Processor::new(costs.cores),
            generation: 0,
            has_changed: true,
            processes: (0..processes).map(process).collect(),
            line: VecDeque::new(),
            others: 0,
            locked_since: Duration::ZERO,
            is_away: false,
            is_flushing: false,
            locked: Duration::ZERO,
            commits: 0,
        }
    }

    /// With the product's batch size.
    pub fn usual(costs: &Costs, processes: usize) -> Self {
        Self::new(costs, processes, LARGEST_BATCH)
    }

    /// How many processes wait for the lock.
    pub fn waiting(&self) -> usize {
        self.line.len().saturating_sub(1)
    }

    /// The work done, in seconds of a core.
    pub fn worked(&self) -> f64 {
        self.processor.worked
    }

    /// Asks a question that takes so much work.
    pub fn read(&mut self, now: Duration, process: usize, work: Duration, then: R) {
        let connections = &mut self.processes[process];
        if connections.reads < READS_AT_ONCE {
            connections.reads += 1;
            self.add(now, work, StoreJob::Read { process, then });
        } else {
            connections.waiting.push_back((work, then));
        }
    }

    /// Whether the machine has something else to do.
    pub const fn has_other_work(&self) -> bool {
        self.others > 0
    }

    /// Gives the machine something else to do.
    pub fn other_work(&mut self, now: Duration, work: Duration) {
        self.others += 1;
        self.add(now, work, StoreJob::Other);
    }

    /// Puts an operation into the queue of a process.
    pub fn write(&mut self, now: Duration, process: usize, operation: StoreOperation<W>) {
        self.processes[process].queue.push_back(operation);
        self.begin(now, process);
    }

    /// Drops what a process that is gone had not asked yet; what it has asked is done.
    pub fn leave(&mut self, process: usize) {
        self.processes[process].queue.clear();
        self.processes[process].waiting.clear();
    }

    /// Takes what has gathered in a queue into a transaction, which waits for the lock.
    fn begin(&mut self, now: Duration, process: usize) {
        let writer = &mut self.processes[process];
        if !writer.batch.is_empty() || writer.queue.is_empty() {
            return;
        }
        let many = writer.queue.len().min(self.largest);
        writer.batch = writer.queue.drain(..many).collect();
        self.line.push_back(process);
        if self.line.len() == 1 {
            self.lock(now);
        }
    }

    /// The first in line has the lock and works.
    fn lock(&mut self, now: Duration) {
        let Some(&process) = self.line.front() else {
            return;
        };
        self.locked_since = now;
        let operations = self.processes[process].batch.iter();
        let work = self.transaction + operations.map(|it| it.work).sum::<Duration>();
        self.add(now, work, StoreJob::Transaction);
    }

    /// The server goes away, or is back: what was under way is done then.
    pub fn set_away(&mut self, now: Duration, is_away: bool) {
        (self.is_away, self.has_changed) = (is_away, true);
        self.processor.set_away(now, is_away);
        if !is_away && std::mem::take(&mut self.is_flushing) {
            // The commit was lost with its connection: the whole transaction is done again.
            self.lock(now);
        }
    }

    /// When the store has to be asked again, if that has changed; to be planned after each event.
    pub fn plan(&mut self) -> Option<Plan> {
        if !std::mem::take(&mut self.has_changed) {
            return None;
        }
        self.generation += 1;
        let at = self.processor.next()?;
        Some((at, StoreEvent::Worked(self.generation)))
    }

    /// Handles an event; a further event may follow from it.
    pub fn on(
        &mut self,
        now: Duration,
        event: StoreEvent,
    ) -> (Option<FinishedOperation<R, W>>, Option<Plan>) {
        match event {
            StoreEvent::Worked(generation) if generation != self.generation => (None, None),
            StoreEvent::Worked(_newest) => match self.finish(now) {
                Some(StoreJob::Read { process, then }) => {
                    self.read_next(now, process);
                    (Some(FinishedOperation::Read(then)), None)
                }
                Some(StoreJob::Transaction) => {
                    self.is_flushing = true;
                    (None, Some((now + self.flush, StoreEvent::Flushed)))
                }
                Some(StoreJob::Other) => {
                    self.others -= 1;
                    (None, None)
                }
                None => (None, None),
            },
            StoreEvent::Flushed if self.is_away || !self.is_flushing => (None, None),
            StoreEvent::Flushed => (Some(self.commit(now)), None),
        }
    }

    fn add(&mut self, now: Duration, work: Duration, job: StoreJob<R>) {
        self.has_changed = true;
        self.processor.add(now, work, job);
    }

    fn finish(&mut self, now: Duration) -> Option<StoreJob<R>> {
        self.has_changed = true;
        self.processor.finish(now)
    }

    fn read_next(&mut self, now: Duration, process: usize) {
        let connections = &mut self.processes[process];
        match connections.waiting.pop_front() {
            Some((work, then)) => self.add(now, work, StoreJob::Read { process, then }),
            None => connections.reads -= 1,
        }
    }

    fn commit(&mut self, now: Duration) -> FinishedOperation<R, W> {
        self.is_flushing = false;
        self.locked += now - self.locked_since;
        self.commits += 1;
        let process = self.line.pop_front().unwrap_or_default();
        let batch = std::mem::take(&mut self.processes[process].batch);
        self.lock(now);
        // The process asks for the lock again after those that waited.
        self.begin(now, process);
        FinishedOperation::Committed(batch)
    }
}
