//! The end of a server: the first signal drains it, the second one stops at once, the third one leaves.

use std::process::exit;
use std::sync::Arc;
use std::time::Duration;

use interrupts::manager::{RunRest, ShutdownReport, StopRequest, Target};
use interrupts::signals::{Ladder, OsSignals, Rung, Signal, SignalSource};
use routing_core::{StopMode, StopSource};
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;

use super::MOMENT;
use super::launcher::Launcher;
use crate::actor::actor;
use crate::exit::{Exit, Failure};
use crate::keep::Keeping;

/// Waits for the end, and brings it about.
pub(super) struct Stopping {
    rest: AbortOnDropHandle<ShutdownReport>,
    hurry: CancellationToken,
    keeping: Arc<Keeping>,
    _signals: AbortOnDropHandle<()>,
}

impl Stopping {
    /// From now on a signal cancels `stop` and pauses the runs.
    pub(super) fn begin(
        signals: OsSignals,
        keeping: Arc<Keeping>,
        launcher: Launcher,
        stop: CancellationToken,
    ) -> Self {
        let hurry = CancellationToken::new();
        let listening = listen(signals, Arc::clone(&keeping), stop.clone(), hurry.clone());
        let shared = Arc::clone(&keeping);
        let pausing = async move {
            stop.cancelled().await;
            // What begins now would not be paused any more.
            launcher.close();
            let report = shared
                .manager
                .execute_shutdown("the server was stopped")
                .await;
            // They have let go of their runs; a task that hangs in its last words is not waited for.
            let _ended = tokio::time::timeout(MOMENT, launcher.tasks().wait()).await;
            report
        };
        Self {
            rest: AbortOnDropHandle::new(tokio::spawn(pausing)),
            hurry,
            keeping,
            _signals: AbortOnDropHandle::new(tokio::spawn(listening)),
        }
    }

    /// Cancelled when open connections are to be cut.
    pub(super) fn hurry(&self) -> CancellationToken {
        self.hurry.clone()
    }

    /// Waits until the runs have stopped, and the hooks that were called about it have ended.
    ///
    /// # Errors
    ///
    /// Where one did not, or why it stopped is not recorded.
    ///
    /// # Cancel safety
    ///
    /// Not cancel safe: dropped, the runs stand as if this process had died.
    pub(super) async fn ended(self, drain: Duration) -> Result<(), Failure> {
        let limit = drain.saturating_mul(2) + MOMENT;
        let report = match tokio::time::timeout(limit, self.rest).await {
            Ok(Ok(report)) => report,
            Ok(Err(error)) => return Err(Failure::new(Exit::Failure, error.to_string())),
            Err(_elapsed) => return Err(Failure::new(Exit::Failure, "runs did not stop in time")),
        };
        // A signal is heard while they are waited for, so that a third one leaves.
        self.keeping.manager.hooks_ended().await;
        let stuck: Vec<String> = report
            .runs
            .iter()
            .filter(|(_run, rest)| *rest == RunRest::NotLetGo)
            .map(|(run, _rest)| run.to_string())
            .collect();
        tracing::info!(
            paused = report.runs.len() - stuck.len(),
            stuck = stuck.len(),
            "stopped"
        );
        let text = match (stuck.as_slice(), report.unrecorded.as_slice()) {
            ([], []) => return Ok(()),
            ([], [first, ..]) => format!("why runs have stopped is not recorded: {first}"),
            (stuck, _) => format!(
                "{} runs did not stop in time: {}",
                stuck.len(),
                stuck.join(", ")
            ),
        };
        Err(Failure::new(Exit::Failure, text)
            .hint("`irq resume RUN` goes on with each from what is recorded"))
    }
}

async fn listen(
    mut signals: OsSignals,
    keeping: Arc<Keeping>,
    stop: CancellationToken,
    hurry: CancellationToken,
) {
    let mut ladder = Ladder::default();
    while let Some(signal) = signals.next().await {
        match ladder.climb() {
            Rung::Ask => {
                eprintln!("Stopping: requests are finished, runs are paused. (again: at once)");
                stop.cancel();
            }
            Rung::Insist => {
                eprintln!("Stopping at once. (again: leave without clean-up)");
                hurry.cancel();
                if let Ok(by) = actor() {
                    let message = "the server was stopped at once";
                    let _handle = keeping.manager.request(StopRequest {
                        mode: StopMode::Immediate,
                        source: StopSource::System,
                        ..StopRequest::pause(Target::Everything, by, message)
                    });
                }
            }
            Rung::Leave => {
                eprintln!("Left at once: runs stand as they were recorded last.");
                let code = match signal {
                    Signal::Interrupt => Exit::Interrupted,
                    Signal::Terminate => Exit::Terminated,
                };
                exit(i32::from(code.code()));
            }
        }
    }
}
