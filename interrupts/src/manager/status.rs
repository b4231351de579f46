//! The status of a manager: the runs that it owns, and their stops.

use interrupt_router::{InterruptId, InterruptType, RunId, StopReason};

use super::shared::Shared;
use super::tree::Reach;

/// A stop that is in force.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct StopStatus {
    /// Its interrupt.
    pub interrupt: InterruptId,
    /// How far it reaches.
    pub reach: Reach,
    /// What it does.
    pub interrupt_type: InterruptType,
    /// Why; the mode is the hardest that was requested.
    pub reason: StopReason,
    /// Whether it has taken effect and is recorded.
    pub settled: bool,
}

/// A run that the manager owns.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct OwnedRunStatus {
    /// The run.
    pub run: RunId,
    /// The epoch in which it is owned.
    pub epoch: u64,
    /// Whether it was lost to another process.
    pub lost: bool,
    /// The stops in force on it.
    pub stops: Vec<StopStatus>,
}

/// What a manager owns at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ManagerStatus {
    /// The runs that it owns, by their ids.
    pub runs: Vec<OwnedRunStatus>,
    /// How many requests are not recorded yet.
    pub unrecorded: usize,
    /// How many tasks it has.
    pub tasks: usize,
    /// How many runs it knows: those that it owns, and those with requests that are not recorded yet.
    pub known: usize,
}

impl Shared {
    pub(crate) fn status(&self) -> ManagerStatus {
        let mut runs: Vec<_> = self
            .keepers()
            .values()
            .map(|keeper| (keeper.run, keeper.epoch, keeper.lost.is_cancelled()))
            .collect();
        runs.sort_unstable();
        let runs = runs.into_iter().map(|(run, epoch, lost)| OwnedRunStatus {
            run,
            epoch,
            lost,
            stops: self.stops_of(run),
        });
        ManagerStatus {
            runs: runs.collect(),
            unrecorded: self.registry.unrecorded(),
            tasks: self.tasks.len(),
            known: self.registry.known(),
        }
    }

    fn stops_of(&self, run: RunId) -> Vec<StopStatus> {
        let active = self.registry.active_stops(run).into_iter();
        let stops = active.map(|stop| StopStatus {
            interrupt: stop.id,
            reach: stop.reach,
            interrupt_type: stop.interrupt_type,
            reason: stop.reason,
            settled: stop.settled,
        });
        stops.collect()
    }
}
