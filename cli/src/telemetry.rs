//! What the program reports while it works: logs of a server to standard error, and spans and counts to a collector if
//! the environment names one.

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
#[cfg(not(feature = "otlp"))]
use crate::exit::Failure;
use crate::exit::tell;
use crate::terminal_output;

/// The variables that say what is logged; the first that is set applies.
const VARIABLES: [&str; 2] = ["IRQ_LOG", "RUST_LOG"];

/// The variable that sets the format of logs: lines of text, or `json`, one object a line.
const FORM_VARIABLE: &str = "IRQ_LOG_FORMAT";

/// What a server logs by default.
const USUAL_LOG: &str = "warn,irq=info,server=info";

/// What is logged with `-v` when a run is shown: what an interrupt does to tools, and what goes wrong.
const OF_TOOLS: &str = "warn,tools=info";

/// What a command logs by default.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Logged {
    /// What a server does.
    OfServer,
    /// With `-v`, when tools of a shown run were asked to stop, and how long each took.
    OfRun,
    /// Nothing.
    Nothing,
}

/// What is logged to standard error: what the environment says, else the command's default.
pub(crate) fn log_filter(global: Global, logged: Logged) -> Option<EnvFilter> {
    let said = VARIABLES
        .iter()
        .filter_map(|name| std::env::var(name).ok())
        .find(|filter| !filter.is_empty());
    let usual = match (logged, global.quiet, global.verbose) {
        (Logged::OfServer, true, _) => Some("error"),
        (Logged::OfServer, false, 0) => Some(USUAL_LOG),
        (Logged::OfServer, false, _) => Some("info,irq=debug,server=debug,interrupts=debug"),
        (Logged::OfRun, _, 1..) => Some(OF_TOOLS),
        (Logged::OfRun, _, 0) | (Logged::Nothing, _, _) => None,
    };
    said.map(EnvFilter::new)
        .or_else(|| usual.map(EnvFilter::new))
}

/// Whether logs are JSON.
pub(crate) fn is_json() -> bool {
    std::env::var(FORM_VARIABLE).is_ok_and(|form| form == "json")
}

/// A line of the log: if a run is shown, it goes to the terminal output, which draws around it.
struct LogLine;

impl Write for LogLine {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8_lossy(line);
        if !terminal_output::notice_on_current(text.trim_end()) {
            io::stderr().write_all(line)?;
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stderr().flush()
    }
}

/// The variables that name a collector: of all signals, and of one.
const COLLECTORS: [&str; 3] = [
    "OTEL_EXPORTER_OTLP_ENDPOINT",
    "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
    "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT",
];

/// Whether the environment names a collector, and does not disable telemetry.
fn names_collector() -> bool {
    let given = |name: &str| std::env::var(name).is_ok_and(|value| !value.trim().is_empty());
    let disabled = std::env::var("OTEL_SDK_DISABLED").is_ok_and(|value| value == "true");
    !disabled && COLLECTORS.into_iter().any(given)
}

/// Logs and exports, until it is ended.
pub(crate) struct Telemetry {
    #[cfg(feature = "otlp")]
    exporter: Option<exporter::Exporter>,
}

impl Telemetry {
    /// Starts telemetry: logs to standard error if there is a filter for them, and everything to the collector if the
    /// environment names one. A collector that cannot be used is a warning and nothing more.
    pub(crate) fn begin(logs: Option<EnvFilter>) -> Self {
        let logs = logs.map(|filter| {
            let lines = tracing_subscriber::fmt::layer()
                .with_writer(|| LogLine)
                .with_ansi(false)
                // A terminal that is gone takes no logs, and no error about that either: it would be a panic.
                .log_internal_errors(false);
            match is_json() {
                true => lines.json().flatten_event(true).with_filter(filter).boxed(),
                false => lines.with_filter(filter).boxed(),
            }
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
            if names_collector() {
                tell(format_args!(
                    "irq: telemetry is not exported: {}",
                    Failure::built_without("OTLP").whole()
                ));
            }
            if logs.is_some() {
                let _set = subscriber.with(logs).try_init();
            }
            Self {}
        }
    }

    /// Exports what is left, as far as the collector takes it in time. The program then ends in any case.
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
