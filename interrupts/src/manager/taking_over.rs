//! Taking over a run whose lease has run out by the clock alone. Clocks jump, for example after the machine slept: the
//! process that works on the run then renews its lease at the next heartbeat, and must not find the run taken.

use std::time::Duration;

use interrupt_router::RunId;
use tokio::time::{Instant, sleep_until};

use crate::life::Lease;
use crate::store::{Delivery, Run, RunError, Store};

/// How often an expired lease is checked for renewal.
const LOOK_AT_LAPSED: Duration = Duration::from_millis(500);

/// How long a lease that has run out by the clock alone is watched before its run is taken: longer than the time
/// between two heartbeats of its owner.
pub fn time_to_outlast(heartbeat: Duration) -> Duration {
    heartbeat + heartbeat / 4
}

/// Makes a process the owner of a run. If the lease of another process has run out that is not known to be gone, this
/// first waits for longer than one `heartbeat` of it, however long ago the lease ended by the clock.
///
/// # Errors
///
/// [`RunError`]; with [`RunError::Owned`] while another owner's lease is valid, and if it is renewed meanwhile.
///
/// # Cancel safety
///
/// If dropped, the run may be owned in an epoch that no caller knows; the lease then runs out.
pub async fn own_run(
    store: &dyn Store,
    run: RunId,
    delivery: Delivery,
    heartbeat: Duration,
) -> Result<Run, RunError> {
    own_watched_run(store, run, (delivery, None), heartbeat).await
}

/// As [`own_run`], without the wait for `outlasted`, an expired lease that the caller has watched for that long.
pub(super) async fn own_watched_run(
    store: &dyn Store,
    run: RunId,
    (delivery, outlasted): (Delivery, Option<&Lease>),
    heartbeat: Duration,
) -> Result<Run, RunError> {
    let lapsed = lapsed(store, run, &delivery).await?;
    if let Some(lapsed) = lapsed.filter(|lease| Some(lease) != outlasted) {
        outlast(store, run, &lapsed, heartbeat).await?;
    }
    store.own_run(run, delivery).await
}

/// The lease of another process that has ended by the store's clock, if that process is not known to be gone.
async fn lapsed(
    store: &dyn Store,
    run: RunId,
    delivery: &Delivery,
) -> Result<Option<Lease>, RunError> {
    let lease = store.run(run).await?.and_then(|row| row.lease);
    Ok(lease.filter(|lease| {
        let is_foreign =
            lease.owner != delivery.owner && delivery.lost.as_ref() != Some(&lease.owner);
        is_foreign && lease.until <= store.now()
    }))
}

/// Waits until a live owner would have renewed a lease, or until the lease is gone.
async fn outlast(
    store: &dyn Store,
    run: RunId,
    lapsed: &Lease,
    heartbeat: Duration,
) -> Result<(), RunError> {
    let ends = Instant::now() + time_to_outlast(heartbeat);
    while Instant::now() < ends {
        sleep_until(ends.min(Instant::now() + LOOK_AT_LAPSED)).await;
        let lease = store.run(run).await?.and_then(|row| row.lease);
        match lease {
            Some(lease) if lease == *lapsed => {}
            Some(lease) if lease.owner == lapsed.owner => return Err(RunError::Owned { lease }),
            Some(_) | None => return Ok(()),
        }
    }
    Ok(())
}
