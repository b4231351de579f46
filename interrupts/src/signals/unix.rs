//! SIGINT, SIGTERM, SIGHUP and SIGQUIT.

use std::future::pending;
use std::io;

use async_trait::async_trait;
use tokio::signal::unix::{self, SignalKind, signal};

use super::{Signal, SignalSource};

/// The signals of this process, since this was made.
#[derive(Debug)]
pub struct OsSignals {
    interrupts: unix::Signal,
    terminations: unix::Signal,
    /// `None` if this process was started to ignore it, as by `nohup`.
    hangups: Option<unix::Signal>,
    quits: Option<unix::Signal>,
}

impl OsSignals {
    /// Begins to receive signals, in a runtime. From now on they do not end the process by themselves. If this process
    /// was started to ignore SIGHUP or SIGQUIT, it continues to ignore it.
    ///
    /// # Errors
    ///
    /// The operating system's error.
    pub fn listen() -> io::Result<Self> {
        let ignored = Ignored::by_this_process();
        let unless_ignored = |kind: SignalKind| {
            let is_heard = !ignored.holds(kind.as_raw_value());
            is_heard.then(|| signal(kind)).transpose()
        };
        Ok(Self {
            interrupts: signal(SignalKind::interrupt())?,
            terminations: signal(SignalKind::terminate())?,
            hangups: unless_ignored(SignalKind::hangup())?,
            quits: unless_ignored(SignalKind::quit())?,
        })
    }
}

#[async_trait]
impl SignalSource for OsSignals {
    async fn next(&mut self) -> Option<Signal> {
        tokio::select! {
            biased;
            heard = self.interrupts.recv() => heard.map(|()| Signal::Interrupt),
            heard = self.terminations.recv() => heard.map(|()| Signal::Terminate),
            heard = next_of(&mut self.quits) => heard.map(|()| Signal::Quit),
            heard = next_of(&mut self.hangups) => heard.map(|()| Signal::Hangup),
        }
    }
}

async fn next_of(signals: &mut Option<unix::Signal>) -> Option<()> {
    match signals {
        Some(signals) => signals.recv().await,
        None => pending().await,
    }
}

/// The signals that this process ignores, a bit for each; none if the system does not say.
#[derive(Debug, Clone, Copy)]
struct Ignored(u64);

impl Ignored {
    fn by_this_process() -> Self {
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
        let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
        Self(mask.unwrap_or(0))
    }

    const fn holds(self, signal: i32) -> bool {
        // The first bit is signal 1 (proc(5)).
        self.0 >> (signal - 1) & 1 == 1
    }
}
