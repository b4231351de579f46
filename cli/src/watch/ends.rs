//! What ends or suspends the screens from outside: signals, and the end of the terminal.

use std::io;

use interrupts::signals::{OsSignals, SignalSource};

use crate::exit::Exit;

/// Listens for these. None of them acts by itself: the terminal is restored first.
pub(super) struct Ends {
    signals: OsSignals,
    terminal: OfTerminal,
}

/// What has come.
pub(super) enum End {
    /// The program ends, so.
    Leave(Exit),
    /// The program is suspended, as by Ctrl+Z, until it is resumed.
    Aside,
}

impl Ends {
    /// Starts to listen.
    ///
    /// # Errors
    ///
    /// If signals cannot be listened for.
    pub(super) fn listen() -> io::Result<Self> {
        Ok(Self {
            signals: OsSignals::listen()?,
            terminal: OfTerminal::listen()?,
        })
    }

    /// The next one.
    ///
    /// # Cancel safety
    ///
    /// Safe: what came is returned the next time.
    pub(super) async fn next(&mut self) -> End {
        tokio::select! {
            Some(signal) = self.signals.next() => End::Leave(Exit::by(signal)),
            end = self.terminal.comes() => end,
        }
    }
}

/// What a terminal says of itself.
#[cfg(unix)]
struct OfTerminal {
    /// Ctrl+Z from elsewhere.
    aside: tokio::signal::unix::Signal,
}

#[cfg(unix)]
impl OfTerminal {
    fn listen() -> io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Self {
            aside: signal(SignalKind::from_raw(signal_hook::consts::SIGTSTP))?,
        })
    }

    async fn comes(&mut self) -> End {
        tokio::select! {
            Some(()) = self.aside.recv() => End::Aside,
            else => std::future::pending().await,
        }
    }
}

/// Stops this process until it is resumed.
#[cfg(unix)]
pub(super) fn stand_aside() {
    // It cannot fail for this one, and a process that stays goes on as before.
    let _ = signal_hook::low_level::emulate_default_handler(signal_hook::consts::SIGTSTP);
}

/// Elsewhere no process is suspended so.
#[cfg(not(unix))]
pub(super) fn stand_aside() {}

#[cfg(not(unix))]
struct OfTerminal;

#[cfg(not(unix))]
impl OfTerminal {
    #[expect(clippy::unnecessary_wraps, reason = "elsewhere it may fail")]
    fn listen() -> io::Result<Self> {
        Ok(Self)
    }

    async fn comes(&mut self) -> End {
        std::future::pending().await
    }
}
