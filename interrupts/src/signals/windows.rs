//! Console events.

use std::io;

use async_trait::async_trait;
use tokio::signal::windows::{
    CtrlBreak, CtrlC, CtrlClose, CtrlLogoff, CtrlShutdown, ctrl_break, ctrl_c, ctrl_close,
    ctrl_logoff, ctrl_shutdown,
};

use super::{Signal, SignalSource};

/// The console events of this process, since this was made.
#[derive(Debug)]
pub struct OsSignals {
    interrupts: CtrlC,
    breaks: CtrlBreak,
    closings: CtrlClose,
    logoffs: CtrlLogoff,
    shutdowns: CtrlShutdown,
}

impl OsSignals {
    /// Begins to receive console events, in a runtime. From now on Ctrl+C does not end the process by itself.
    ///
    /// # Errors
    ///
    /// The operating system's error.
    pub fn listen() -> io::Result<Self> {
        Ok(Self {
            interrupts: ctrl_c()?,
            breaks: ctrl_break()?,
            closings: ctrl_close()?,
            logoffs: ctrl_logoff()?,
            shutdowns: ctrl_shutdown()?,
        })
    }
}

#[async_trait]
impl SignalSource for OsSignals {
    async fn next(&mut self) -> Option<Signal> {
        tokio::select! {
            biased;
            heard = self.interrupts.recv() => heard.map(|()| Signal::Interrupt),
            heard = self.breaks.recv() => heard.map(|()| Signal::Interrupt),
            heard = self.closings.recv() => heard.map(|()| Signal::Hangup),
            heard = self.logoffs.recv() => heard.map(|()| Signal::Terminate),
            heard = self.shutdowns.recv() => heard.map(|()| Signal::Terminate),
        }
    }
}
