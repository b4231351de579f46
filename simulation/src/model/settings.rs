//! What is simulated, and every assumption about the load that is not a cost of the store.

use std::time::Duration;

/// A fault, some time after the start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// None.
    None,
    /// A tenth of the workers die at once, on machines of their own: only their leases show it.
    TenthDies,
    /// The database is away for so long.
    Away(Duration),
    /// All workers start at once, and earlier ones had released every run that worked.
    AllStart,
}

/// What is simulated.
#[derive(Debug, Clone)]
pub struct ModelSettings {
    /// The seed of all choices.
    pub seed: u64,
    /// Processes of `irq worker`.
    pub workers: usize,
    /// Runs that a worker executes at most; the default of `irq worker --slots`.
    pub slots: usize,
    /// Interrupts that are open at the start; for each of them a run waits, except for the runs that work.
    pub open: u64,
    /// The share of slots that is used. People decide as often as that takes.
    pub fill: f64,
    /// How long a step of an agent takes, which is a model's answer.
    pub step: Duration,
    /// Steps until an agent asks people again, on average.
    pub steps: f64,
    /// Transactions of a step that write events: the tour has 113 rows in its outbox after 20 calls of the model.
    pub writes: u32,
    /// Workers for each server; there are two servers at least.
    pub workers_of_a_server: usize,
    /// How often a server ends what is past its deadline: as `server/src/clearing.rs`.
    pub server_sweep: Duration,
    /// How long it runs before anything is counted.
    pub warm_up: Duration,
    /// For how long it is counted.
    pub counted: Duration,
    /// What goes wrong when the counting begins.
    pub fault: Fault,
    /// The version of the program.
    pub remedy: Remedy,
}

/// The version of the program: an earlier one, today's, or a proposed one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Remedy {
    /// Before: looks read past all runs that wait, sweeps ask for all open interrupts, and all workers try to take a run.
    Before,
    /// The program as it is: looks have an index, orphans are looked for once a minute, and workers know whose turn it is.
    Today,
    /// Besides, a commit notifies only the processes that it concerns, looks read free runs and nothing else, and a
    /// process renews all its runs in one transaction.
    OneIsTold,
}

impl ModelSettings {
    /// The usual ones.
    pub fn new(workers: usize, open: u64) -> Self {
        Self {
            seed: 1,
            workers,
            slots: 8,
            open,
            fill: 0.5,
            step: Duration::from_secs(10),
            steps: 6.0,
            writes: 5,
            workers_of_a_server: 100,
            server_sweep: Duration::from_secs(1),
            warm_up: Duration::from_secs(10),
            counted: Duration::from_secs(20),
            fault: Fault::None,
            remedy: Remedy::Today,
        }
    }

    /// How many processes serve people.
    pub const fn servers(&self) -> usize {
        let servers = self.workers / self.workers_of_a_server;
        if servers < 2 { 2 } else { servers }
    }

    /// How many runs work at the start.
    pub fn working(&self) -> usize {
        ((self.workers * self.slots) as f64 * self.fill).round() as usize
    }

    /// The time between two decisions of people.
    pub fn between_decisions(&self) -> Duration {
        self.step.mul_f64(self.steps / self.working().max(1) as f64)
    }
}
