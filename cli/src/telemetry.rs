//! What the program tells while it works: logs of a server to standard error, and spans and counts to a collector
//! where the environment names one.

#[cfg(feature = "otlp")]
mod exporter;
#[cfg(feature = "otlp")]
#[cfg(test)]
mod tests;

use std::io::{self, Write};

use tracing_subscriber::layer::{Layer as _, SubscriberExt as _};
use tracing_subscriber::util::SubscriberInitExt as _;
use tracing_subscriber::{EnvFilter, Registry};

use crate::arguments::Global;
#[cfg(feature = "otlp")]
use crate::exit::tell;
use crate::stage;

/// What is logged where `IRQ_LOG` says nothing else.
const USUAL_LOG: &str = "warn,irq=info,server=info";

/// What is logged with `-v` where a run is shown: what an interrupt does to tools, and what goes wrong.
const OF_TOOLS: &str = "warn,tools=info";

/// What is logged to standard error where a run is shown: what `IRQ_LOG` says; else, with `-v`, when tools were told to
/// stop and how long each took.
pub(crate) fn run_log_filter(global: Global) -> Option<EnvFilter> {
    match std::env::var("IRQ_LOG") {
        Ok(filter) if !filter.is_empty() => Some(EnvFilter::new(filter)),
        Ok(_) | Err(_) => (global.verbose > 0).then(|| EnvFilter::new(OF_TOOLS)),
    }
}

/// What is logged to standard error by a server.
pub(crate) fn log_filter(global: Global) -> EnvFilter {
    EnvFilter::new(
        match (std::env::var("IRQ_LOG"), global.quiet, global.verbose) {
            (Ok(filter), _, _) if !filter.is_empty() => filter,
            (_, true, _) => "error".to_owned(),
            (_, false, 0) => USUAL_LOG.to_owned(),
            (_, false, _) => "info,irq=debug,server=debug,interrupts=debug".to_owned(),
        },
    )
}

/// A line of the log: where a run is shown it goes to the stage, which draws around it.
struct LogLine;

impl Write for LogLine {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8_lossy(line);
        if !stage::notice_on_current(text.trim_end()) {
            io::stderr().write_all(line)?;
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stderr().flush()
    }
}

/// What is told, until it is ended.
pub(crate) struct Telemetry {
    #[cfg(feature = "otlp")]
    exporter: Option<exporter::Exporter>,
}

impl Telemetry {
    /// Begins to tell: logs to standard error where there is a filter for them, and everything to the collector where
    /// the environment names one. A collector that cannot be used is a warning and nothing more.
    pub(crate) fn begin(logs: Option<EnvFilter>) -> Self {
        let logs = logs.map(|filter| {
            tracing_subscriber::fmt::layer()
                .with_writer(|| LogLine)
                .with_ansi(false)
                // A terminal that is gone takes no logs, and no word about that either: it would be a panic.
                .log_internal_errors(false)
                .with_filter(filter)
        });
        let subscriber = Registry::default();
        #[cfg(feature = "otlp")]
        {
            let exporter = exporter::Exporter::of_environment();
            let layer = exporter.as_ref().map(exporter::Exporter::layer);
            if logs.is_some() || layer.is_some() {
                // A second subscriber is no failure: an embedding test may have set one.
                let _set = subscriber.with(layer).with(logs).try_init();
            }
            Self { exporter }
        }
        #[cfg(not(feature = "otlp"))]
        {
            if logs.is_some() {
                let _set = subscriber.with(logs).try_init();
            }
            Self {}
        }
    }

    /// Hands over what was not yet, as far as the collector takes it in time. The program ends then, whatever came of
    /// it.
    pub(crate) fn end(self, global: Global) {
        #[cfg(feature = "otlp")]
        if let Some(Err(reason)) = self.exporter.map(exporter::Exporter::end)
            && !global.quiet
        {
            tell(format_args!(
                "irq: telemetry was not exported: {reason}; is OTEL_EXPORTER_OTLP_ENDPOINT right?"
            ));
        }
        #[cfg(not(feature = "otlp"))]
        let _unused = global;
    }
}
