//! `irq worker`: executes the runs that servers on the same store leave to workers.

use std::sync::Arc;

use interrupts::Labels;
use interrupts::signals::OsSignals;
use server::{Probed, StoreTimes, serve_probes};
use tokio_util::sync::CancellationToken;

use super::launcher::Launcher;
use super::order::Defaults;
use super::stopping::Stopping;
use super::{MOMENT, listen, needs, run_owner};
use crate::arguments::{StoreArguments, WorkerArguments};
use crate::commands::run::complete;
use crate::exit::{Exit, Failure};
use crate::storage::Storage;

/// Executes runs until the process is stopped.
///
/// # Errors
///
/// If the store cannot be used; no run was taken then. If runs could not be released in time.
pub(crate) fn worker(arguments: &WorkerArguments, store: &StoreArguments) -> anyhow::Result<Exit> {
    let defaults = Defaults::of(&arguments.runs, None)?;
    let labels = needs::has(&arguments.label)
        .map_err(|error| Failure::new(Exit::Usage, error.to_string()).hint("give fewer --label"))?;
    complete(async { until_stopped(arguments, store, (defaults, labels)).await })
}

async fn until_stopped(
    arguments: &WorkerArguments,
    store: &StoreArguments,
    (defaults, labels): (Defaults, Labels),
) -> anyhow::Result<Exit> {
    // From here on no signal ends the process by itself.
    let signals = OsSignals::listen()?;
    let probes = match arguments.probes {
        Some(address) => Some(listen(address, "--probes").await?),
        None => None,
    };
    let times = Arc::new(StoreTimes::default());
    let storage = Storage::create_timed(store, &times).await?;
    let location = storage.location().to_string();
    let drain = arguments.runs.drain_timeout.unsigned_abs();
    let run_owner = run_owner(storage, &defaults, drain)?;
    let launcher = Launcher::of_worker(Arc::clone(&run_owner), defaults, arguments.slots, labels);
    let stop = CancellationToken::new();
    let probed = Probed {
        store: Arc::clone(run_owner.shared_store()),
        store_times: times,
        figures: {
            let launcher = launcher.clone();
            Arc::new(move || launcher.figures())
        },
        stop: stop.clone(),
    };
    let stopping = Stopping::begin(signals, run_owner, launcher.clone(), stop.clone());
    let mut told = format!(
        "Executing runs of {location}, up to {} at once.",
        arguments.slots
    );
    if let Some(listener) = probes {
        told += &format!(" Probes at http://{}/readyz.", listener.local_addr()?);
        tokio::spawn(serve_probes(listener, probed));
    }
    println!("{told}");
    launcher.tell_others().await;
    // A decision that comes while runs are looked at is among the news.
    let news = launcher.news().await;
    let going_on = launcher.clone();
    let going_on = tokio::spawn(async move { going_on.go_on_with_what_was_put_aside(news).await });
    let others = launcher.clone();
    let others = tokio::spawn(async move { others.keep_telling_others().await });
    launcher.go_on_with_what_was_left().await;
    let looking = launcher.clone();
    let looks = tokio::spawn(async move { looking.watch_for_orphaned_runs().await });
    stop.cancelled().await;
    going_on.abort();
    looks.abort();
    others.abort();
    // An unreachable store must not delay the end.
    let _told_or_lapses = tokio::time::timeout(MOMENT, launcher.leave_others()).await;
    let rest: Result<(), Failure> = stopping.ended(drain).await;
    rest?;
    Ok(Exit::Success)
}
