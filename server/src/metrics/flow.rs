//! The flow: runs by their state, how long responses and events take, runs that were taken over, and the version of the program.

use std::sync::atomic::AtomicI64;
use std::time::Duration;

use interrupts::store::{Run, WorkerRow};
use jiff::Timestamp;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family as Metric;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::metrics::info::Info;
use prometheus_client::registry::Registry;

use super::register;

/// The bounds of durations that are short when all is well, in seconds.
const SECONDS: [f64; 10] = [0.001, 0.005, 0.01, 0.025, 0.1, 0.25, 1.0, 2.5, 10.0, 30.0];

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct InState {
    state: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct OfRoute {
    route: String,
}

pub(super) fn times() -> Histogram {
    Histogram::new(SECONDS)
}

/// Says which program it is.
pub(crate) fn register_build(registry: &mut Registry) {
    let version = Info::new([("version", env!("CARGO_PKG_VERSION"))]);
    registry.register("irq_build", "The program that runs here", version);
}

/// What is counted of it.
pub(super) struct FlowMetrics {
    runs: Metric<InState, Gauge<i64, AtomicI64>>,
    requests: Metric<OfRoute, Histogram, fn() -> Histogram>,
    feed_lag: Histogram,
    takeovers: Counter,
    workers: Gauge<i64, AtomicI64>,
    slots: Gauge<i64, AtomicI64>,
    slots_taken: Gauge<i64, AtomicI64>,
}

impl FlowMetrics {
    pub(super) fn registered(registry: &mut Registry) -> Self {
        let metrics = Self {
            runs: Metric::default(),
            requests: Metric::new_with_constructor(times),
            feed_lag: times(),
            takeovers: Counter::default(),
            workers: Gauge::default(),
            slots: Gauge::default(),
            slots_taken: Gauge::default(),
        };
        register! { registry,
            metrics.runs => "irq_runs", "Runs that have not ended, 10,000 of them at most";
            metrics.requests => "irq_request_seconds", "From a request to the beginning of its answer";
            metrics.feed_lag => "irq_feed_lag_seconds", "From the commit of an event to its being read by this server";
            metrics.takeovers => "irq_takeovers", "Runs that this process took over from one that was gone";
            metrics.workers => "irq_workers", "Workers that have told of themselves in the last 15 s";
            metrics.slots => "irq_workers_slots", "Runs that those execute at once";
            metrics.slots_taken => "irq_workers_slots_taken", "Runs that those have";
        }
        register_build(registry);
        metrics
    }

    pub(super) fn answered(&self, route: &str, took: Duration) {
        let route = OfRoute {
            route: route.to_owned(),
        };
        self.requests
            .get_or_create(&route)
            .observe(took.as_secs_f64());
    }

    pub(super) fn read(&self, told: Timestamp) {
        // The clocks of two machines may differ by more than it took.
        let took = Timestamp::now().duration_since(told).as_secs_f64();
        self.feed_lag.observe(took.max(0.0));
    }

    pub(super) fn stand(&self, runs: &[Run], takeovers: u64) {
        self.runs.clear();
        for run in runs {
            let state = run.state.to_string();
            self.runs.get_or_create(&InState { state }).inc();
        }
        let counted = self.takeovers.get();
        self.takeovers.inc_by(takeovers.saturating_sub(counted));
    }

    /// The workers that have reported.
    pub(super) fn have(&self, workers: &[WorkerRow]) {
        let sum = |of: fn(&WorkerRow) -> u32| workers.iter().map(|it| i64::from(of(it))).sum();
        let count = i64::try_from(workers.len()).unwrap_or(i64::MAX);
        self.workers.set(count);
        self.slots.set(sum(|it| it.state.slots));
        self.slots_taken.set(sum(|it| it.state.taken));
    }
}
