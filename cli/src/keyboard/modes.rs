//! How the terminal is set, and that it is given back as it was found.

use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use rustix::process::getpgrp;
use rustix::termios::{
    LocalModes, OptionalActions, QueueSelector, SpecialCodeIndex, Termios, tcflush, tcgetattr,
    tcgetpgrp, tcsetattr,
};

/// The byte of the key Esc.
pub(super) const ESCAPE: u8 = 0x1b;

/// The modes of the terminal that this process has set, if it has.
static SET: Mutex<Weak<Modes>> = Mutex::new(Weak::new());

/// What the terminal is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    /// As it was found: another program's, or no one's.
    Found,
    /// Each key is read at once and not shown; Ctrl+C is a signal all the same.
    Keys,
    /// Whole lines; Esc ends one too.
    Line,
}

/// The terminal of standard input.
pub(super) struct Modes {
    found: Termios,
    state: Mutex<KeyboardState>,
}

struct KeyboardState {
    mode: Mode,
    /// Whether it was given back for good.
    has_ended: bool,
    /// Whether a caller has it after Esc.
    is_lent: bool,
}

/// Restores the terminal, if this process has set it and is about to leave.
pub(crate) fn give_back() {
    let set = SET.lock().unwrap_or_else(PoisonError::into_inner).upgrade();
    if let Some(modes) = set {
        modes.end();
    }
}

impl Modes {
    /// The terminal as it is now.
    pub(super) fn found() -> io::Result<Arc<Self>> {
        let modes = Arc::new(Self {
            found: tcgetattr(io::stdin())?,
            state: Mutex::new(KeyboardState {
                mode: Mode::Found,
                has_ended: false,
                is_lent: false,
            }),
        });
        *SET.lock().unwrap_or_else(PoisonError::into_inner) = Arc::downgrade(&modes);
        Ok(modes)
    }

    /// Sets the mode. What was typed so far is kept, or with `forgets` discarded. Does nothing in the background, where
    /// a terminal stops a process that sets it; the next time is soon enough.
    pub(super) fn set(&self, mode: Mode, forgets: bool) {
        let mut state = self.state();
        if state.has_ended || (mode == state.mode && !forgets && self.is_still_in(mode)) {
            return;
        }
        if self.apply(mode, forgets) {
            state.mode = mode;
        }
    }

    /// Whether it shows what is typed.
    pub(super) fn shows_keys(&self) -> bool {
        self.found.local_modes.contains(LocalModes::ECHO)
    }

    /// A caller takes it after Esc, or has left it.
    pub(super) fn lend(&self, is_lent: bool) {
        self.state().is_lent = is_lent;
    }

    /// Whether a caller has it after Esc.
    pub(super) fn is_lent(&self) -> bool {
        self.state().is_lent
    }

    /// Does something while the terminal is as it was found; afterwards it is set again if needed.
    pub(super) fn given_back(&self, act: impl FnOnce()) {
        let mut state = self.state();
        if !state.has_ended && state.mode != Mode::Found && self.apply(Mode::Found, false) {
            state.mode = Mode::Found;
        }
        act();
    }

    fn state(&self) -> MutexGuard<'_, KeyboardState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Restores it for good. An unread line must not reach the next program.
    pub(super) fn end(&self) {
        let mut state = self.state();
        if !state.has_ended && state.mode != Mode::Found {
            let _applied = self.apply(Mode::Found, state.mode == Mode::Line);
        }
        state.has_ended = true;
    }

    /// Whether the terminal is still in this mode: a shell sets it anew for a job that comes back to the foreground.
    fn is_still_in(&self, mode: Mode) -> bool {
        mode == Mode::Found
            || tcgetattr(io::stdin()).is_ok_and(|now| now.local_modes == self.of(mode).local_modes)
    }

    fn apply(&self, mode: Mode, forgets: bool) -> bool {
        // Never wait for the output: a terminal that takes nothing must not hold up a process that leaves.
        let is_set = is_in_foreground()
            && tcsetattr(io::stdin(), OptionalActions::Now, &self.of(mode)).is_ok();
        if is_set && forgets {
            // A terminal that cannot be flushed can still be read.
            let _flushed = tcflush(io::stdin(), QueueSelector::IFlush);
        }
        is_set
    }

    fn of(&self, mode: Mode) -> Termios {
        let mut modes = self.found.clone();
        match mode {
            Mode::Found => {}
            Mode::Keys => {
                modes.local_modes -= LocalModes::ICANON | LocalModes::ECHO;
                modes.special_codes[SpecialCodeIndex::VMIN] = 1;
                modes.special_codes[SpecialCodeIndex::VTIME] = 0;
            }
            Mode::Line => {
                modes.special_codes[SpecialCodeIndex::VEOL] = ESCAPE;
                // Shown as `^[`, which can be taken away; the key itself would begin a sequence there.
                modes.local_modes |= LocalModes::ECHOCTL;
            }
        }
        modes
    }
}

/// Whether this process may read the terminal: one in the background would be stopped for it.
pub(super) fn is_in_foreground() -> bool {
    // A terminal that is not this session's own stops no process.
    tcgetpgrp(io::stdin()).map_or(true, |group| group == getpgrp())
}
