//! What is counted.

use std::sync::atomic::AtomicI64;

use interrupts::life::{Family, Interrupt, Verdict};
use prometheus_client::encoding::text::encode;
use prometheus_client::encoding::{EncodeLabelSet, EncodeLabelValue};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family as Metric;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;
use routing_core::StopSource;

use crate::wire::{kind_of, mode_name, source_name, verdict_name};

/// By which way a decision came.
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

/// By which transport somebody reads the feed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, EncodeLabelValue)]
pub(crate) enum Transport {
    /// Server-sent events.
    Sse,
    /// A WebSocket.
    Socket,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Asked {
    source: &'static str,
    mode: &'static str,
    kind: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct DecidedBy {
    decision: &'static str,
    via: Way,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Phase {
    phase: &'static str,
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
    kind: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Answered {
    route: String,
    status: u16,
}

/// What is counted since this process began.
pub(crate) struct Metrics {
    registry: Registry,
    interrupts: Metric<Asked, Counter>,
    phases: Metric<Phase, Histogram>,
    open: Metric<OpenKind, Gauge<i64, AtomicI64>>,
    review_wait: Histogram,
    decisions: Metric<DecidedBy, Counter>,
    feed_clients: Metric<Over, Gauge<i64, AtomicI64>>,
    feed_gaps: Counter,
    tool_interrupts: Metric<StoppedTool, Counter>,
    requests: Metric<Answered, Counter>,
}

/// Buckets around the targets of a stop: seen within 0.1 s, saved within 1 s, done within 5 s.
fn phase_histogram() -> Histogram {
    Histogram::new([0.01, 0.05, 0.1, 0.5, 1.0, 2.0, 5.0, 30.0])
}

impl Metrics {
    pub(crate) fn new() -> Self {
        let mut registry = Registry::default();
        let metrics = Self {
            interrupts: Metric::default(),
            phases: Metric::new_with_constructor(phase_histogram),
            open: Metric::default(),
            review_wait: Histogram::new([1.0, 10.0, 60.0, 300.0, 1_800.0, 7_200.0, 86_400.0]),
            decisions: Metric::default(),
            feed_clients: Metric::default(),
            feed_gaps: Counter::default(),
            tool_interrupts: Metric::default(),
            requests: Metric::default(),
            registry: Registry::default(),
        };
        registry.register(
            "irq_interrupts",
            "Interrupts that were asked for",
            metrics.interrupts.clone(),
        );
        registry.register(
            "irq_interrupt_phase_seconds",
            "From the request of an interrupt to its phase",
            metrics.phases.clone(),
        );
        registry.register(
            "irq_open_interrupts",
            "Interrupts that wait for a person",
            metrics.open.clone(),
        );
        registry.register(
            "irq_review_wait_seconds",
            "From the request of an interrupt to its decision",
            metrics.review_wait.clone(),
        );
        registry.register(
            "irq_decisions",
            "Decisions that were made here",
            metrics.decisions.clone(),
        );
        registry.register(
            "irq_feed_clients",
            "Readers of the live feed",
            metrics.feed_clients.clone(),
        );
        registry.register(
            "irq_feed_gaps",
            "Gaps that readers of the feed were told of",
            metrics.feed_gaps.clone(),
        );
        registry.register(
            "irq_http_requests",
            "Requests that were answered",
            metrics.requests.clone(),
        );
        metrics.register_tools(&mut registry);
        Self {
            registry,
            ..metrics
        }
    }

    fn register_tools(&self, registry: &mut Registry) {
        registry.register(
            "tool_interrupts",
            "Calls of tools that an interrupt stopped, in any process that shares the store",
            self.tool_interrupts.clone(),
        );
    }

    /// An interrupt was asked for.
    pub(crate) fn asked(&self, interrupt: &Interrupt) {
        let labels = Asked {
            source: source_name(interrupt.source),
            mode: mode_name(interrupt.mode),
            kind: kind_of(interrupt),
        };
        self.interrupts.get_or_create(&labels).inc();
    }

    /// An interrupt took hold.
    pub(crate) fn acknowledged(&self, interrupt: &Interrupt) {
        let Some(at) = interrupt.acknowledged_at else {
            return;
        };
        let phase = match interrupt.family() {
            Family::Stop => "applied",
            Family::Question => "ack",
        };
        let seconds = at.duration_since(interrupt.requested_at).as_secs_f64();
        self.phases.get_or_create(&Phase { phase }).observe(seconds);
    }

    /// A decision was made here.
    pub(crate) fn decided(&self, verdict: Verdict, way: Way) {
        let labels = DecidedBy {
            decision: verdict_name(verdict),
            via: way,
        };
        self.decisions.get_or_create(&labels).inc();
    }

    /// A decided interrupt had waited so long.
    pub(crate) fn waited(&self, interrupt: &Interrupt) {
        if let Some(decision) = &interrupt.decision {
            let waited = decision.at.duration_since(interrupt.requested_at);
            self.review_wait.observe(waited.as_secs_f64());
        }
    }

    /// Somebody begins to read the feed. He counts until what is returned is dropped.
    pub(crate) fn reader(&self, transport: Transport) -> CountedReader {
        let gauge = self.feed_clients.get_or_create(&Over { transport }).clone();
        gauge.inc();
        CountedReader(gauge)
    }

    /// A reader of the feed was told of a gap.
    pub(crate) fn gap(&self) {
        self.feed_gaps.inc();
    }

    /// An interrupt has stopped a call of a tool.
    pub(crate) fn tool_stopped(&self, tool: &str, by: StopSource) {
        let labels = StoppedTool {
            tool: tool.to_owned(),
            reason: source_name(by),
        };
        self.tool_interrupts.get_or_create(&labels).inc();
    }

    /// A request was answered.
    pub(crate) fn answered(&self, route: &str, status: u16) {
        let labels = Answered {
            route: route.to_owned(),
            status,
        };
        self.requests.get_or_create(&labels).inc();
    }

    /// The text that monitoring reads, with the interrupts that are open now.
    pub(crate) fn text(&self, open: &[Interrupt]) -> Result<String, std::fmt::Error> {
        self.open.clear();
        for interrupt in open {
            let kind = kind_of(interrupt).to_owned();
            self.open.get_or_create(&OpenKind { kind }).inc();
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
