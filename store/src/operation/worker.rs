//! What workers say of themselves.

use interrupts::OwnerName;
use interrupts::store::{StoreError, WorkerRow, WorkerState};
use jiff::SignedDuration;

use super::{Halt, Operation};
use crate::tables::Tables;

/// Keeps what a worker says of itself, and forgets those whose time is over.
pub(crate) struct TellWorker {
    pub(crate) name: OwnerName,
    pub(crate) state: WorkerState,
    pub(crate) lease: SignedDuration,
}

impl Operation for TellWorker {
    type Output = ();
    type Error = StoreError;

    fn want(&self, _tables: &mut Tables) {}

    fn run(&self, tables: &mut Tables) -> Result<(), Halt<StoreError>> {
        let row = WorkerRow {
            name: self.name.clone(),
            state: self.state.clone(),
            until: tables.after(self.lease),
        };
        tables.forget_workers();
        tables.workers.put(self.name.clone(), row);
        Ok(())
    }
}
