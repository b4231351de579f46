//! Who asks for a stop, in words.

use interrupts::life::{Asking, Interrupt};

use crate::time::instant;
use crate::visible::visible_line;

/// One line for each asking if there are several to tell apart, or one was taken back; none otherwise.
pub(crate) fn lines(interrupt: &Interrupt) -> Vec<String> {
    let askings = interrupt.askings();
    if let [only] = &*askings
        && only.is_in_force()
    {
        return Vec::new();
    }
    askings
        .iter()
        .map(|asking| line(interrupt, asking))
        .collect()
}

/// One asking: its id, who, how, when and why.
fn line(interrupt: &Interrupt, asking: &Asking) -> String {
    let back = asking.withdrawn.as_ref().map_or_else(String::new, |taken| {
        format!(" (withdrawn by {}, {})", taken.by.name, instant(taken.at))
    });
    format!(
        "{} {}, {}{back}: {}",
        interrupt.asking_id(asking.number),
        who(asking),
        instant(asking.at),
        visible_line(&asking.reason)
    )
}

/// Who asks, in which role, and how hard.
fn who(asking: &Asking) -> String {
    use interrupt_router::{StopMode, StopSource};
    let source = match asking.source {
        StopSource::User => "a person",
        StopSource::Programmatic => "a program",
        StopSource::System => "the system",
    };
    let mode = match asking.mode {
        StopMode::Graceful => "",
        StopMode::Immediate => ", immediately",
    };
    format!("{} ({source}{mode})", asking.by.name)
}

/// Who still asks for a stop, in one line: `None` if no one does.
pub(crate) fn still(interrupt: &Interrupt) -> Option<String> {
    let askings = interrupt.askings();
    let names: Vec<&str> = askings
        .iter()
        .filter(|asking| asking.is_in_force())
        .map(|asking| asking.by.name.as_str())
        .collect();
    (!names.is_empty()).then(|| names.join(", "))
}
