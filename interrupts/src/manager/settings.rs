//! The settings of a manager.

use std::sync::Arc;
use std::time::Duration;

use crate::{Clock, SystemClock};
use jiff::SignedDuration;

use super::abandoned_effects::{AbandonedEffects, NoAbandonedEffects};
use super::recovery::Backoff;
use super::request::KindRoutes;
use crate::life::{Actor, Role};
use crate::names::OwnerName;
use crate::notifier::{NoNotifier, Notifier};
use crate::store::Store;

/// How long things take, and may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Times {
    /// How long the lease of a run is valid without being renewed.
    pub lease: Duration,
    /// How often it is renewed: well below the lease.
    pub heartbeat: Duration,
    /// How often the store is read when no notification comes.
    pub poll: Duration,
    /// How long a shutdown waits for runs that stop gracefully, and once more after it has told them to stop
    /// at once. Also for how long, once a run was told to stop, all that is to be recorded of it is
    /// retried together while the store fails.
    pub grace: Duration,
    /// How long a delivery to a node may take.
    pub delivery: Duration,
    /// How long a hook or a shutdown callback may take.
    pub hook: Duration,
}

impl Default for Times {
    /// A lease of 15 s renewed every 5 s, a poll every 500 ms, 5 s of grace, 5 s for a delivery, 2 s for a hook.
    fn default() -> Self {
        Self {
            lease: Duration::from_secs(15),
            heartbeat: Duration::from_secs(5),
            poll: Duration::from_millis(500),
            grace: Duration::from_secs(5),
            delivery: Duration::from_secs(5),
            hook: Duration::from_secs(2),
        }
    }
}

/// The settings of a manager.
#[derive(Clone)]
pub struct ManagerSettings {
    /// Where everything is recorded.
    pub store: Arc<dyn Store>,
    /// The name of this process among the owners of runs. No other process has it.
    pub owner: OwnerName,
    /// Notifies the owners of other runs, and hears when others notify this process.
    pub notifier: Arc<dyn Notifier>,
    /// The clock for the timestamps in the reasons of stops.
    pub clock: Arc<dyn Clock>,
    /// Knows kinds and routes.
    pub kind_routes: Arc<dyn KindRoutes>,
    /// Knows what becomes of the effects that a run had begun, if it ends while no process works on it.
    pub remains: Arc<dyn AbandonedEffects>,
    /// How long things take.
    pub times: Times,
    /// How store operations are retried after errors.
    pub backoff: Backoff,
}

impl ManagerSettings {
    /// The usual settings: the machine's clock, no notifier, effects begun by ended runs stay as they are.
    pub fn new(store: Arc<dyn Store>, owner: OwnerName, kind_routes: Arc<dyn KindRoutes>) -> Self {
        Self {
            store,
            owner,
            notifier: Arc::new(NoNotifier),
            clock: Arc::new(SystemClock),
            kind_routes,
            remains: Arc::new(NoAbandonedEffects),
            times: Times::default(),
            backoff: Backoff::default(),
        }
    }

    /// This process, as an actor.
    pub fn actor(&self) -> Actor {
        Actor {
            name: self.owner.clone().into(),
            role: Role::System,
        }
    }

    /// The lease as stores take it.
    pub(crate) fn lease(&self) -> SignedDuration {
        SignedDuration::try_from(self.times.lease).unwrap_or(SignedDuration::MAX)
    }
}
