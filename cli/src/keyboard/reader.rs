//! The thread that reads the terminal.

use std::io::{self, PipeReader, Read, Write as _};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, TryRecvError};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use tokio::sync::mpsc::UnboundedSender;
use tokio::sync::oneshot;

use super::KeyboardCommand;
use super::modes::{ESCAPE, Mode, Modes, is_in_foreground};
use crate::reviewer::{LONGEST_LINE, NoLine, line_of};

/// How often to check the terminal's mode when nothing happens.
const LOOK: Duration = Duration::from_millis(500);
/// How long the rest of a key's sequence may take: Esc alone is followed by nothing.
const REST: Duration = Duration::from_millis(50);

/// The caller that waits for a line.
type LineRequest = oneshot::Sender<Result<String, NoLine>>;

/// Reads the terminal as commanded.
pub(super) struct TerminalReader {
    orders: Receiver<KeyboardCommand>,
    woken: PipeReader,
    heard: UnboundedSender<()>,
    modes: Arc<Modes>,
    listens: bool,
    /// How many prompts are open.
    asking: usize,
    /// Whether the current question was answered elsewhere.
    is_withdrawn: bool,
    /// The callers that wait until they may ask.
    waiting: Vec<oneshot::Sender<()>>,
    wish: Option<LineRequest>,
    /// What was read of a line.
    begun: Vec<u8>,
    /// Whether another caller has the terminal, after Esc.
    is_lent: bool,
    /// Whether the terminal is gone.
    is_gone: bool,
}

impl TerminalReader {
    pub(super) const fn new(
        orders: Receiver<KeyboardCommand>,
        woken: PipeReader,
        heard: UnboundedSender<()>,
        modes: Arc<Modes>,
    ) -> Self {
        Self {
            orders,
            woken,
            heard,
            modes,
            listens: false,
            asking: 0,
            is_withdrawn: false,
            waiting: Vec::new(),
            wish: None,
            begun: Vec::new(),
            is_lent: false,
            is_gone: false,
        }
    }

    /// Reads until no one can send it commands any more.
    pub(super) fn run(mut self) {
        loop {
            loop {
                match self.orders.try_recv() {
                    Ok(order) => self.order(order),
                    Err(TryRecvError::Empty) => break,
                    Err(TryRecvError::Disconnected) => return,
                }
            }
            if self.wish.as_ref().is_some_and(oneshot::Sender::is_closed) {
                self.wish = None;
                self.begun.clear();
            }
            let mode = self.mode();
            self.modes.set(mode, false);
            let reads = match mode {
                Mode::Found => false,
                Mode::Keys => !self.is_gone,
                Mode::Line => true,
            };
            if self.wait(reads && is_in_foreground()) {
                match mode {
                    Mode::Found => {}
                    Mode::Keys => self.read_keys(),
                    Mode::Line => self.read_line(),
                }
            }
        }
    }

    fn mode(&self) -> Mode {
        match self.wish {
            _ if self.is_lent => Mode::Found,
            Some(_) => Mode::Line,
            None if self.listens && self.asking == 0 => Mode::Keys,
            None => Mode::Found,
        }
    }

    fn order(&mut self, order: KeyboardCommand) {
        match order {
            KeyboardCommand::Listen(listens) => self.listens = listens,
            KeyboardCommand::Ask(ready) => {
                self.asking += 1;
                if self.is_lent {
                    self.waiting.push(ready);
                } else {
                    self.begin(ready);
                }
            }
            KeyboardCommand::Forget(forgotten) => {
                self.modes.set(Mode::Found, true);
                // The caller may have gone.
                let _ = forgotten.send(());
            }
            KeyboardCommand::Withdraw => self.withdraw(),
            KeyboardCommand::Asked => {
                self.asking = self.asking.saturating_sub(1);
                self.is_withdrawn &= self.asking > 0;
            }
            KeyboardCommand::Line(wish) => {
                self.wish = Some(wish);
                if self.is_withdrawn {
                    self.answer(Err(NoLine::Withdrawn));
                }
            }
            KeyboardCommand::Back => {
                self.is_lent = false;
                self.modes.lend(false);
                for ready in std::mem::take(&mut self.waiting) {
                    self.begin(ready);
                }
            }
        }
    }

    /// The question was answered elsewhere. A partly typed answer must not reach the next program.
    fn withdraw(&mut self) {
        if self.asking == 0 {
            return;
        }
        self.is_withdrawn = true;
        if self.wish.is_some() {
            self.begun.clear();
            self.modes.set(Mode::Found, true);
            self.answer(Err(NoLine::Withdrawn));
        }
    }

    /// Lets a caller ask. What was typed so far was typed before the question could be seen.
    fn begin(&self, ready: oneshot::Sender<()>) {
        self.modes.set(Mode::Found, true);
        // The caller may have gone.
        let _ = ready.send(());
    }

