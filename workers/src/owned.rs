//! A run that a worker owns.

use interrupt_router::RunId;
use interrupts::catalogue::SharedCatalogue;
use interrupts::life::{Lease, RunState};
use interrupts::store::{Delivery, Run, RunError, Store};
use interrupts::{IdempotencyKey, OwnerName};
use jiff::SignedDuration;

use crate::error::WorkError;
use crate::protocol::Protocol;
use crate::run::{Work, input_of};

/// A run that a worker owns, in an epoch: each of its operations writes in that epoch, or not at all.
pub struct Owned<'a> {
    pub(crate) protocol: Protocol<'a>,
    /// The worker.
    worker: OwnerName,
    /// The run as it was read.
    pub run: Run,
}

impl<'a> Protocol<'a> {
    /// The run that a worker owns in an epoch.
    ///
    /// # Errors
    ///
    /// [`WorkError::LeaseLost`] if it was taken since, released, or stopped.
    ///
    /// # Cancel safety
    ///
    /// Safe: it only reads.
    pub async fn owned(&self, run: RunId, epoch: u64) -> Result<Owned<'a>, WorkError> {
        let row = self.row(run).await?;
        if row.state.is_final() {
            let state = row.state;
            return Err(WorkError::Ended { run, state });
        }
        // A lease that has run out counts until another worker takes the run: its own worker may be late.
        let lease = row.lease.clone().filter(|_lease| row.epoch == epoch);
        let Some(lease) = lease else {
            let (given, current) = (epoch, row.epoch);
            return Err(WorkError::LeaseLost { given, current });
        };
        Ok(Owned::new(*self, lease.owner, row))
    }
}

impl<'a> Owned<'a> {
    pub(crate) const fn new(protocol: Protocol<'a>, worker: OwnerName, run: Run) -> Self {
        Self {
            protocol,
            worker,
            run,
        }
    }

    pub(crate) const fn store(&self) -> &'a dyn Store {
        self.protocol.store
    }

    /// The epoch in which the worker owns it.
    pub const fn epoch(&self) -> u64 {
        self.run.epoch
    }

    /// The run as it was read, and what it works on.
    ///
    /// # Errors
    ///
    /// [`WorkError::Unreadable`].
    pub fn into_work(self) -> Result<Work, WorkError> {
        let input = input_of(&self.run)?;
        Ok(Work {
            run: self.run,
            input,
            result: None,
        })
    }

    /// How an interrupt of the run is delivered to its worker. This worker owns the run, so the worker that held the
    /// interrupt before has lost it.
    pub(crate) fn delivery(&self, holder: Option<&Lease>) -> Delivery {
        Delivery {
            owner: self.worker.clone(),
            lease: LEASE,
            lost: holder.map(|lease| lease.owner.clone()),
        }
    }

    /// Changes the state of the run. If the run has ended meanwhile, that is the error.
    pub(crate) async fn turn(
        &self,
        state: RunState,
        reason: Option<String>,
    ) -> Result<Run, WorkError> {
        let run = self.run.id;
        let turned = self.store().change_run(run, self.epoch(), state, reason);
        match turned.await {
            Ok(run) => Ok(run),
            Err(RunError::Illegal { from, .. }) if from.is_final() => {
                Err(WorkError::Ended { run, state: from })
            }
            Err(error) => Err(error.into()),
        }
    }

    /// The catalogue of its workflow, in the version that the run goes on under.
    pub(crate) async fn catalogue(&self) -> Result<SharedCatalogue, WorkError> {
        let protocol = &self.protocol;
        let found = protocol.catalogues.of_run(protocol.store, &self.run);
        found.await?.ok_or_else(|| WorkError::UnknownWorkflow {
            name: protocol.workflow.to_string(),
        })
    }

    /// The store's key of something at a place of the run.
    pub(crate) fn key(&self, place: &str) -> Result<IdempotencyKey, WorkError> {
        IdempotencyKey::new(format!("{}/{place}", self.run.id)).map_err(WorkError::name("/key"))
    }
}

/// How long an interrupt is leased to a worker; each request of the worker delivers it anew.
const LEASE: SignedDuration = SignedDuration::from_secs(60);
