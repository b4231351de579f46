//! How long interrupts take from the request to each of their phases.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use interrupt_router::{InterruptId, RunId};
use interrupts::life::{Family, Interrupt};
use jiff::Timestamp;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::family::Family as Metric;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct PhaseLabels {
    phase: &'static str,
}

/// Buckets around the targets of a stop: a worker has it within 0.1 s, its run is saved within 1 s, and it is applied
/// within 5 s.
fn histogram() -> Histogram {
    Histogram::new([0.01, 0.05, 0.1, 0.5, 1.0, 2.0, 5.0, 30.0])
}

/// The phases of interrupts, and the stops that are under way.
pub(super) struct Phases {
    seconds: Metric<PhaseLabels, Histogram>,
    /// When the stops were requested that are not applied yet, and whose runs have saved no checkpoint since.
    under_way: Mutex<HashMap<RunId, Vec<(InterruptId, Timestamp)>>>,
}

impl Phases {
    pub(super) fn registered(registry: &mut Registry) -> Self {
        let seconds: Metric<PhaseLabels, Histogram> = Metric::new_with_constructor(histogram);
        registry.register(
            "irq_interrupt_phase_seconds",
            "From a request until a worker has it (ack), its run is saved (checkpoint), it has taken hold (applied)",
            seconds.clone(),
        );
        Self {
            seconds,
            under_way: Mutex::default(),
        }
    }

    /// An interrupt was requested.
    pub(super) fn asked(&self, interrupt: &Interrupt) {
        if interrupt.family() == Family::Stop {
            let asked = (interrupt.id, interrupt.requested_at);
            self.under_way()
                .entry(interrupt.run)
                .or_default()
                .push(asked);
        }
    }

    /// A worker has it.
    pub(super) fn delivered(&self, interrupt: &Interrupt, at: Timestamp) {
        self.observe("ack", interrupt.requested_at, at);
    }

    /// A run was saved.
    pub(super) fn saved(&self, run: RunId, at: Timestamp) {
        let asked = self.under_way().remove(&run).unwrap_or_default();
        for (_stop, requested_at) in asked {
            self.observe("checkpoint", requested_at, at);
        }
    }

    /// It was acknowledged.
    pub(super) fn acknowledged(&self, interrupt: &Interrupt, at: Timestamp) {
        if interrupt.family() == Family::Stop {
            self.observe("applied", interrupt.requested_at, at);
        }
        self.over(interrupt);
    }

    /// It no longer waits to be applied.
    pub(super) fn over(&self, interrupt: &Interrupt) {
        let mut under_way = self.under_way();
        if let Some(stops) = under_way.get_mut(&interrupt.run) {
            stops.retain(|(stop, _requested_at)| *stop != interrupt.id);
            if stops.is_empty() {
                under_way.remove(&interrupt.run);
            }
        }
    }

    fn observe(&self, phase: &'static str, from: Timestamp, to: Timestamp) {
        let seconds = to.duration_since(from).as_secs_f64();
        self.seconds
            .get_or_create(&PhaseLabels { phase })
            .observe(seconds);
    }

    fn under_way(&self) -> MutexGuard<'_, HashMap<RunId, Vec<(InterruptId, Timestamp)>>> {
        self.under_way
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}