    /// Waits until there is something to read, or to do; returns whether there is something to read.
    fn wait(&mut self, reads: bool) -> bool {
        let input = io::stdin();
        let mut waited = vec![PollFd::new(&self.woken, PollFlags::IN)];
        if reads {
            waited.push(PollFd::new(&input, PollFlags::IN));
        }
        if poll(&mut waited, Some(&timespec(LOOK))).is_err() {
            return false;
        }
        let is_woken = !waited[0].revents().is_empty();
        let is_typed = waited.get(1).is_some_and(|it| !it.revents().is_empty());
        if is_woken {
            let mut nudges = [0; 64];
            // What is left of them wakes it again.
            let _ = self.woken.read(&mut nudges);
        }
        is_typed && !is_woken
    }

    /// Looks for Esc; other keys mean nothing here.
    fn read_keys(&mut self) {
        match read() {
            Ok(keys) if keys.is_empty() => self.is_gone = true,
            Ok(keys) if keys.iter().all(|key| *key == ESCAPE) => {
                if rest_of_key().is_empty() {
                    self.escape();
                }
            }
            Ok(_other) => {}
            Err(_gone) => self.is_gone = true,
        }
    }

    fn read_line(&mut self) {
        let keys = match read() {
            Ok(keys) => keys,
            Err(error) => return self.answer(Err(NoLine::Unreadable(error))),
        };
        // Ctrl+D ends the input, or the line that was begun.
        let ends = keys.is_empty();
        self.begun.extend(keys);
        match self.begun.last() {
            None => self.answer(Err(NoLine::End)),
            Some(&ESCAPE) => self.escape_in_line(),
            Some(last) if *last == b'\n' || ends => {
                let line = line_of(std::mem::take(&mut self.begun));
                self.answer(line);
            }
            Some(_) if self.begun.len() as u64 > LONGEST_LINE => {
                self.modes.set(Mode::Found, true);
                self.answer(Err(NoLine::Unusable("that line is too long")));
            }
            Some(_) => {}
        }
    }

    /// The line ended with Esc, alone or as the beginning of another key's sequence.
    fn escape_in_line(&mut self) {
        // The rest of a sequence is delivered only while the terminal does not wait for whole lines.
        self.modes.set(Mode::Keys, false);
        let rest = rest_of_key();
        if rest.is_empty() && self.listens {
            self.begun.pop();
            let begun = String::from_utf8_lossy(&self.begun).into_owned();
            if self.modes.shows_keys() {
                erase_echo();
            }
            self.escape();
            self.answer(Err(NoLine::Escape(begun)));
            return;
        }
        // Such a line is refused when it ends, with all that is in it.
        self.begun.extend(rest);
        if self.begun.ends_with(b"\n") {
            let line = line_of(std::mem::take(&mut self.begun));
            self.answer(line);
        }
    }

    /// Gives the line to the caller that waits for it.
    fn answer(&mut self, line: Result<String, NoLine>) {
        self.begun.clear();
        if let Some(wish) = self.wish.take() {
            // The caller may have gone.
            let _ = wish.send(line);
        }
    }

    /// Gives the terminal to the caller that has waited for Esc.
    fn escape(&mut self) {
        self.modes.set(Mode::Found, false);
        self.modes.lend(true);
        self.is_lent = self.heard.send(()).is_ok();
        self.modes.lend(self.is_lent);
    }
}

/// Removes what the terminal has shown of Esc, before anything else is written there.
fn erase_echo() {
    let mut screen = io::stderr().lock();
    // If it cannot be removed, it stays.
    let _ = screen
        .write_all(b"\x08\x08  \x08\x08")
        .and_then(|()| screen.flush());
}

/// What was typed; empty if the input has ended.
fn read() -> io::Result<Vec<u8>> {
    let mut keys = vec![0; 4096];
    loop {
        match rustix::io::read(io::stdin(), &mut keys[..]) {
            Ok(count) => {
                keys.truncate(count);
                return Ok(keys);
            }
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

/// What was typed with Esc, which then was not that key alone. Esc once more means the same, and is left out.
fn rest_of_key() -> Vec<u8> {
    let input = io::stdin();
    let mut rest = Vec::new();
    loop {
        let mut waited = [PollFd::new(&input, PollFlags::IN)];
        if !poll(&mut waited, Some(&timespec(REST))).is_ok_and(|count| count > 0) {
            break;
        }
        match read() {
            Ok(keys) if !keys.is_empty() => rest.extend(keys),
            Ok(_) | Err(_) => break,
        }
    }
    if rest.iter().all(|key| *key == ESCAPE) {
        rest.clear();
    }
    rest
}

fn timespec(duration: Duration) -> Timespec {
    Timespec {
        tv_sec: i64::try_from(duration.as_secs()).unwrap_or(i64::MAX),
        tv_nsec: duration.subsec_nanos().into(),
    }
}
