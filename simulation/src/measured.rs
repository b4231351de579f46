//! What things cost: every figure that was measured, with its source, and every one that was not. All times are of one
//! core, unless said otherwise.
//!
//! Sources: **across** is the table of `docs/many-machines.md`, by the bench `across` of the crate `store`; **many** is
//! the bench of this name beside it, on two cores with the database in memory (`TMPDIR=/dev/shm`); **tour** is what
//! `irq run --script examples/scripts/tour-answered.json` left in its store.

use std::time::Duration;

use clap::Args;

/// What things cost at the store, in microseconds, and how large its machine is.
#[derive(Debug, Clone, Args)]
pub struct Costs {
    /// Work of a transaction beside its operations: begin, lock, load, mark (many: one renewal takes 199, 16 in one process 61 each)
    #[arg(long, default_value_t = 200.0)]
    pub transaction: f64,
    /// Wait for the disk with each commit, under the lock (across: 710 for an admission, 370 where the disk is memory)
    #[arg(long, default_value_t = 350.0)]
    pub flush: f64,
    /// Work of an operation that tells: it writes audit, outbox and its own rows (across: 64 publishers at 7,700 a second)
    #[arg(long, default_value_t = 112.0)]
    pub telling: f64,
    /// Work of a renewal (many: 16 in one process, 16,300 a second)
    #[arg(long, default_value_t = 50.0)]
    pub renewal: f64,
    /// Work of a question for one row (many: 17 to 24)
    #[arg(long, default_value_t = 20.0)]
    pub read: f64,
    /// Work for each further row that is read whole (many: a page of 200 runs takes 880)
    #[arg(long, default_value_t = 4.2)]
    pub row: f64,
    /// Work of a look for each run that waits for people: it is in the index of live runs and passed over (many: 0.77 s for a million)
    #[arg(long, default_value_t = 0.75)]
    pub passed_over: f64,
    /// Work of a sweep for each open interrupt: whether its run has ended is asked of each (many: 0.23 to 0.34 s for a million)
    #[arg(long, default_value_t = 0.28)]
    pub swept: f64,
    /// Work of what a worker tells of itself for each row of the others, which is passed over for those whose time is over (assumed)
    #[arg(long, default_value_t = 0.1)]
    pub other: f64,
    /// Work to tell one process that listens of a commit (many: 12 to 16, the listener included)
    #[arg(long, default_value_t = 12.0)]
    pub notifier: f64,
    /// Work of a new connection, of which each process makes three after a failure (assumed)
    #[arg(long, default_value_t = 3_000.0)]
    pub connection: f64,
    /// Time from an answer until its asker asks again, or from the notifier until a process asks (across: 1.1 ms until an admission is read by another store)
    #[arg(long, default_value_t = 100.0)]
    pub asker: f64,
    /// Cores of the store's machine (assumed; the benches had 2, with the programs on them)
    #[arg(long, default_value_t = 16.0)]
    pub cores: f64,
}

/// A time of the command line.
pub(crate) fn microseconds(number: f64) -> Duration {
    Duration::from_secs_f64(number / 1e6)
}

/// The figures of the bench `across`: publishers at once, and admissions a second; one alone takes 0.71 ms.
pub const ADMISSIONS: [(usize, f64); 3] = [(1, 1_408.0), (64, 7_700.0), (512, 9_100.0)];

/// From an admission until another store has read it, in microseconds, by the bench `across`.
pub const HEARD: f64 = 1_100.0;

/// The figures of the bench `many` in memory: stores, runs that each renews all the time, and renewals a second.
pub const RENEWALS: [(usize, usize, f64); 6] = [
    (1, 1, 5_018.0),
    (1, 16, 16_289.0),
    (2, 1, 5_105.0),
    (2, 16, 13_249.0),
    (4, 1, 3_640.0),
    (4, 16, 11_523.0),
];
