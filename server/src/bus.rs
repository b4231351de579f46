//! The bus: events of the feed are published there, and what supervisors publish there is carried out as over REST.
//!
//! The store is the truth. The feed is published from a cursor in it, which moves when the broker has acknowledged;
//! while the broker is unavailable events wait in the store, and the rest of the server does not wait.

mod commands;
mod relay;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use interrupts::bus::{Bus, BusError};

pub(crate) use commands::{BusVerb, carry_out};
pub(crate) use relay::relay;

/// The broker, and how far it has come.
pub(crate) struct Publishing {
    broker: Arc<dyn Bus>,
    /// The position up to which the broker has acknowledged everything.
    through: AtomicU64,
    /// How many events this process has published.
    count: AtomicU64,
    is_away: AtomicBool,
}

impl Publishing {
    pub(crate) fn to(broker: Arc<dyn Bus>) -> Self {
        Self {
            broker,
            through: AtomicU64::new(0),
            count: AtomicU64::new(0),
            is_away: AtomicBool::new(false),
        }
    }

    pub(crate) fn broker(&self) -> &dyn Bus {
        &*self.broker
    }

    /// The position up to which the broker has acknowledged everything.
    pub(crate) fn through(&self) -> u64 {
        self.through.load(Ordering::Relaxed)
    }

    /// How many events this process has published.
    pub(crate) fn count(&self) -> u64 {
        self.count.load(Ordering::Relaxed)
    }

    /// Whether the last attempt to reach the broker failed.
    pub(crate) fn is_away(&self) -> bool {
        self.is_away.load(Ordering::Relaxed)
    }

    /// The broker took an event.
    fn published(&self, position: u64) {
        self.count.fetch_add(1, Ordering::Relaxed);
        self.reached(position);
    }

    /// Everything up to a position is published, here or by another server of the store.
    fn reached(&self, position: u64) {
        self.through.fetch_max(position, Ordering::Relaxed);
    }

    /// Notes the result of the last attempt. Each change is logged once, however many attempts fail in between.
    fn note(&self, failure: Option<&BusError>) {
        let was_away = self.is_away.swap(failure.is_some(), Ordering::Relaxed);
        let place = self.broker.place();
        match (was_away, failure) {
            (false, Some(error)) => {
                tracing::warn!(%place, %error, "events are not published; they wait in the store");
            }
            (true, None) => tracing::info!(%place, "events are published again"),
            (false, None) | (true, Some(_)) => {}
        }
    }
}
