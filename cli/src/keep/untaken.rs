//! What is said where a run cannot be taken, kept or given back.

use interrupts::life::Refusal;
use interrupts::manager::KeepError;
use interrupts::store::{ChangeError, CheckpointError, RunError};
use routing_core::RunId;

use crate::exit::{Exit, Failure};
use crate::refused::{by_run, by_store};
use crate::time::instant;

/// What the program says of a run that this process could not take, or not give back.
pub(crate) fn not_taken(run: RunId, error: &KeepError) -> Failure {
    match error {
        KeepError::Run(RunError::Owned { lease }) => Failure::new(
            Exit::Conflict,
            format!(
                "another process runs {run}: {}, until {}",
                lease.owner,
                instant(lease.until)
            ),
        )
        .hint(format!(
            "`irq interrupt {run}` stops it; a process that died loses the run at that time"
        )),
        KeepError::Run(RunError::Illegal { from, .. }) => {
            Failure::new(Exit::Conflict, format!("{run} is {from}; it has ended")).hint(format!(
                "`irq fork {run} --at N` begins another one from a checkpoint"
            ))
        }
        KeepError::Run(error) => by_run(error),
        KeepError::Store(error) | KeepError::Checkpoint(CheckpointError::Store(error)) => {
            by_store(error)
        }
        KeepError::Change(ChangeError::Refused(Refusal::Claimed { by, until })) => {
            let text = format!(
                "{by} has claimed what holds {run} until {}",
                instant(*until)
            );
            Failure::new(Exit::Conflict, text).hint(format!(
                "`irq review --run {run}` shows it; go on once it is decided, given back or free again"
            ))
        }
        KeepError::Lost { .. } => Failure::new(Exit::Failure, error.to_string()).hint(format!(
            "`irq ps {run}` says who has it; `irq resume {run}` goes on once nobody does"
        )),
        KeepError::Kept { .. } | KeepError::Change(_) | KeepError::Checkpoint(_) => {
            Failure::new(Exit::Failure, error.to_string())
        }
        _ => Failure::new(Exit::Failure, error.to_string()),
    }
}
