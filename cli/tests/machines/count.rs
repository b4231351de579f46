//! How often each kind of fault was injected.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard};

/// A kind of fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Fault {
    WorkerKilled,
    WorkerStopped,
    WorkerCutOff,
    ServerKilled,
    ServerStopped,
    DatabaseLinkCutThere,
    DatabaseLinkCutBack,
    DatabaseLinkCutBoth,
    DatabaseLinkRefused,
    DatabaseLinkSlow,
    DatabaseRestarted,
    DatabaseKilled,
    DatabaseStopped,
    DatabaseFailedOver,
    StandbyStopped,
    BrokerKilled,
    BrokerStopped,
    BrokerWiped,
    BrokerLinkCutThere,
    BrokerLinkCutBack,
    BrokerLinkCutBoth,
    ClockSetForward,
    ClockSetBack,
    EventPublishedTwice,
    EventPublishedOutOfOrder,
}

impl Fault {
    pub(crate) const ALL: [Self; 25] = [
        Self::WorkerKilled,
        Self::WorkerStopped,
        Self::WorkerCutOff,
        Self::ServerKilled,
        Self::ServerStopped,
        Self::DatabaseLinkCutThere,
        Self::DatabaseLinkCutBack,
        Self::DatabaseLinkCutBoth,
        Self::DatabaseLinkRefused,
        Self::DatabaseLinkSlow,
        Self::DatabaseRestarted,
        Self::DatabaseKilled,
        Self::DatabaseStopped,
        Self::DatabaseFailedOver,
        Self::StandbyStopped,
        Self::BrokerKilled,
        Self::BrokerStopped,
        Self::BrokerWiped,
        Self::BrokerLinkCutThere,
        Self::BrokerLinkCutBack,
        Self::BrokerLinkCutBoth,
        Self::ClockSetForward,
        Self::ClockSetBack,
        Self::EventPublishedTwice,
        Self::EventPublishedOutOfOrder,
    ];
}

/// The faults so far.
#[derive(Debug, Default)]
pub(crate) struct FaultCount(Mutex<BTreeMap<Fault, u64>>);

impl FaultCount {
    fn counts(&self) -> MutexGuard<'_, BTreeMap<Fault, u64>> {
        self.0.lock().unwrap()
    }

    pub(crate) fn add(&self, fault: Fault) {
        *self.counts().entry(fault).or_default() += 1;
    }

    pub(crate) fn missing(&self) -> Vec<Fault> {
        let counts = self.counts();
        let is_missing = |fault: &Fault| !counts.contains_key(fault);
        Fault::ALL.into_iter().filter(is_missing).collect()
    }

    pub(crate) fn total(&self) -> u64 {
        self.counts().values().sum()
    }

    /// One line for each kind.
    pub(crate) fn lines(&self) -> String {
        let line = |(fault, count): (&Fault, &u64)| format!("  {count:>6}  {fault:?}\n");
        self.counts().iter().map(line).collect()
    }
}
