//! The end of a server: the first signal drains it, the second stops it at once, the third exits. None of them is an
//! interrupt: the next process that executes runs continues its runs.

use std::process::exit;
use std::sync::Arc;
use std::time::Duration;

use interrupts::manager::{RunRest, ShutdownReport};
use interrupts::signals::{Escalation, OsSignals, Rung, SignalSource};
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;

use super::MOMENT;
use super::launcher::Launcher;
use crate::exit::{Exit, Failure, tell};
use crate::run_owner::RunOwner;

/// Why a run is released, as its last checkpoint says.
const STOPPED: &str = "the server was stopped";

/// Drains the server and waits for its end.
pub(super) struct Stopping {
    rest: AbortOnDropHandle<ShutdownReport>,
    hurry: CancellationToken,
    run_owner: Arc<RunOwner>,
    _signals: AbortOnDropHandle<()>,
}

impl Stopping {
    /// From now on a signal cancels `stop` and releases the runs.
    pub(super) fn begin(
        signals: OsSignals,
        run_owner: Arc<RunOwner>,
        launcher: Launcher,
        stop: CancellationToken,
    ) -> Self {
        let hurry = CancellationToken::new();
        let listening = listen(signals, Arc::clone(&run_owner), stop.clone(), hurry.clone());
        let shared = Arc::clone(&run_owner);
        let draining = async move {
            stop.cancelled().await;
            // A run that began now would not be released any more.
            launcher.close();
            let report = shared.manager.drain(STOPPED).await;
            // They have released their runs; a task that hangs while it ends is not waited for.
            let _ended = tokio::time::timeout(MOMENT, launcher.tasks().wait()).await;
            report
        };
        Self {
            rest: AbortOnDropHandle::new(tokio::spawn(draining)),
            hurry,
            run_owner,
            _signals: AbortOnDropHandle::new(tokio::spawn(listening)),
        }
    }

    /// Cancelled when open connections are to be cut.
    pub(super) fn hurry(&self) -> CancellationToken {
        self.hurry.clone()
    }

    /// Waits until the runs were released, and the hooks that were called about their stops have ended.
    ///
    /// # Errors
    ///
    /// If a run was not released.
    ///
    /// # Cancel safety
    ///
    /// Not cancel safe: if dropped, the runs are left as if this process had died.
    pub(super) async fn ended(self, drain: Duration) -> Result<(), Failure> {
        let limit = drain.saturating_mul(2) + MOMENT;
        let report = match tokio::time::timeout(limit, self.rest).await {
            Ok(Ok(report)) => report,
            Ok(Err(error)) => return Err(Failure::new(Exit::Failure, error.to_string())),
            Err(_elapsed) => return Err(Failure::new(Exit::Failure, "runs did not stop in time")),
        };
        // Signals are heard meanwhile, so that a third one exits.
        self.run_owner.manager.hooks_ended().await;
        let stuck: Vec<String> = report
            .runs
            .iter()
            .filter(|(_run, rest)| *rest == RunRest::NotLetGo)
            .map(|(run, _rest)| run.to_string())
            .collect();
        tracing::info!(
            let_go = report.runs.len() - stuck.len(),
            stuck = stuck.len(),
            "stopped"
        );
        if stuck.is_empty() {
            return Ok(());
        }
        let text = format!(
            "{} runs did not stop in time: {}",
            stuck.len(),
            stuck.join(", ")
        );
        Err(Failure::new(Exit::Failure, text)
            .hint("`irq resume RUN` goes on with each from what is recorded"))
    }
}

async fn listen(
    mut signals: OsSignals,
    run_owner: Arc<RunOwner>,
    stop: CancellationToken,
    hurry: CancellationToken,
) {
    let mut ladder = Escalation::default();
    while let Some(signal) = signals.next().await {
        match ladder.climb(signal) {
            None => {}
            Some(Rung::Ask) => {
                tell(
                    "Stopping: what is under way is finished, runs are left to other processes. (again: at once)",
                );
                stop.cancel();
            }
            Some(Rung::Insist) => {
                tell("Stopping at once. (again: leave without clean-up)");
                run_owner.manager.drain_at_once(STOPPED);
                stop.cancel();
                hurry.cancel();
            }
            Some(Rung::Leave) => {
                tell("Left at once: runs stand as they were recorded last.");
                exit(i32::from(Exit::by(signal).code()));
            }
        }
    }
}
