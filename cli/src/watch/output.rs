//! What is drawn, on its way to the terminal.
//!
//! A thread writes it, so that a link that takes little at a time slows no key. Nothing is drawn while something is on
//! its way: what has changed meanwhile is drawn once, in its latest state.

use std::io::{self, Write};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use tokio::sync::Notify;

/// How much is written at a time: as much as may still go out once the rest is given up.
const PIECE: usize = 256;
/// How long a terminal that takes nothing is left alone.
const AGAIN: Duration = Duration::from_millis(5);

/// Collects what is drawn, and sends it on its way. Clones share it.
#[derive(Clone)]
pub(super) struct Output(Arc<OutputState>);

#[derive(Default)]
struct OutputState {
    way: Mutex<OutputBuffer>,
    /// For the thread that writes, and for callers that wait until it has written.
    changed: Condvar,
    /// For the loop of the screens.
    drained: Notify,
}

#[derive(Default)]
struct OutputBuffer {
    collected: Vec<u8>,
    sent: Vec<u8>,
    is_writing: bool,
    /// The rest is not wanted any more.
    is_given_up: bool,
    failed: Option<io::Error>,
}

impl OutputState {
    fn way(&self) -> MutexGuard<'_, OutputBuffer> {
        // Only whole values are put in or taken out, so a panic elsewhere leaves it intact.
        self.way.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes what is sent, until it is given up.
    fn write_on(&self, mut terminal: impl Write) {
        while let Some(sent) = self.next() {
            let written = self.write(&mut terminal, &sent);
            let mut way = self.way();
            way.is_writing = false;
            if let Err(error) = written {
                way.failed = Some(error);
                way.is_given_up = true;
            }
            drop(way);
            self.changed.notify_all();
            self.drained.notify_one();
        }
    }

    fn next(&self) -> Option<Vec<u8>> {
        let mut way = self.way();
        loop {
            if way.is_given_up {
                return None;
            }
            if !way.sent.is_empty() {
                way.is_writing = true;
                return Some(std::mem::take(&mut way.sent));
            }
            way = self
                .changed
                .wait(way)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn write(&self, terminal: &mut impl Write, sent: &[u8]) -> io::Result<()> {
        let mut rest = sent;
        while !rest.is_empty() && !self.way().is_given_up {
            match terminal.write(&rest[..rest.len().min(PIECE)]) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(count) => rest = &rest[count..],
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => thread::sleep(AGAIN),
                Err(error) => return Err(error),
            }
        }
        terminal.flush()
    }
}

impl Output {
    /// Begins to write to this program's terminal.
    ///
    /// # Errors
    ///
    /// If the terminal cannot be opened, or there can be no thread.
    pub(super) fn begin() -> io::Result<Self> {
        let terminal = own_terminal()?;
        let shared = Arc::<OutputState>::default();
        let writer = Arc::clone(&shared);
        let thread = thread::Builder::new().name("terminal".to_owned());
        // It ends when it is given up, at the latest with the program: it may be stuck in a write.
        let _handle = thread.spawn(move || writer.write_on(terminal))?;
        Ok(Self(shared))
    }

    /// Sends what was collected.
    ///
    /// # Errors
    ///
    /// What was sent before could not be written.
    pub(super) fn send(&self) -> io::Result<()> {
        let mut way = self.0.way();
        if let Some(error) = way.failed.take() {
            return Err(error);
        }
        let collected = std::mem::take(&mut way.collected);
        way.sent.extend(collected);
        drop(way);
        self.0.changed.notify_all();
        Ok(())
    }

    /// Whether all that was sent is written.
    pub(super) fn is_drained(&self) -> bool {
        let way = self.0.way();
        (way.sent.is_empty() && !way.is_writing) || way.is_given_up
    }

    /// Waits until all that was sent is written.
    ///
    /// # Cancel safety
    ///
    /// Safe: it only waits.
    pub(super) async fn drained(&self) {
        while !self.is_drained() {
            self.0.drained.notified().await;
        }
    }

    /// Waits so long until all that was sent is written, and then writes no more. Returns whether it was all.
    pub(super) fn end(&self, patience: Duration) -> bool {
        let is_whole = self.waits(patience);
        self.0.way().is_given_up = true;
        self.0.changed.notify_all();
        is_whole
    }

    /// Waits so long until nothing is being written.
    pub(super) fn waits(&self, patience: Duration) -> bool {
        let end = Instant::now() + patience;
        let mut way = self.0.way();
        while way.is_writing || (!way.sent.is_empty() && !way.is_given_up) {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            let waited = self.0.changed.wait_timeout(way, left);
            way = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        true
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.way().collected.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        // A drawing is sent whole.
        Ok(())
    }
}

/// The terminal, opened anew and so that a write never waits: a write that waits has the terminal's own lock, and the
/// code that restores the terminal would wait for it. If it cannot be opened, it is used as it was given.
#[cfg(unix)]
fn own_terminal() -> io::Result<std::fs::File> {
    use rustix::fs::{Mode, OFlags, open};
    use std::os::fd::AsFd;
    let flags = OFlags::WRONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let named = rustix::termios::ttyname(io::stdout(), Vec::new());
    let own = match named.and_then(|name| open(&name, flags, Mode::empty())) {
        Ok(own) => own,
        Err(_no_name) => io::stdout().as_fd().try_clone_to_owned()?,
    };
    Ok(own.into())
}

/// The terminal.
#[cfg(not(unix))]
#[expect(clippy::unnecessary_wraps, reason = "elsewhere it may fail")]
fn own_terminal() -> io::Result<io::Stdout> {
    Ok(io::stdout())
}

/// Discards what the terminal has not taken yet.
pub(super) fn discard() {
    #[cfg(unix)]
    {
        use rustix::termios::{QueueSelector, tcflush};
        // A failure can be reported to no one any more.
        let _ = tcflush(io::stdout(), QueueSelector::OFlush);
    }
}
