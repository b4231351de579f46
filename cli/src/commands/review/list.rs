//! The list of what waits for a person.

use interrupts::life::Interrupt;
use jiff::Timestamp;

use crate::asked;
use crate::palette::{Palette, Tone};
use crate::table::Table;
use crate::time::age;
use crate::visible::visible_line;

/// The list for people.
pub(super) fn text(open: &[Interrupt], palette: Palette) -> String {
    if open.is_empty() {
        return "Nothing waits for a person.\n".to_owned();
    }
    let now = Timestamp::now();
    let mut table = Table::new(&["INTERRUPT", "TYPE", "WAITS", "EXPIRES", "AGENT", "ASKS"]);
    for interrupt in open {
        let expires = interrupt.deadline.map(|deadline| {
            if deadline > now {
                format!("in {}", age(now, deadline))
            } else {
                "now".to_owned()
            }
        });
        let held = interrupt
            .held_by
            .map(|by| format!("held by {by} · "))
            .unwrap_or_default();
        table.row(vec![
            (Tone::Strong, interrupt.id.to_string()),
            (Tone::Plain, interrupt.interrupt_type.to_string()),
            (Tone::Plain, age(interrupt.requested_at, now)),
            (Tone::Waiting, expires.unwrap_or_else(|| "never".to_owned())),
            (Tone::Route, interrupt.node.to_string()),
            (
                Tone::Plain,
                format!("{held}{}", visible_line(&asked::reason(interrupt))),
            ),
        ]);
    }
    format!(
        "{}\nDecide with: irq review INTERRUPT\n",
        table.text(palette)
    )
}
