//! The port of workers.

use async_trait::async_trait;
use interrupts::OwnerName;
use interrupts::store::{StoreError, WorkerRow, WorkerState, Workers};
use jiff::SignedDuration;

use super::Adapter;
use crate::operation::TellWorker;
use crate::relational::{Columns, Relational, Rows as _, read_json, text};

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
        let now = self.backend.time();
        let sql = "SELECT body FROM workers ORDER BY name";
        let read = |row: &dyn Columns| read_json::<WorkerRow>("a worker", text(row, 0)?);
        let workers = self.backend.rows(sql, [], read).await?;
        let live = workers.into_iter().filter(|worker| worker.until > now);
        Ok(live.collect())
    }
}
