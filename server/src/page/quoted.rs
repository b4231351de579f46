//! Words of agents and of other people: marked with their name, and complete however long they are.
//!
//! Headings contain only our words. The words of others are quoted below, with their name.

use control::reason_of;
use interrupts::life::{Family, Interrupt, Role};
use maud::{Markup, html};

use crate::visible::visible;
use crate::wire::label;

/// The most characters of an excerpt.
const EXCERPT: usize = 140;

/// From how many characters on a text's length is shown.
const LONG: usize = 2_000;

/// What an interrupt is, in our words: its own words are in none of our headings.
pub(super) fn headline(interrupt: &Interrupt) -> String {
    let who = label(interrupt.kind.as_str());
    match interrupt.family() {
        Family::Question => format!("{who} asks"),
        Family::Stop => format!("{who} is stopped"),
    }
}

/// An interrupt in a list: what it is, and the beginning of what is said.
pub(super) fn asks(interrupt: &Interrupt) -> Markup {
    html! { (visible(&headline(interrupt))) ": " (said(interrupt)) }
}

/// The beginning of what is said, marked as said.
pub(super) fn said(interrupt: &Interrupt) -> Markup {
    in_quotes(&one_line(&reason_of(interrupt)))
}

/// Words of others within ours. No `q`: in some browsers clicks on a quoted link miss.
pub(super) fn in_quotes(text: &str) -> Markup {
    html! { "“" (visible(text)) "”" }
}

/// The words of the asker, complete and below the asker's name. However long they are, what follows stays in reach.
pub(super) fn quoted(interrupt: &Interrupt, text: &str) -> Markup {
    html! {
        @if !text.trim().is_empty() {
            figure.others data-testid="quoted" {
                figcaption { (whose(interrupt)) " writes" (length(text)) ":" }
                blockquote.text tabindex="0" { (visible(text)) }
            }
        }
    }
}

/// Whose words they are.
pub(super) fn whose(interrupt: &Interrupt) -> Markup {
    let asker = &interrupt.requested_by;
    html! {
        @if asker.role == Role::Requester { "The agent " }
        strong { (visible(asker.name.as_str())) }
    }
}

fn length(text: &str) -> Markup {
    let count = text.chars().count();
    html! { @if count > LONG { " (" (count) " characters)" } }
}

/// The beginning of a text on one line, with its true length if it is cut; a blank one still needs something to click
/// on.
pub(super) fn one_line(text: &str) -> String {
    let line: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let short: String = line.chars().take(EXCERPT).collect();
    match (short.is_empty(), short.len() < line.len()) {
        (true, _) => "(no reason given)".to_owned(),
        (false, true) => format!("{short}… ({} characters)", text.chars().count()),
        (false, false) => short,
    }
}
