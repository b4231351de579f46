//! The failures of a run that cannot be taken, kept or given back.

use interrupt_router::RunId;
use interrupts::life::Refusal;
use interrupts::manager::KeepError;
use interrupts::store::{ChangeError, CheckpointError, RunError};

use super::owner_words;
use crate::exit::{Exit, Failure};
use crate::refused::{by_run, by_store};
use crate::time::instant;

/// The failure of a run that this process could not take, or could not give back.
pub(crate) fn not_taken(run: RunId, error: &KeepError) -> Failure {
    match error {
        KeepError::Run(RunError::Owned { lease }) => Failure::new(
            Exit::Conflict,
            format!(
                "{run} is running in another process ({})",
                owner_words(lease.owner.as_str())
            ),
        )
        .hint(format!(
            "stop it with `irq interrupt {run}`; if that process has died, `irq resume {run}` works once its lease \
             ends at {}",
            instant(lease.until)
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
            "`irq ps {run}` says which process has it; once none does, go on with `irq resume {run}`"
        )),
        KeepError::Kept { .. } | KeepError::Change(_) | KeepError::Checkpoint(_) => {
            Failure::new(Exit::Failure, error.to_string())
        }
        _ => Failure::new(Exit::Failure, error.to_string()),
    }
}
