//! The list of what waits for a person.

use std::io::{self, IsTerminal};

use interrupts::life::Interrupt;
use jiff::Timestamp;

use crate::address::full;
use crate::advice::advised;
use crate::layout::{columns_of, cut, screen_size};
use crate::palette::{Palette, Tone};
use crate::question;
use crate::time::age;
use crate::visible::visible_line;

/// The list for people: two lines for each, which fit a screen.
pub(super) fn text(open: &[Vec<Interrupt>], palette: Palette) -> String {
    if open.is_empty() {
        return "Nothing waits for a person.\n".to_owned();
    }
    let now = Timestamp::now();
    let columns = io::stdout().is_terminal().then(|| screen_size().0);
    let mut text = String::new();
    for batch in open {
        if let [first, _, ..] = batch.as_slice() {
            let together = format!(
                "{} questions of {}, to be answered together\n",
                batch.len(),
                first.run
            );
            text.push_str(&palette.paint(Tone::Waiting, &together));
        }
        for interrupt in batch {
            text.push_str(&lines(interrupt, now, columns, palette));
        }
    }
    text + &advised("\nDecide with: irq review INTERRUPT\n")
}

fn lines(
    interrupt: &Interrupt,
    now: Timestamp,
    columns: Option<usize>,
    palette: Palette,
) -> String {
    let head = format!("{}  {}", interrupt.id, facts(interrupt, now));
    let head = palette.paint(Tone::Strong, &head);
    let from = format!("    {}", full(interrupt.run, &interrupt.node));
    let from = palette.paint(Tone::Route, &from);
    let room = columns.map_or(usize::MAX, |columns| columns - columns_of("    "));
    let asks = cut(&visible_line(&question::reason(interrupt)), room);
    format!("{head}\n{from}\n    {asks}\n")
}

fn facts(interrupt: &Interrupt, now: Timestamp) -> String {
    let mut facts = vec![
        interrupt.interrupt_type.to_string(),
        format!("waits {}", age(interrupt.requested_at, now)),
    ];
    match interrupt.due_at() {
        Some(deadline) if deadline > now => {
            facts.push(format!("expires in {}", age(now, deadline)));
        }
        Some(_past) => facts.push("expires now".to_owned()),
        None => {}
    }
    if let Some(by) = interrupt.held_by {
        facts.push(format!("held by {by}"));
    }
    facts.join(" · ")
}
