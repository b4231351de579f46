//! The port of workers.

use async_trait::async_trait;
use interrupts::OwnerName;
use interrupts::store::{StoreError, WorkerRow, WorkerState, Workers};
use jiff::SignedDuration;

use super::Adapter;
use crate::operation::TellWorker;
use crate::relational::{Reads, Relational};

#[async_trait]
impl<B: Relational> Workers for Adapter<B> {
    async fn tell_worker(
        &self,
        name: &OwnerName,
        state: WorkerState,
        lease: SignedDuration,
    ) -> Result<(), StoreError> {
        let name = name.clone();
        let told = TellWorker { name, state, lease };
        self.backend.submit(told).await
    }

    async fn workers(&self) -> Result<Vec<WorkerRow>, StoreError> {
        let (workers, now) = (self.backend.workers().await?, self.backend.time());
        let live = workers.into_iter().filter(|worker| worker.until > now);
        Ok(live.collect())
    }
}
