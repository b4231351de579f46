//! Forgetting what is over.

use interrupts::store::{AuditHead, AuditSubject, Run, StoreError};
use jiff::Timestamp;
use routing_core::RunId;

use super::run::audit;
use super::{Halt, Operation};
use crate::tables::Tables;

/// Whether a run ended at a time or before it. Older versions did not write when it did.
pub(crate) fn ended_before(run: &Run, time: Timestamp) -> bool {
    run.state.is_final() && run.ended_at.unwrap_or(run.created_at) <= time
}

/// Forgets a run that ended before a time, with all that belongs to it.
pub(crate) struct PurgeRun {
    pub(crate) id: RunId,
    pub(crate) before: Timestamp,
}

impl Operation for PurgeRun {
    type Output = ();
    type Error = StoreError;

    fn want(&self, tables: &mut Tables) {
        tables.heads.want(&());
        tables.runs.want(&self.id);
    }

    fn run(&self, tables: &mut Tables) -> Result<(), Halt<StoreError>> {
        let Some(row) = tables.runs.get(&self.id)?.cloned() else {
            return Ok(());
        };
        if !ended_before(&row.run, self.before) {
            return Ok(());
        }
        audit(&row.run, "purge", tables)?;
        tables.forget_run(self.id);
        Ok(())
    }
}

/// Cuts the beginnings of the outbox and the audit off.
pub(crate) struct Cut {
    /// The last row of the outbox to go; 0 where none goes.
    pub(crate) outbox: u64,
    /// The last row of the audit to go.
    pub(crate) audit: AuditHead,
}

impl Operation for Cut {
    type Output = ();
    type Error = StoreError;

    fn want(&self, tables: &mut Tables) {
        tables.heads.want(&());
    }

    fn run(&self, tables: &mut Tables) -> Result<(), Halt<StoreError>> {
        if self.audit.position > tables.heads()?.audit_anchor.position {
            tables.audit(AuditSubject::Purge {
                through: self.audit.position,
                anchor: self.audit.digest,
            })?;
            let mut heads = tables.heads()?;
            heads.audit_anchor = self.audit;
            tables.heads.put((), heads);
        }
        tables.cut(self.outbox, self.audit.position);
        Ok(())
    }
}
