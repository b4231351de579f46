//! Words of agents and of other people: marked with their name, and complete however long they are.
//!
//! Headings contain only our words. The words of others are quoted below, with their name.

use control::reason_of;
use interrupts::life::{Family, Interrupt, Role};
use journal::brief::in_brief;
use journal::tool::{ToolQuestion, ToolQuestionContent, ToolQuestionKind};
use maud::{Markup, html};

use crate::visible::visible;
use crate::wire::label;

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

/// What is said, in brief: of a call the call itself, of anything else the words, marked as said.
pub(super) fn said(interrupt: &Interrupt) -> Markup {
    match ToolQuestionContent::of(&interrupt.content) {
        Some(about) if about.tool_call.asks != ToolQuestionKind::Input => {
            let call = &about.tool_call;
            html! {
                code { (visible(&call.tool)) " " (visible(&in_brief(&ToolQuestion::line(&call.arguments)))) }
                @if call.is_excerpt { " (it is longer than a question holds)" }
            }
        }
        Some(_) | None => in_quotes(&one_line(&reason_of(interrupt))),
    }
}

/// Words of others within ours. No `q`: in some browsers clicks on a quoted link miss.
pub(super) fn in_quotes(text: &str) -> Markup {
    html! { "“" (visible(text)) "”" }
}

/// Words of others, complete and below the name of their author. However long they are, what follows stays in reach.
pub(super) fn quoted(author: &Markup, text: &str) -> Markup {
    html! {
        @if !text.trim().is_empty() {
            figure.others data-testid="quoted" {
                figcaption { (author) " writes" (length(text)) ":" }
                blockquote.text tabindex="0" { (visible(text)) }
            }
        }
    }
}

/// The agent that an interrupt is of, as an author.
pub(super) fn agent(interrupt: &Interrupt) -> Markup {
    let asker = &interrupt.requested_by;
    let name = match asker.role {
        Role::Requester => asker.name.as_str(),
        Role::Observer
        | Role::Worker
        | Role::Reviewer
        | Role::Supervisor
        | Role::Operator
        | Role::System => interrupt.node.as_str(),
    };
    html! { "The agent " strong { (visible(name)) } }
}

/// The actor that asked for an interrupt, as an author; `None` if it was the agent itself.
pub(super) fn other(interrupt: &Interrupt) -> Option<Markup> {
    let asker = &interrupt.requested_by;
    let whose = match asker.role {
        Role::Requester => return None,
        Role::Worker => "The program ",
        Role::System => "The run's own ",
        Role::Observer | Role::Reviewer | Role::Operator => "",
        Role::Supervisor => "The supervisor ",
    };
    Some(html! { (whose) strong { (visible(asker.name.as_str())) } })
}

fn length(text: &str) -> Markup {
    let count = text.chars().count();
    html! { @if count > LONG { " (" (count) " characters)" } }
}

/// A text in brief; a blank one still needs something to click on.
pub(super) fn one_line(text: &str) -> String {
    let short = in_brief(text);
    if short.is_empty() {
        "(no reason given)".to_owned()
    } else {
        short
    }
}
