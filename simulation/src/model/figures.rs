//! The figures, and what a table shows of them.

use std::time::Duration;

/// Where a transaction or a question comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Source {
    /// The work of agents and people.
    Work,
    /// Leases that are renewed.
    Renewals,
    /// Runs that are taken, and attempts that are refused.
    Taking,
    /// What workers report of themselves, and read of the others.
    Tellings,
    /// Looks for runs that lost their process.
    ScanSchedule,
    /// Ends of what is past its deadline.
    Sweeps,
    /// What processes read when they are notified of a commit, and the notifications.
    Feeds,
}

impl Source {
    /// All of them.
    pub const ALL: [Self; 7] = [
        Self::Work,
        Self::Renewals,
        Self::Taking,
        Self::Tellings,
        Self::ScanSchedule,
        Self::Sweeps,
        Self::Feeds,
    ];

    /// Its name in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Work => "work",
            Self::Renewals => "renewals",
            Self::Taking => "taking",
            Self::Tellings => "tellings",
            Self::ScanSchedule => "looks",
            Self::Sweeps => "sweeps",
            Self::Feeds => "feeds",
        }
    }
}

/// Times of one kind.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Samples(Vec<Duration>);

impl Samples {
    /// Adds one.
    pub fn add(&mut self, time: Duration) {
        self.0.push(time);
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// The time that this share of all does not exceed, in seconds; 0 if there are none.
    pub fn at(&self, share: f64) -> f64 {
        let mut times = self.0.clone();
        times.sort_unstable();
        let last = times.len().saturating_sub(1);
        let index = (last as f64 * share).round() as usize;
        times.get(index).copied().unwrap_or_default().as_secs_f64()
    }

    /// The share of times that are longer than this one.
    pub fn above(&self, time: Duration) -> f64 {
        let longer = self.0.iter().filter(|&&it| it > time).count();
        longer as f64 / self.0.len().max(1) as f64
    }

    /// The mean, in seconds.
    pub fn mean(&self) -> f64 {
        self.0.iter().sum::<Duration>().as_secs_f64() / self.0.len().max(1) as f64
    }
}

/// The counted figures.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Figures {
    /// For how long, in seconds.
    pub seconds: f64,
    /// Transactions.
    pub commits: u64,
    /// Operations that were committed, by source.
    pub operations: [u64; 7],
    /// Work that the store's machine was asked for, by source, in seconds of a core.
    pub asked: [f64; 7],
    /// Work that was done, in seconds of a core.
    pub worked: f64,
    /// For how long the lock was held, in seconds.
    pub locked: f64,
    /// Processes that wait for the lock: the mean and the most of samples every 100 ms.
    pub line: (f64, usize),
    /// Decisions that people tried to make, and that were committed.
    pub decisions: (u64, u64),
    /// From a decision until a worker has its run.
    pub resumed: Samples,
    /// From the death of a process, or the loss of a lease, until another worker has its run.
    pub taken: Samples,
    /// From when a worker hands a run over until another one has it.
    pub handed_over: Samples,
    /// How long a renewal takes.
    pub renewal: Samples,
    /// Runs that a live process lost, since it could not renew their leases in time.
    pub lost: u64,
    /// Runs that have had no process for some seconds at the end, though they wait for no person.
    pub left: usize,
    /// Attempts to take a run that were refused, for each that was not.
    pub refused: f64,
    /// Interrupts: open at the start, published, decided, open at the end.
    pub interrupts: [u64; 4],
    /// How often two live processes had one run at once.
    pub two_owners: u64,
}
