//! Cursors in the outbox.

use interrupts::store::{Consumer, StoreError};

use super::{Halt, Operation};
use crate::tables::Tables;

/// Moves a consumer's cursor forward.
pub(crate) struct Consume {
    pub(crate) consumer: Consumer,
    pub(crate) through: u64,
}

impl Operation for Consume {
    type Output = u64;
    type Error = StoreError;

    fn want(&self, tables: &mut Tables) {
        tables.heads.want(&());
        tables.cursors.want(&self.consumer);
    }

    fn run(&self, tables: &mut Tables) -> Result<u64, Halt<StoreError>> {
        let last = tables.heads()?.outbox;
        let stands = tables.cursors.get(&self.consumer)?.copied().unwrap_or(0);
        let moved = self.through.min(last).max(stands);
        if moved > stands {
            tables.cursors.put(self.consumer.clone(), moved);
        }
        Ok(moved)
    }
}
