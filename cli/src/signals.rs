//! Ctrl+C and SIGTERM: ask first, then insist, then leave.

use std::io;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, mpsc};
use std::time::Duration;

use jiff::Timestamp;
use routing_core::{StopMode, StopReason, StopScope, StopSource};
use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::exit::Exit;
use crate::stage::Stage;

/// What the first Ctrl+C says.
const FIRST: &str =
    "Received interrupt. Finishing the current steps... (press Ctrl+C again to stop now)";

/// What the second one says.
const SECOND: &str = "Stopping now. (press Ctrl+C again to leave without clean-up)";

/// What a first SIGTERM says.
const TERMINATED: &str = "Received SIGTERM. Finishing the current steps...";

/// What the third one says.
const SKIPPED: &str =
    "Left at once. Skipped: waiting for the steps under way, the agents' last states, the summary.";

/// How long the last words may take.
const LAST_WORDS: Duration = Duration::from_millis(200);

/// The signals of a run.
pub(crate) struct Signals {
    interrupts: Signal,
    terminations: Signal,
    seen: SeenSignal,
}

/// Which signal has ended a run, where one has: the first one counts.
#[derive(Debug, Clone, Default)]
pub(crate) struct SeenSignal(Arc<AtomicU8>);

impl SeenSignal {
    /// The exit code that the signal asks for.
    pub(crate) fn exit(&self) -> Option<Exit> {
        let code = self.0.load(Ordering::Acquire);
        [Exit::Interrupted, Exit::Terminated]
            .into_iter()
            .find(|exit| exit.code() == code)
    }

    fn remember(&self, exit: Exit) {
        // A later signal changes nothing: the run was stopped by the first.
        let _ = self
            .0
            .compare_exchange(0, exit.code(), Ordering::AcqRel, Ordering::Acquire);
    }
}

impl Signals {
    /// From now on the signals come here.
    ///
    /// # Errors
    ///
    /// Where the system refuses.
    pub(crate) fn catch() -> io::Result<Self> {
        Ok(Self {
            interrupts: signal(SignalKind::interrupt())?,
            terminations: signal(SignalKind::terminate())?,
            seen: SeenSignal::default(),
        })
    }

    /// Which signal was seen.
    pub(crate) fn seen(&self) -> SeenSignal {
        self.seen.clone()
    }

    /// Stops `scope`, harder with each signal; leaves the process at the third.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future stops listening; the signals stay caught and do nothing.
    pub(crate) async fn stop_on_signal(mut self, scope: StopScope, stage: Stage) {
        for count in 1_u32.. {
            let exit = tokio::select! {
                _ = self.interrupts.recv() => Exit::Interrupted,
                _ = self.terminations.recv() => Exit::Terminated,
            };
            self.seen.remember(exit);
            let is_term = exit == Exit::Terminated;
            let (mode, words) = match count {
                1 if is_term => (StopMode::Graceful, TERMINATED),
                1 => (StopMode::Graceful, FIRST),
                2 => (StopMode::Immediate, SECOND),
                _ => leave(exit),
            };
            stage.notice(words);
            scope.stop(StopReason {
                source: StopSource::User,
                mode,
                message: if is_term { "SIGTERM" } else { "Ctrl+C" }.to_owned(),
                timestamp: Timestamp::now(),
            });
        }
    }
}

/// Ends the process, whatever it is doing.
fn leave(exit: Exit) -> ! {
    let (written, is_written) = mpsc::channel();
    // Written beside: an output that nobody reads may be what hangs.
    std::thread::spawn(move || {
        eprintln!("{SKIPPED}");
        let _ = written.send(());
    });
    let _ = is_written.recv_timeout(LAST_WORDS);
    std::process::exit(i32::from(exit.code()))
}
