//! The port of a process that executes runs and serves no callers: whether it lives, is ready, and what it counted.

use std::sync::Arc;
use std::sync::atomic::AtomicI64;

use axum::Router;
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use interrupt_router::RunId;
use interrupts::store::{RunError, Store};
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::config::ServerLimits;
use crate::connections::Connections;
use crate::metrics::{METRICS_TYPE, StoreTimes, register_build};
use crate::problem::{Problem, in_time};

/// The state of a worker, and what it has counted since it began.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WorkerFigures {
    /// How many runs it executes at once.
    pub slots: u32,
    /// How many it has.
    pub taken: u32,
    /// Runs that it took over from a process that was gone.
    pub takeovers: u64,
    /// Runs that it handed over to workers with more room.
    pub handed_over: u64,
    /// Results of tools that came after their calls had been abandoned.
    pub late_results: u64,
}

/// What the port of a worker reports about.
#[derive(Clone)]
pub struct Probed {
    /// The store with the runs.
    pub store: Arc<dyn Store>,
    /// How long its writes take.
    pub store_times: Arc<StoreTimes>,
    /// The state of the worker.
    pub figures: Arc<dyn Fn() -> WorkerFigures + Send + Sync>,
    /// Cancelled when it takes no more runs.
    pub stop: CancellationToken,
}

/// Serves `/livez`, `/readyz` and `/metrics` as long as it is polled: also while the worker stops, when it is not
/// ready. It needs no token: it reports only numbers.
///
/// # Cancel safety
///
/// Safe: nothing is changed.
pub async fn serve_probes(listener: TcpListener, probed: Probed) {
    let router = Router::new()
        .route("/livez", get(async || "alive\n"))
        .route("/readyz", get(ready))
        .route("/metrics", get(metrics))
        .with_state(probed);
    let never = CancellationToken::new();
    let connections = Connections::new(router, ServerLimits::default(), None, never);
    connections.accept(listener).await;
}

async fn ready(State(probed): State<Probed>) -> Result<&'static str, Problem> {
    if probed.stop.is_cancelled() {
        return Err(Problem::draining("other workers execute runs"));
    }
    takes_changes(&*probed.store).await?;
    Ok("ready\n")
}

/// Checks that the store accepts changes: it tries one on a run that does not exist, which changes nothing. A store
/// that can only be read is of no use to a caller who wants something done.
pub(crate) async fn takes_changes(store: &dyn Store) -> Result<(), Problem> {
    match in_time(store.release_run(RunId::generate(), 0)).await? {
        Err(RunError::Store(error)) => Err(error.into()),
        Ok(_) | Err(_) => Ok(()),
    }
}

async fn metrics(State(probed): State<Probed>) -> Response {
    let mut registry = Registry::default();
    let WorkerFigures {
        slots,
        taken,
        takeovers,
        handed_over,
        late_results,
    } = (probed.figures)();
    for (name, help, value) in [
        ("irq_slots", "Runs that this worker executes at once", slots),
        ("irq_slots_taken", "Runs that it has", taken),
    ] {
        let gauge = Gauge::<i64, AtomicI64>::default();
        gauge.set(value.into());
        registry.register(name, help, gauge);
    }
    for (name, help, value) in [
        (
            "irq_takeovers",
            "Runs that this process took over from one that was gone",
            takeovers,
        ),
        (
            "irq_handovers",
            "Runs that this worker handed over to workers with more room",
            handed_over,
        ),
        (
            "irq_late_results_dropped",
            "Results of tools that came after their calls had been given up, in the runs that were executed here",
            late_results,
        ),
    ] {
        let counter: Counter = Counter::default();
        counter.inc_by(value);
        registry.register(name, help, counter);
    }
    probed.store_times.register(&mut registry);
    register_build(&mut registry);
    let mut text = String::new();
    match encode(&mut text, &registry) {
        Ok(()) => ([(header::CONTENT_TYPE, METRICS_TYPE)], text).into_response(),
        Err(_unwritten) => Problem::unwritten_metrics().into_response(),
    }
}
