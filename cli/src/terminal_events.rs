//! The events of a terminal: keys, pasted text, its size. It is read on a thread of its own, because with crossterm
//! 0.29, a read from a terminal that has gone never ends: the waiting task continues and can end.

use std::io;
use std::sync::mpsc as waiting;
use std::thread;
use std::time::Duration;

use crossterm::event::{Event, EventStream};
use futures_util::StreamExt as _;
use tokio::runtime::Handle;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

/// How long to wait until reading has ended, before another program gets the terminal.
const ENDING: Duration = Duration::from_millis(200);

/// The events of the terminal. Each is read when it is asked for, so that what was not asked for stays there for the
/// terminal's next reader.
pub(crate) struct TerminalEvents {
    wishes: mpsc::UnboundedSender<()>,
    events: mpsc::UnboundedReceiver<Option<io::Result<Event>>>,
    /// Whether one was asked for that has not come.
    is_awaited: bool,
    stop: CancellationToken,
    ended: waiting::Receiver<()>,
}

impl TerminalEvents {
    /// Begins to listen. Call it within a runtime.
    pub(crate) fn listen() -> Self {
        let (wishes, wished) = mpsc::unbounded_channel();
        let (told, events) = mpsc::unbounded_channel();
        let (ends, ended) = waiting::channel();
        let stop = CancellationToken::new();
        let (runtime, stopped) = (Handle::current(), stop.clone());
        thread::spawn(move || {
            runtime.block_on(read(wished, told, stopped));
            // The listener may not wait for it.
            let _unheard = ends.send(());
        });
        Self {
            wishes,
            events,
            is_awaited: false,
            stop,
            ended,
        }
    }

    /// The next event; `None` if the terminal has gone.
    ///
    /// # Cancel safety
    ///
    /// Safe: what has come is returned the next time.
    pub(crate) async fn next(&mut self) -> Option<io::Result<Event>> {
        if !self.is_awaited {
            self.is_awaited = self.wishes.send(()).is_ok();
        }
        let event = tokio::select! {
            biased;
            () = hangup::comes() => None,
            event = self.events.recv() => event.flatten(),
        };
        self.is_awaited = false;
        event
    }
}

impl Drop for TerminalEvents {
    fn drop(&mut self) {
        self.stop.cancel();
        // A thread whose read never ends ends with the process.
        let _late = self.ended.recv_timeout(ENDING);
    }
}

/// Reads an event for each request, until it is stopped.
async fn read(
    mut wished: mpsc::UnboundedReceiver<()>,
    told: mpsc::UnboundedSender<Option<io::Result<Event>>>,
    stopped: CancellationToken,
) {
    let mut events = EventStream::new();
    while let Some(()) = tokio::select! {
        wish = wished.recv() => wish,
        () = stopped.cancelled() => None,
    } {
        let event = tokio::select! {
            event = events.next() => event,
            () = stopped.cancelled() => return,
        };
        if told.send(event).is_err() {
            return;
        }
    }
}

#[cfg(unix)]
mod hangup {
    //! The end of the terminal, which also reaches processes that ignore its signal.

    use std::fs::File;
    use std::io::{self, IsTerminal as _};
    use std::os::fd::AsFd;
    use std::sync::LazyLock;
    use std::thread;

    use rustix::event::{PollFd, PollFlags, poll};
    use rustix::io::Errno;
    use tokio_util::sync::CancellationToken;

    static GONE: LazyLock<CancellationToken> = LazyLock::new(|| {
        let gone = CancellationToken::new();
        let token = gone.clone();
        thread::spawn(move || {
            let keyboard = io::stdin();
            let has_ended = if keyboard.is_terminal() {
                until_hung_up(&keyboard)
            } else {
                // The keys come from there then.
                File::open("/dev/tty").is_ok_and(|terminal| until_hung_up(&terminal))
            };
            if has_ended {
                token.cancel();
            }
        });
        gone
    });

    /// Waits until a terminal has gone, and returns whether it has.
    fn until_hung_up(terminal: &impl AsFd) -> bool {
        loop {
            // Without requested events, it reports the end alone.
            let mut waited = [PollFd::new(terminal, PollFlags::empty())];
            match poll(&mut waited, None) {
                Ok(_) => return true,
                Err(Errno::INTR) => {}
                Err(_) => return false,
            }
        }
    }

    pub(super) async fn comes() {
        GONE.cancelled().await;
    }
}

#[cfg(not(unix))]
mod hangup {
    //! Elsewhere, reads report the end.

    pub(super) async fn comes() {
        std::future::pending().await
    }
}
