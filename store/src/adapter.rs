//! The ports, over any backend.

mod access;
mod audit;
mod catalogue;
mod interrupts;
mod journal;
mod node;
mod purge;
mod run;
mod standing_rules;
mod worker;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use ::interrupts::life::Limits;
use ::interrupts::store::StoreError;
use ::interrupts::{Clock, SystemClock};
use interrupt_router::reroute::RerouteLimits;
use jiff::Timestamp;

use crate::operation::Operation;
use crate::relational::{Relational, checked};
use crate::tables::Rules;

/// Settings that a store is opened with.
#[derive(Clone)]
pub struct StoreSettings {
    /// The clock by which deadlines and leases are judged, where it is not the store's own: that of this machine for a
    /// file, that of the server for PostgreSQL.
    pub clock: Option<Arc<dyn Clock>>,
    /// How large interrupts may be.
    pub limits: Limits,
    /// How long reroutes wait.
    pub reroutes: RerouteLimits,
    /// Called for each write that has ended.
    pub written: Option<Written>,
    /// What of a file is looked at when it is opened.
    pub opening: Opening,
}

/// What of a file is looked at when it is opened. PostgreSQL looks after its files by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Opening {
    /// All of it, which takes the longer the larger it is.
    #[default]
    Checked,
    /// Its schema and its log, for what cannot wait. A row is compared with its seal when it is read.
    AtOnce,
}

/// Receives which operation was written to a file or a server, and how long it took from its request to its commit or its
/// refusal.
pub type Written = Arc<dyn Fn(&'static str, Duration) + Send + Sync>;

impl Default for StoreSettings {
    /// The store's own clock and the usual limits.
    fn default() -> Self {
        Self {
            clock: None,
            limits: Limits::default(),
            reroutes: RerouteLimits::default(),
            written: None,
            opening: Opening::Checked,
        }
    }
}

impl StoreSettings {
    /// The time by [`StoreSettings::clock`], or by that of this machine, in whole microseconds: no store keeps more.
    pub fn now(&self) -> Timestamp {
        let now = match &self.clock {
            Some(clock) => clock.now(),
            None => SystemClock.now(),
        };
        Timestamp::from_microsecond(now.as_microsecond()).unwrap_or(now)
    }

    /// Carries an operation out, and tells how long that took.
    pub(crate) async fn timed<O: Operation>(
        &self,
        operation: impl Future<Output = Result<O::Output, O::Error>>,
    ) -> Result<O::Output, O::Error> {
        let Some(written) = &self.written else {
            return operation.await;
        };
        let began = Instant::now();
        let done = operation.await;
        let name = std::any::type_name::<O>();
        let name = name.rsplit("::").next().unwrap_or(name);
        written(name, began.elapsed());
        done
    }

    pub(crate) const fn rules(&self) -> Rules {
        Rules {
            limits: self.limits,
            reroutes: self.reroutes,
        }
    }
}

/// A store over a backend: one of this crate, or any [`Relational`](crate::backend::Relational) one. It implements every
/// port of [`interrupts::store`](::interrupts::store).
#[derive(Debug)]
pub struct Adapter<B> {
    pub(crate) backend: B,
    /// When the rows were counted last, and how long that took.
    rows_counted: Mutex<Option<(Instant, Duration)>>,
}

/// Rows are counted before a run is taken up, once a second at most, and so that counting takes a twentieth of the time at
/// most, however many there are.
const COUNTS_ROWS: Duration = Duration::from_secs(1);
const SHARE_OF_COUNTING: u32 = 20;

impl<B> Adapter<B> {
    /// A store over a backend that is open.
    pub const fn over(backend: B) -> Self {
        Self {
            backend,
            rows_counted: Mutex::new(None),
        }
    }

    /// The backend.
    pub const fn backend(&self) -> &B {
        &self.backend
    }

    /// The backend, to close it.
    pub fn into_backend(self) -> B {
        self.backend
    }
}

/// Checks that no row of a store is missing, unless that was done just now.
pub(crate) async fn count_rows_when_due<B: Relational>(
    store: &Adapter<B>,
) -> Result<(), StoreError> {
    let is_recent =
        |(at, took): (Instant, Duration)| at.elapsed() < COUNTS_ROWS.max(took * SHARE_OF_COUNTING);
    if lock(&store.rows_counted).is_some_and(is_recent) {
        return Ok(());
    }
    let began = Instant::now();
    store.backend.ask(checked::count_rows).await?;
    *lock(&store.rows_counted) = Some((Instant::now(), began.elapsed()));
    Ok(())
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<B: Relational> Clock for Adapter<B> {
    fn now(&self) -> Timestamp {
        self.backend.time()
    }
}
