//! Forgetting what is over.

use interrupt_router::RunId;
use interrupts::store::{AuditHead, AuditSubject, Run, StoreError};
use jiff::Timestamp;

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
    /// How many runs there were when this looked for those that need it.
    pub(crate) known_runs: u64,
}

/// What became of a run that was to be forgotten.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PurgedRun {
    /// It is not there any more.
    Gone,
    /// It did not end before that time.
    Stays,
    /// There are so many runs by now, and the newer ones may need it.
    MoreRuns(u64),
}

impl Operation for PurgeRun {
    type Output = PurgedRun;
    type Error = StoreError;

    fn want(&self, tables: &mut Tables) {
        tables.heads.want(&());
        tables.runs.want(&self.id);
    }

    fn run(&self, tables: &mut Tables) -> Result<PurgedRun, Halt<StoreError>> {
        let Some(row) = tables.runs.get(&self.id)?.cloned() else {
            return Ok(PurgedRun::Gone);
        };
        if !ended_before(&row.run, self.before) {
            return Ok(PurgedRun::Stays);
        }
        let runs = tables.heads()?.runs;
        if runs > self.known_runs {
            return Ok(PurgedRun::MoreRuns(runs));
        }
        audit(&row.run, "purge", tables)?;
        tables.forget_run(self.id);
        Ok(PurgedRun::Gone)
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
