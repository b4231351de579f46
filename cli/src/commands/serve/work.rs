//! A run that a server executes: no one watches it here, and answers come through the store.

use std::sync::Arc;
use std::time::Duration;

use agents::run::RunOrder;
use engine::run::RunReport;
use interrupts::manager::KeepError;
use interrupts::store::RunError;
use journal::Workflow;
use tools::ToolCounts;

use super::awaiting::Awaiting;
use super::order::Defaults;
use super::standstill::Standstill;
use crate::commands::run::{Beside, OuterLimits, Prepared, settle};
use crate::exit::Failure;
use crate::run_owner::{LocalRun, RunOwner};

/// Everything that was checked before a run is taken.
pub(super) struct ServedRun {
    prepared: Prepared,
    put_aside_after: Duration,
}

impl ServedRun {
    /// Checks all that an order needs.
    ///
    /// # Errors
    ///
    /// If the folder, the model, its price or the script cannot be had.
    pub(super) fn prepare(
        order: RunOrder,
        limits: OuterLimits,
        defaults: &Defaults,
    ) -> Result<Self, Failure> {
        Ok(Self {
            prepared: Prepared::of(order, limits, defaults.pace)?,
            put_aside_after: defaults.put_aside_after,
        })
    }

    /// Which workflow it is.
    pub(super) const fn workflow(&self) -> &Workflow {
        self.prepared.workflow()
    }

    /// Counts events of its tools in these counts.
    pub(super) fn counting_with(mut self, counts: &Arc<ToolCounts>) -> Self {
        self.prepared.count_with(counts);
        self
    }

    /// Executes a run that has begun until it ends or stops, and releases it.
    ///
    /// # Errors
    ///
    /// If its end cannot be recorded; the lease runs out then.
    ///
    /// # Cancel safety
    ///
    /// If dropped, the run is left in the store as if this process had died.
    pub(super) async fn execute(
        self,
        run_owner: &RunOwner,
        kept: LocalRun,
    ) -> anyhow::Result<RunReport> {
        let standstill = Arc::new(match self.workflow() {
            Workflow::Agents | Workflow::Embedded(_) => Standstill::of_nodes(),
            Workflow::PlanExecute => Standstill::of_one_line(),
        });
        let beside = Beside {
            watch: None,
            reviewer: Arc::new(Awaiting::new(standstill.watch(), self.put_aside_after)),
            observer: standstill,
            note: Box::new(|note| tracing::warn!(%note, "of the tools of a run")),
        };
        let report = self.prepared.execute(run_owner, &kept, beside).await?;
        settle(run_owner, kept, &report).await?;
        Ok(report)
    }
}

/// Whether the end of a run was not recorded because another process owns it now.
pub(super) fn is_taken_over(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        let is_lost = matches!(
            cause.downcast_ref(),
            Some(KeepError::Lost { .. } | KeepError::Run(RunError::Fenced { .. }))
        );
        is_lost || matches!(cause.downcast_ref(), Some(RunError::Fenced { .. }))
    })
}
