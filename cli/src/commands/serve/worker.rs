//! `irq worker`: executes the runs that servers on the same store leave to workers.

use std::sync::Arc;

use interrupts::signals::OsSignals;
use tokio_util::sync::CancellationToken;

use super::keeping;
use super::launcher::{Launcher, RunShare};
use super::order::Defaults;
use super::stopping::Stopping;
use crate::arguments::{StoreArguments, WorkerArguments};
use crate::commands::run::complete;
use crate::exit::{Exit, Failure};
use crate::storage::Storage;

/// Executes runs until it is told to stop.
///
/// # Errors
///
/// Where the store cannot be used; no run was taken then. Where runs could not be let go in time.
pub(crate) fn worker(arguments: &WorkerArguments, store: &StoreArguments) -> anyhow::Result<Exit> {
    let defaults = Defaults::of(&arguments.runs, None)?;
    complete(async { until_stopped(arguments, store, defaults).await })
}

async fn until_stopped(
    arguments: &WorkerArguments,
    store: &StoreArguments,
    defaults: Defaults,
) -> anyhow::Result<Exit> {
    // From here on no signal ends the process by itself.
    let signals = OsSignals::listen()?;
    let storage = Storage::create(store).await?;
    let location = storage.location().to_string();
    let drain = arguments.runs.drain_timeout.unsigned_abs();
    let keeping = keeping(storage, &defaults, drain)?;
    let share = RunShare::UpTo(arguments.slots);
    let launcher = Launcher::new(Arc::clone(&keeping), defaults, share);
    let stop = CancellationToken::new();
    let stopping = Stopping::begin(signals, keeping, launcher.clone(), stop.clone());
    println!(
        "Executing runs of {location}, up to {} at once.",
        arguments.slots
    );
    let news = launcher.clone();
    let news = tokio::spawn(async move { news.go_on_with_what_was_put_aside().await });
    launcher.go_on_with_what_was_left().await;
    let looks = tokio::spawn(async move { launcher.watch_for_orphaned_runs().await });
    stop.cancelled().await;
    news.abort();
    looks.abort();
    let rest: Result<(), Failure> = stopping.ended(drain).await;
    rest?;
    Ok(Exit::Success)
}
