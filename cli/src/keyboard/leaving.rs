//! Ctrl+Z, which stops a process by itself: the terminal is restored before it does. The code that executes a run hears
//! the signals that end it, and the terminal is restored when the run ends.

use std::io;
use std::sync::{Arc, Weak};

use signal_hook::consts::SIGTSTP;
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;

use super::modes::Modes;

/// From now on Ctrl+Z does what it always does, after the terminal was restored. The screens suspend themselves.
///
/// # Errors
///
/// If signals cannot be listened for, or the system gives no thread.
pub(super) fn give_back_first(modes: &Arc<Modes>) -> io::Result<()> {
    let mut signals = Signals::new([SIGTSTP])?;
    let modes = Arc::downgrade(modes);
    std::thread::Builder::new()
        .name("leaving".to_owned())
        .spawn(move || {
            for _signal in signals.forever() {
                act(&modes);
            }
        })?;
    Ok(())
}

fn act(modes: &Weak<Modes>) {
    let acts = || {
        // It cannot fail for this one, and a process that stays goes on as before.
        let _ = emulate_default_handler(SIGTSTP);
    };
    match modes.upgrade() {
        Some(modes) if modes.is_lent() => {}
        Some(modes) => modes.given_back(acts),
        None => acts(),
    }
}
