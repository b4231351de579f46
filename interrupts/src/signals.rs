//! Signals of the operating system: the first one asks, the second one insists, the third one leaves. A terminal that
//! is gone asks once, however often it is reported: a shell reports it, too, and no one is in a hurry. SIGQUIT insists.
//!
//! No work is done in a signal handler: a [`SignalSource`] receives a signal, and a task does the rest. [`OsSignals`]
//! is the source of this machine: SIGINT, SIGTERM, SIGHUP and SIGQUIT on Unix, console events on Windows.

mod escalation;
#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

use std::time::Duration;

use async_trait::async_trait;
use interrupt_router::{RunId, StopMode, StopSource};
use tokio_util::task::AbortOnDropHandle;

pub use escalation::{Escalation, Rung};
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
    /// The system or another program wants it to end: SIGTERM, a shutdown.
    Terminate,
    /// Its terminal is gone: a closed window, a connection that broke.
    Hangup,
    /// A person wants it to stop at once: SIGQUIT, which is Ctrl+\.
    Quit,
}

/// Receives the signals of the operating system.
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
    /// After how long a graceful stop by Ctrl+C becomes immediate; never if it is absent.
    pub patience: Option<Duration>,
    /// After how long a graceful stop by a termination or a hangup becomes immediate.
    pub drain: Option<Duration>,
}

/// What leaving at once skips.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Leaving {
    /// The signal that was one too many.
    pub signal: Signal,
    /// Runs that have not stopped yet: their leases run out, and they can be resumed.
    pub running: Vec<RunId>,
    /// Requests that are not recorded yet.
    pub unrecorded: usize,
}

/// Handles what follows from signals.
pub trait SignalListener: Send {
    /// A signal has asked for a stop. The handle tells what becomes of it.
    fn asked(&mut self, signal: Signal, mode: StopMode, handle: StopHandle);

    /// The third signal: leave the process now. What is skipped is for the listener to say.
    fn leave(&mut self, leaving: Leaving);
}

/// Listens to signals until it is dropped.
#[derive(Debug)]
pub struct Listening {
    _task: AbortOnDropHandle<()>,
}

/// Turns signals into stops of everything, as the [`Escalation`] says: the first one graceful, the second one immediate, the
/// third one tells the listener to leave.
pub fn listen(
    mut source: impl SignalSource + 'static,
    manager: &InterruptManager,
    settings: SignalSettings,
    mut listener: impl SignalListener + 'static,
) -> Listening {
    let requests = manager.requests();
    let task = async move {
        let mut ladder = Escalation::default();
        while let Some(signal) = source.next().await {
            let mode = match ladder.climb(signal) {
                None => continue,
                Some(Rung::Ask) => StopMode::Graceful,
                Some(Rung::Insist) => StopMode::Immediate,
                Some(Rung::Leave) => {
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
    let (cause, limit) = match signal {
        Signal::Interrupt => (StopCause::UserEscape, settings.patience),
        Signal::Quit => (StopCause::UserEscape, None),
        Signal::Terminate | Signal::Hangup => (StopCause::Shutdown, settings.drain),
    };
    StopRequest {
        mode,
        // The one who sends a signal, or closes a window, is a person.
        source: StopSource::User,
        cause,
        limit,
        ..StopRequest::pause(
            Target::Everything,
            settings.by.clone(),
            signal.why_it_stops(),
        )
    }
}

impl Signal {
    /// Why something stops because of it, in words.
    pub const fn why_it_stops(self) -> &'static str {
        match self {
            Self::Interrupt => "interrupted from the terminal",
            Self::Terminate => "the process was told to end",
            Self::Hangup => "its terminal was closed",
            Self::Quit => "stopped at once from the terminal",
        }
    }
}
