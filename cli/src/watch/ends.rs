//! What ends the screens from outside: signals, and the end of the terminal.

use std::io;

use interrupts::signals::{OsSignals, SignalSource};

use crate::exit::Exit;

/// Hears of the ends. None of them ends the process by itself: the terminal is given back first.
pub(super) struct Ends {
    signals: OsSignals,
    hangup: Hangup,
}

impl Ends {
    /// From now on they are heard.
    ///
    /// # Errors
    ///
    /// Where the system lets nobody hear of signals.
    pub(super) fn listen() -> io::Result<Self> {
        Ok(Self {
            signals: OsSignals::listen()?,
            hangup: Hangup::listen()?,
        })
    }

    /// The next one: how the program ends with it.
    ///
    /// # Cancel safety
    ///
    /// Safe: what came is told the next time.
    pub(super) async fn next(&mut self) -> Exit {
        tokio::select! {
            Some(signal) = self.signals.next() => Exit::by(signal),
            () = self.hangup.comes() => Exit::Terminated,
        }
    }
}

/// The end of the terminal, or of the connection to it; the terminal may be there all the same.
struct Hangup(
    #[cfg(unix)] tokio::signal::unix::Signal,
    /// Ctrl+\ from elsewhere, which ends a process by itself and would leave the screens on the terminal.
    #[cfg(unix)]
    tokio::signal::unix::Signal,
);

impl Hangup {
    #[cfg(unix)]
    fn listen() -> io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Self(
            signal(SignalKind::hangup())?,
            signal(SignalKind::quit())?,
        ))
    }

    #[cfg(not(unix))]
    #[expect(clippy::unnecessary_wraps, reason = "elsewhere it may fail")]
    fn listen() -> io::Result<Self> {
        Ok(Self())
    }

    #[cfg(unix)]
    async fn comes(&mut self) {
        let came = tokio::select! {
            came = self.0.recv() => came,
            came = self.1.recv() => came,
        };
        if came.is_none() {
            std::future::pending::<()>().await;
        }
    }

    #[cfg(not(unix))]
    async fn comes(&mut self) {
        std::future::pending::<()>().await;
    }
}
