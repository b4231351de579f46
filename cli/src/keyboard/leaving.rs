//! The signals that end or stop a process by themselves: the terminal is given back before they do.

use std::io;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use signal_hook::consts::{SIGHUP, SIGQUIT, SIGTSTP};
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;

use super::modes::Modes;

/// How long whoever has the terminal after Esc may take to leave it.
const PATIENCE: Duration = Duration::from_secs(5);
/// How often is looked whether he has.
const LOOK: Duration = Duration::from_millis(20);

/// From now on Ctrl+Z, Ctrl+\ and the end of the terminal do what they always do, once the terminal is as it was
/// found. What the screens have of it they give back themselves. What this process was started to ignore, as by
/// `trap '' HUP`, it goes on to ignore.
///
/// # Errors
///
/// Where the system lets nobody hear of signals, or gives no thread.
pub(super) fn give_back_first(modes: &Arc<Modes>) -> io::Result<()> {
    let ignored = ignored();
    let heard = [SIGHUP, SIGQUIT, SIGTSTP].into_iter();
    let mut signals = Signals::new(heard.filter(|signal| !is_in(ignored, *signal)))?;
    let modes = Arc::downgrade(modes);
    std::thread::Builder::new()
        .name("leaving".to_owned())
        .spawn(move || {
            for signal in signals.forever() {
                act(&modes, signal);
            }
        })?;
    Ok(())
}

fn act(modes: &Weak<Modes>, signal: i32) {
    let modes = modes.upgrade();
    if let Some(modes) = &modes {
        // The screens put themselves aside.
        if signal == SIGTSTP && modes.is_lent() {
            return;
        }
        let since = Instant::now();
        while modes.is_lent() && since.elapsed() < PATIENCE {
            std::thread::sleep(LOOK);
        }
    }
    let acts = || {
        // It cannot fail for these three, and a process that stays goes on as before.
        let _ = emulate_default_handler(signal);
    };
    match modes {
        Some(modes) => modes.given_back(acts),
        None => acts(),
    }
}

/// The signals that this process was started to ignore, a bit for each; none where the system does not say.
fn ignored() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
        .unwrap_or(0)
}

fn is_in(mask: u64, signal: i32) -> bool {
    // The first bit is signal 1 (proc(5)).
    mask >> (signal - 1) & 1 == 1
}
