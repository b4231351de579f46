//! SIGINT and SIGTERM.

use std::io;

use async_trait::async_trait;
use tokio::signal::unix::{self, SignalKind, signal};

use super::{Signal, SignalSource};

/// The signals of this process, from when this is made on.
#[derive(Debug)]
pub struct OsSignals {
    interrupts: unix::Signal,
    terminations: unix::Signal,
}

impl OsSignals {
    /// Begins to hear signals, in a runtime. From now on they do not end the process by themselves.
    ///
    /// # Errors
    ///
    /// What the operating system says.
    pub fn listen() -> io::Result<Self> {
        Ok(Self {
            interrupts: signal(SignalKind::interrupt())?,
            terminations: signal(SignalKind::terminate())?,
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
        }
    }
}
