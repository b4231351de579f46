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
    StandbyCutOff,
    BrokerKilled,
    BrokerStopped,
    BrokerWiped,
    BrokerCutOff,
    BrokerLinkCutThere,
    BrokerLinkCutBack,
    BrokerLinkCutBoth,
    ClockSetForward,
    ClockSetBack,
    EventPublishedTwice,
    EventPublishedOutOfOrder,
}

impl Fault {
    pub(crate) const ALL: [Self; 27] = [
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
        Self::StandbyCutOff,
        Self::BrokerKilled,
        Self::BrokerStopped,
        Self::BrokerWiped,
        Self::BrokerCutOff,
        Self::BrokerLinkCutThere,
        Self::BrokerLinkCutBack,
        Self::BrokerLinkCutBoth,
        Self::ClockSetForward,
        Self::ClockSetBack,
        Self::EventPublishedTwice,
        Self::EventPublishedOutOfOrder,
    ];

    /// Whether a cable is cut, which only a network has.
    const fn needs_cables(self) -> bool {
        matches!(self, Self::StandbyCutOff | Self::BrokerCutOff)
    }
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

    /// Those that were possible and did not happen.
    pub(crate) fn missing(&self, has_cables: bool) -> Vec<Fault> {
        let counts = self.counts();
        let is_missing = |fault: &Fault| !counts.contains_key(fault);
        let possible = Fault::ALL.into_iter();
        let possible = possible.filter(|fault| has_cables || !fault.needs_cables());
        possible.filter(is_missing).collect()
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
