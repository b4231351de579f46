//! What is counted.

mod flow;
mod phases;
mod store_times;

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::AtomicI64;
use std::time::Duration;

use interrupt_router::{RunId, StopSource};
use interrupts::bus::Bus;
use interrupts::life::{Interrupt, Notice, Verdict};
use interrupts::store::{Run, WorkerRow};
use jiff::Timestamp;
use prometheus_client::encoding::text::encode;
use prometheus_client::encoding::{EncodeLabelSet, EncodeLabelValue};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family as Metric;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;

use flow::FlowMetrics;
pub(crate) use flow::register_build;
use phases::Phases;
pub use store_times::StoreTimes;

use crate::bus::Publishing;
use crate::launcher::RunLauncher;
use crate::wire::kind_of;

/// The type of the text that monitoring reads.
pub(crate) const METRICS_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// How a decision was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, EncodeLabelValue)]
pub(crate) enum Way {
    /// A request.
    Rest,
    /// A frame of a socket.
    Socket,
    /// A form of the page.
    Page,
    /// Part of a batch.
    Batch,
    /// By resuming a run.
    Resume,
    /// By a CloudEvent.
    Event,
}

/// The transport of a reader of the feed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, EncodeLabelValue)]
pub(crate) enum Transport {
    /// Server-sent events.
    Sse,
    /// A WebSocket.
    Socket,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct InterruptLabels {
    source: &'static str,
    mode: &'static str,
    kind: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct DecisionLabels {
    decision: &'static str,
    via: Way,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Over {
    transport: Transport,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct StoppedTool {
    tool: String,
    reason: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct OpenKind {
    kind: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ResponseLabels {
    route: String,
    status: u16,
}

/// Registers metrics, each with its name and its description.
macro_rules! register {
    ($registry:ident, $($metric:expr => $name:literal, $help:literal;)*) => {
        $($registry.register($name, $help, $metric.clone());)*
    };
}
use register;

/// What is counted since this process started.
pub(crate) struct Metrics {
    registry: Registry,
    interrupts: Metric<InterruptLabels, Counter>,
    phases: Phases,
    open: Metric<OpenKind, Gauge<i64, AtomicI64>>,
    review_wait: Histogram,
    decisions: Metric<DecisionLabels, Counter>,
    feed_clients: Metric<Over, Gauge<i64, AtomicI64>>,
    feed_gaps: Counter,
    tool_interrupts: Metric<StoppedTool, Counter>,
    requests: Metric<ResponseLabels, Counter>,
    late_results: Counter,
    flow: FlowMetrics,
    bus: BusMetrics,
}

/// What is counted for the bus.
#[derive(Default)]
struct BusMetrics {
    is_there: Gauge<i64, AtomicI64>,
    waiting: Gauge<i64, AtomicI64>,
    published: Counter,
}

impl BusMetrics {
    fn register(&self, registry: &mut Registry) {
        register! { registry,
            self.is_there => "irq_bus_connected", "1 where the broker takes events, 0 where it is away";
            self.waiting => "irq_bus_lag_events", "Events that were told and wait for the broker";
            self.published => "irq_bus_published", "Events that this process has published, those included that the broker had already";
        }
    }
}

impl Metrics {
    /// The metrics, with or without a bus; and how long the writes of the store take.
    pub(crate) fn new(bus: Option<&Arc<dyn Bus>>, store_times: &StoreTimes) -> Self {
        let mut registry = Registry::default();
        store_times.register(&mut registry);
        let metrics = Self {
            interrupts: Metric::default(),
            phases: Phases::registered(&mut registry),
            open: Metric::default(),
            review_wait: Histogram::new([1.0, 10.0, 60.0, 300.0, 1_800.0, 7_200.0, 86_400.0]),
            decisions: Metric::default(),
            feed_clients: Metric::default(),
            feed_gaps: Counter::default(),
            tool_interrupts: Metric::default(),
            requests: Metric::default(),
            late_results: Counter::default(),
            flow: FlowMetrics::registered(&mut registry),
            bus: BusMetrics::default(),
            registry: Registry::default(),
        };
        register! { registry,
            metrics.interrupts => "irq_interrupts", "Interrupts that were asked for";
            metrics.open => "irq_open_interrupts", "Interrupts that wait for a person, 10,000 of them at most";
            metrics.review_wait => "irq_review_wait_seconds", "From the request of an interrupt to its decision";
            metrics.decisions => "irq_decisions", "Decisions that were made here";
            metrics.feed_clients => "irq_feed_clients", "Readers of the live feed";
            metrics.feed_gaps => "irq_feed_gaps", "Gaps that readers of the feed were told of";
            metrics.requests => "irq_http_requests", "Requests that were answered";
            metrics.tool_interrupts => "tool_interrupts", "Calls of tools that an interrupt stopped, in any process that shares the store";
            metrics.late_results => "irq_late_results_dropped", "Results of tools that came after their calls had been given up, in the runs that were executed here";
        }
        if bus.is_some() {
            metrics.bus.register(&mut registry);
        }
        Self {
            registry,
            ..metrics
        }
    }

    /// An interrupt was requested.
    pub(crate) fn asked(&self, interrupt: &Interrupt) {
        let labels = InterruptLabels {
            source: interrupt.source.name(),
            mode: interrupt.mode.name(),
            kind: kind_of(interrupt),
        };
        self.interrupts.get_or_create(&labels).inc();
    }

    /// Records what an event of an interrupt says of its phases.
    pub(crate) fn went_on(&self, interrupt: &Interrupt, notice: &Notice, at: Timestamp) {
        match notice {
            Notice::Admitted => self.phases.asked(interrupt),
            Notice::Delivered => self.phases.delivered(interrupt, at),
            Notice::Acknowledged => self.phases.acknowledged(interrupt, at),
            Notice::Dispatch { .. } | Notice::Ended | Notice::DeadLettered => {
                self.phases.over(interrupt);
            }
            Notice::ReviewOpened
            | Notice::ReviewChanged { .. }
            | Notice::ModeRaised
            | Notice::Asked { .. }
            | Notice::TakenBack { .. }
            | Notice::Redriven => {}
        }
    }

    /// A run was saved.
    pub(crate) fn saved(&self, run: RunId, at: Timestamp) {
        self.phases.saved(run, at);
    }

    /// A decision was made here.
    pub(crate) fn decided(&self, verdict: Verdict, way: Way) {
        let labels = DecisionLabels {
            decision: verdict.name(),
            via: way,
        };
        self.decisions.get_or_create(&labels).inc();
    }

    /// Records how long a decided interrupt had waited.
    pub(crate) fn waited(&self, interrupt: &Interrupt) {
        if let Some(decision) = &interrupt.decision {
            let waited = decision.at.duration_since(interrupt.requested_at);
            self.review_wait.observe(waited.as_secs_f64());
        }
    }

    /// A reader begins to read the feed. It counts until what is returned is dropped.
    pub(crate) fn reader(&self, transport: Transport) -> CountedReader {
        let gauge = self.feed_clients.get_or_create(&Over { transport }).clone();
        gauge.inc();
        CountedReader(gauge)
    }

    /// A reader of the feed got a gap.
    pub(crate) fn gap(&self) {
        self.feed_gaps.inc();
    }

    /// An interrupt has stopped a call of a tool.
    pub(crate) fn tool_stopped(&self, tool: &str, by: StopSource) {
        let labels = StoppedTool {
            tool: tool.to_owned(),
            reason: by.name(),
        };
        self.tool_interrupts.get_or_create(&labels).inc();
    }

    /// Records how far the events up to a position are published.
    pub(crate) fn publishing(&self, bus: &Publishing, latest: u64) {
        self.bus.is_there.set(i64::from(!bus.is_away()));
        let waiting = latest.saturating_sub(bus.through());
        self.bus
            .waiting
            .set(i64::try_from(waiting).unwrap_or(i64::MAX));
        let counted = self.bus.published.get();
        self.bus
            .published
            .inc_by(bus.count().saturating_sub(counted));
    }

    /// A request was answered.
    pub(crate) fn answered(&self, route: &str, status: u16, took: Duration) {
        self.flow.answered(route, took);
        let labels = ResponseLabels {
            route: route.to_owned(),
            status,
        };
        self.requests.get_or_create(&labels).inc();
    }

    /// An event that was recorded at this time was read from the store.
    pub(crate) fn read(&self, told: Timestamp) {
        self.flow.read(told);
    }

    /// The text that monitoring reads, with the current state.
    pub(crate) fn text(
        &self,
        open: &HashMap<&'static str, i64>,
        (runs, workers): (&[Run], &[WorkerRow]),
        launcher: &dyn RunLauncher,
    ) -> Result<String, std::fmt::Error> {
        let counted = self.late_results.get();
        self.late_results
            .inc_by(launcher.late_results().saturating_sub(counted));
        self.flow.stand(runs, launcher.takeovers());
        self.flow.have(workers);
        self.open.clear();
        for (&kind, &count) in open {
            self.open.get_or_create(&OpenKind { kind }).set(count);
        }
        let mut text = String::new();
        encode(&mut text, &self.registry)?;
        Ok(text)
    }
}

/// A reader of the feed, as long as it is not dropped.
pub(crate) struct CountedReader(Gauge<i64, AtomicI64>);

impl Drop for CountedReader {
    fn drop(&mut self) {
        self.0.dec();
    }
}
