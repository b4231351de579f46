//! Who owns a run: leases that are valid, that have run out, and whose owner is known to be gone.

use std::collections::HashMap;
use std::sync::{MutexGuard, PoisonError};

use interrupt_router::RunId;
use interrupts::OwnerName;
use interrupts::life::Lease;
use interrupts::store::Run;
use jiff::SignedDuration;

use super::{RunOwner, gone_owner, has_process_at, is_gone};

/// For how long it is remembered that a lease was watched, from its end on.
const KEPT_FOR: SignedDuration = SignedDuration::from_mins(5);

impl RunOwner {
    /// The lease of another process that has run out by the store's clock, unless the process is known to be gone.
    pub(crate) fn lapsed(&self, run: &Run) -> Option<Lease> {
        let lease = run.lease.clone()?;
        if lease.until > self.store().now() {
            return None;
        }
        (lease.owner != self.owner && !is_gone(&lease.owner)).then_some(lease)
    }

    /// Remembers that a lease was watched for [`time_to_outlast`] after it had run out, and was not renewed: the run is
    /// taken without another watch.
    pub(crate) fn has_outlasted(&self, run: RunId, lease: Lease) {
        let (mut outlasted, now) = (self.outlasted(), self.store().now());
        // An entry that was not used by then is of a run that another process has taken.
        outlasted.retain(|_run, lease| now.duration_since(lease.until) < KEPT_FOR);
        outlasted.insert(run, lease);
    }

    pub(super) fn outlasted(&self) -> MutexGuard<'_, HashMap<RunId, Lease>> {
        // The map is changed by single insertions and removals only.
        self.outlasted
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether another process has a run, as far as can be known here. Its lease is judged by the store's clock, for
    /// that of this machine may be wrong.
    pub(crate) fn is_held_elsewhere(&self, run: &Run) -> bool {
        has_process_at(run, self.store().now())
            && run.lease.as_ref().is_some_and(|it| it.owner != self.owner)
    }

    /// The owner that is known to have lost a run: it is gone, or it is this process. Its renewal came through late
    /// then, because the store was unavailable.
    pub(super) fn lost_owner(&self, run: &Run) -> Option<OwnerName> {
        let of_this_process = || {
            let owner = &run.lease.as_ref()?.owner;
            let is_kept = || self.manager.status().runs.iter().any(|it| it.run == run.id);
            (*owner == self.owner && !is_kept()).then(|| owner.clone())
        };
        gone_owner(run).or_else(of_this_process)
    }
}
