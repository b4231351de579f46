//! Signals of the operating system: the first one asks, the second one insists, the third one leaves.
//!
//! No work is done in a signal handler: a [`SignalSource`] hears of a signal, and a task does what follows.
//! [`OsSignals`] is the source of this machine: SIGINT and SIGTERM on Unix, console events on Windows.

mod ladder;
#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

use std::time::Duration;

use async_trait::async_trait;
use routing_core::{RunId, StopMode, StopSource};
use tokio_util::task::AbortOnDropHandle;

pub use ladder::{Ladder, Rung};
#[cfg(unix)]
pub use unix::OsSignals;
#[cfg(windows)]
pub use windows::OsSignals;

use crate::life::Actor;
use crate::manager::{InterruptManager, StopCause, StopHandle, StopRequest, Target};

/// What the operating system says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Signal {
    /// A person wants it to stop: Ctrl+C.
    Interrupt,
    /// The system or another program wants it to end: SIGTERM, a closed console, a shutdown.
    Terminate,
}

/// Hears the signals of the operating system.
#[async_trait]
pub trait SignalSource: Send {
    /// The next signal; `None` when none can come any more.
    ///
    /// # Cancel safety
    ///
    /// Safe: a signal that was not returned is returned next time.
    async fn next(&mut self) -> Option<Signal>;
}

/// What is done about signals.
#[derive(Debug, Clone)]
pub struct SignalSettings {
    /// Who asks for the stop in the records: the person at the terminal.
    pub by: Actor,
    /// After how long a graceful stop by Ctrl+C becomes immediate; never where it is absent.
    pub patience: Option<Duration>,
    /// After how long a graceful stop by a termination becomes immediate.
    pub drain: Option<Duration>,
}

/// What leaving at once skips.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Leaving {
    /// The signal that was one too many.
    pub signal: Signal,
    /// Runs that have not stopped yet: their leases run out, and they can be resumed.
    pub running: Vec<RunId>,
    /// Requests that are not recorded yet.
    pub unrecorded: usize,
}

/// Hears what follows from signals.
pub trait SignalListener: Send {
    /// A signal has asked for a stop. The handle tells what becomes of it.
    fn asked(&mut self, signal: Signal, mode: StopMode, handle: StopHandle);

    /// The third signal: leave the process now. What is skipped is for the listener to say.
    fn leave(&mut self, leaving: Leaving);
}

/// Listens to signals while it is held.
#[derive(Debug)]
pub struct Listening {
    _task: AbortOnDropHandle<()>,
}

/// Turns signals into stops of everything: the first one graceful, the second one immediate, the third one tells
/// the listener to leave.
pub fn listen(
    mut source: impl SignalSource + 'static,
    manager: &InterruptManager,
    settings: SignalSettings,
    mut listener: impl SignalListener + 'static,
) -> Listening {
    let requests = manager.requests();
    let task = async move {
        let mut ladder = Ladder::default();
        while let Some(signal) = source.next().await {
            let mode = match ladder.climb() {
                Rung::Ask => StopMode::Graceful,
                Rung::Insist => StopMode::Immediate,
                Rung::Leave => {
                    let status = requests.status();
                    let running = status.runs.into_iter().map(|kept| kept.run).collect();
                    listener.leave(Leaving {
                        signal,
                        running,
                        unrecorded: status.unrecorded,
                    });
                    continue;
                }
            };
            let handle = requests.request(request(signal, mode, &settings));
            listener.asked(signal, mode, handle);
        }
    };
    Listening {
        _task: AbortOnDropHandle::new(manager.spawn(task)),
    }
}

fn request(signal: Signal, mode: StopMode, settings: &SignalSettings) -> StopRequest {
    let (source, cause, message, limit) = match signal {
        Signal::Interrupt => (
            StopSource::User,
            StopCause::UserEscape,
            "interrupted from the terminal",
            settings.patience,
        ),
        Signal::Terminate => (
            StopSource::System,
            StopCause::Shutdown,
            "the process was told to end",
            settings.drain,
        ),
    };
    StopRequest {
        mode,
        source,
        cause,
        limit,
        ..StopRequest::pause(Target::Everything, settings.by.clone(), message)
    }
}
