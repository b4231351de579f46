//! Taking a run over whose lease has run out by the clock alone. Clocks jump, after a sleep of the machine for one:
//! whoever works on the run then renews its lease at the next beat, and must not find it taken.

use std::time::Duration;

use routing_core::RunId;
use tokio::time::{Instant, sleep_until};

use crate::life::Lease;
use crate::store::{Delivery, Run, RunError, Store};

/// How often it is looked whether a lease that has run out was renewed.
pub const LOOK_AT_LAPSED: Duration = Duration::from_millis(500);

/// For how long a lease that has run out by the clock alone is watched before its run is taken: longer than from one
/// heartbeat of its owner to the next.
pub fn time_to_outlast(heartbeat: Duration) -> Duration {
    heartbeat + heartbeat / 4
}

/// Makes a process the owner of a run. Where another one's lease has run out that is not known to be gone, it is waited
/// for longer than from one `heartbeat` of it to the next, however far the clock says that its time has passed.
///
/// # Errors
///
/// [`RunError`]; with [`RunError::Owned`] while another owner's lease holds, and where it is renewed meanwhile.
///
/// # Cancel safety
///
/// Dropped, the run may be owned in an epoch that nobody knows; the lease runs out.
pub async fn own_run(
    store: &dyn Store,
    run: RunId,
    delivery: Delivery,
    heartbeat: Duration,
) -> Result<Run, RunError> {
    own_watched_run(store, run, (delivery, None), heartbeat).await
}

/// As [`own_run`], where a lease that has run out may have been watched for that long before.
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

/// The lease of another process that is over by the store's clock, and of which nothing else is known.
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

/// Waits until a lease would have been renewed, if anybody were there to do it, or is no more.
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
