//! Spans and counts, exported by OTLP over HTTP. All of it happens in threads of its own: neither work nor a stop ever
//! waits for a collector.

use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread;
use std::time::Duration;

use opentelemetry::trace::TracerProvider as _;
use opentelemetry_otlp::{MetricExporter, SpanExporter};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::error::OTelSdkResult;
use opentelemetry_sdk::metrics::SdkMeterProvider;
use opentelemetry_sdk::trace::{SdkTracerProvider, SpanData};
use tracing::Subscriber;
use tracing::level_filters::LevelFilter;
use tracing_opentelemetry::MetricsLayer;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::Layer;
use tracing_subscriber::registry::LookupSpan;

use crate::exit::tell;

/// How long the collector may take for what is left at the end.
const FLUSHED_WITHIN: Duration = Duration::from_secs(2);

/// Our own spans, without those that libraries make on the path to a server.
const TRACED: [&str; 9] = [
    "agents",
    "engine",
    "interrupts",
    "irq",
    "llm",
    "interrupt_router",
    "server",
    "store",
    "tools",
];

/// What the tools count, as events of `tracing`.
const COUNTED: &str = "tools::metrics";

/// Exports to a collector.
pub(super) struct Exporter {
    spans: SdkTracerProvider,
    counts: SdkMeterProvider,
    refused: Refused,
}

/// Why the collector did not take spans the last time, if so.
type Refused = Arc<Mutex<Option<String>>>;

/// Notes whether spans are taken: their batches report that to no one.
#[derive(Debug)]
struct Noting {
    inner: SpanExporter,
    refused: Refused,
}

impl opentelemetry_sdk::trace::SpanExporter for Noting {
    async fn export(&self, batch: Vec<SpanData>) -> OTelSdkResult {
        let taken = self.inner.export(batch).await;
        let refused = taken.as_ref().err().map(ToString::to_string);
        *self.refused.lock().unwrap_or_else(PoisonError::into_inner) = refused;
        taken
    }

    fn shutdown_with_timeout(&self, timeout: Duration) -> OTelSdkResult {
        self.inner.shutdown_with_timeout(timeout)
    }

    fn force_flush(&self) -> OTelSdkResult {
        self.inner.force_flush()
    }

    fn set_resource(&mut self, resource: &Resource) {
        self.inner.set_resource(resource);
    }
}

impl Exporter {
    /// To the collector that the environment names, if it does, and does not disable telemetry.
    pub(super) fn of_environment() -> Option<Self> {
        if !super::names_collector() {
            return None;
        }
        // The library makes its own clients.
        let _installed = tls::provider();
        let spans = SpanExporter::builder().with_http().build();
        let counts = MetricExporter::builder().with_http().build();
        match (spans, counts) {
            (Ok(spans), Ok(counts)) => Some(Self::of(spans, counts)),
            (Err(error), _) | (_, Err(error)) => {
                tell(format_args!(
                    "irq: telemetry is not exported: {error}; correct OTEL_EXPORTER_OTLP_ENDPOINT"
                ));
                None
            }
        }
    }

    pub(super) fn of(spans: SpanExporter, counts: MetricExporter) -> Self {
        let mut resource = Resource::builder();
        if std::env::var_os("OTEL_SERVICE_NAME").is_none() {
            resource = resource.with_service_name("irq");
        }
        let resource = resource.build();
        let refused = Refused::default();
        let noting = Noting {
            inner: spans,
            refused: Arc::clone(&refused),
        };
        Self {
            refused,
            spans: SdkTracerProvider::builder()
                .with_batch_exporter(noting)
                .with_resource(resource.clone())
                .build(),
            counts: SdkMeterProvider::builder()
                .with_periodic_exporter(counts)
                .with_resource(resource)
                .build(),
        }
    }

    /// Collects spans and counts.
    pub(super) fn layer<S>(&self) -> impl Layer<S> + Send + Sync + use<S>
    where
        S: Subscriber + for<'span> LookupSpan<'span> + Send + Sync,
    {
        let traced = Targets::new()
            .with_targets(TRACED.map(|target| (target, LevelFilter::INFO)))
            .with_target(COUNTED, LevelFilter::OFF);
        let counted = Targets::new().with_target(COUNTED, LevelFilter::TRACE);
        let spans = tracing_opentelemetry::layer()
            .with_tracer(self.spans.tracer("irq"))
            .with_filter(traced);
        let counts = MetricsLayer::new(self.counts.clone()).with_filter(counted);
        spans.and_then(counts)
    }

    /// Exports what is left, and returns why if it was not taken in time.
    pub(super) fn end(self) -> Result<(), String> {
        let (done, waiting) = mpsc::channel();
        let refused = Arc::clone(&self.refused);
        // Left behind if the collector takes nothing: it ends with the program.
        thread::spawn(move || {
            let spans = self.spans.shutdown_with_timeout(FLUSHED_WITHIN);
            let counts = self.counts.shutdown_with_timeout(FLUSHED_WITHIN);
            let _nobody_waits = done.send(spans.and(counts));
        });
        match waiting.recv_timeout(FLUSHED_WITHIN) {
            Ok(ended) => {
                ended.map_err(|error| error.to_string())?;
                let mut refused = refused.lock().unwrap_or_else(PoisonError::into_inner);
                refused.take().map_or(Ok(()), Err)
            }
            Err(_late) => Err(format!(
                "the collector took nothing within {FLUSHED_WITHIN:?}"
            )),
        }
    }
}
