//! What an interrupt is about, in full, and who says it.
//!
//! Three frames, with one author each: what Interrupt Router has checked, what the agent writes, what a person writes.
//! Text of an agent is never in the first: what it copies is shown as its words.

use control::{QuestionContent, reason_of};
use interrupts::life::Interrupt;
use journal::tool::{ToolQuestion, ToolQuestionContent, ToolQuestionKind};
use maud::{Markup, html};
use serde_json::Value;

use super::quoted::{agent, other, quoted};
use crate::visible::visible;
use crate::wire::label;

/// All of it: whatever is decided about stands here, and nothing is cut.
pub(super) fn whole(interrupt: &Interrupt, question: &QuestionContent) -> Markup {
    match ToolQuestionContent::of(&interrupt.content) {
        Some(about) => call(interrupt, &about),
        None => words(interrupt, question),
    }
}

/// A call of a tool: all of it is known to the router, but for the words of the tool and of its server.
fn call(interrupt: &Interrupt, about: &ToolQuestionContent) -> Markup {
    let call = &about.tool_call;
    let tool = html! { code { (visible(&call.tool)) } };
    let context = &about.context_for_decision;
    html! {
        section.checked data-testid="checked" aria-label="Checked by Interrupt Router" {
            h2 { "Checked by Interrupt Router" }
            p {
                @match call.asks {
                    ToolQuestionKind::Permission => { (agent(interrupt)) " asks to make this one call of " (tool) ", once." },
                    ToolQuestionKind::UnknownOutcome => {
                        (agent(interrupt)) " made this call of " (tool) ". Its process died meanwhile, so what came of it is not known: it may have had its effect, in part or whole."
                    },
                    ToolQuestionKind::Input => { "The server of " (tool) " asks for input, during this call by " (agent(interrupt)) "." },
                }
            }
            @if let Some(before) = &call.allowed_before { p.banner data-testid="again" { (visible(&before.sentence())) } }
            (arguments(&call.arguments))
            @if call.is_excerpt {
                p.hint { "It is longer than a question holds. Of a long text the beginning is shown, and how long all of it is." }
            }
            @if let Some(folder) = &call.folder { dl { dt { "Folder" } dd { code { (visible(folder)) } } } }
            @if let Some(preview) = &call.preview {
                h3 { "What it would change" }
                pre tabindex="0" { (visible(preview)) }
            }
            @if let Some(digest) = &call.digest { p.hint { "Digest of this call: " code { (digest) } } }
            // Rows of older versions have the folder in these words alone.
            @if call.asks == ToolQuestionKind::Permission && call.folder.is_none() { pre tabindex="0" { (visible(context)) } }
        }
        @if call.asks == ToolQuestionKind::Input { (quoted(&html! { "The server of " (tool) }, context)) }
        (quoted(&html! { "About itself the tool " (tool) }, &call.description))
    }
}

/// Each argument under its name, as it is.
fn arguments(arguments: &Value) -> Markup {
    html! {
        @match arguments.as_object() {
            Some(members) if members.is_empty() => p { "It has no arguments." },
            Some(members) => dl.call data-testid="arguments" {
                @for (name, value) in members {
                    dt { code { (visible(name)) } }
                    dd { pre tabindex="0" { @match value.as_str() { Some(text) => (visible(text)), None => (visible(&pretty(value))) } } }
                }
            },
            None => pre tabindex="0" data-testid="arguments" { (visible(&ToolQuestion::line(arguments))) },
        }
    }
}

/// The words of a question or a stop, each below its author.
fn words(interrupt: &Interrupt, question: &QuestionContent) -> Markup {
    let reason = reason_of(interrupt);
    let other = other(interrupt);
    let author = agent(interrupt);
    let agents_own =
        Some(&*question.details.reason).filter(|own| *own != interrupt.reason && *own != reason);
    html! {
        @match &other {
            Some(other) => { (quoted(other, &reason)) @if let Some(own) = agents_own { (quoted(&author, own)) } },
            None => (quoted(&author, &reason)),
        }
        @if !question.details.context_for_decision.is_empty() {
            section aria-label="What one needs to know" {
                h2 { "What one needs to know" }
                (quoted(&author, &question.details.context_for_decision))
            }
        }
        @if question.own_fields.values().any(|value| !is_blank(value)) {
            section aria-label="What the agent adds" {
                h2 { "What the agent adds" }
                figure.others {
                    figcaption { (author) " writes:" }
                    dl tabindex="0" {
                        @for (name, value) in &question.own_fields {
                            @if !is_blank(value) {
                                dt { (visible(&words_of(name))) }
                                dd { (shown_value(value)) }
                            }
                        }
                    }
                }
            }
        }
    }
}

pub(super) fn pretty(value: &Value) -> String {
    serde_json::to_string_pretty(value).unwrap_or_default()
}

/// The name of a field, as words: `coverageGoals` are coverage goals.
pub(super) fn words_of(name: &str) -> String {
    let mut words = String::with_capacity(name.len() + 4);
    for letter in name.chars() {
        if letter.is_uppercase() {
            words.push(' ');
        }
        words.push(letter);
    }
    label(words.trim())
}

/// A text as running text, texts as a list, any other value as it is.
fn shown_value(value: &Value) -> Markup {
    let texts = value
        .as_array()
        .map(|items| items.iter().map(Value::as_str).collect::<Option<Vec<_>>>());
    html! {
        @match (value.as_str(), texts) {
            (Some(text), _) => div.text { (visible(text)) },
            (None, Some(Some(texts))) => ul.text { @for text in texts { li { (visible(text)) } } },
            (None, _) => pre tabindex="0" { (visible(&pretty(value))) },
        }
    }
}

fn is_blank(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Bool(_) | Value::Number(_) | Value::Object(_) => false,
    }
}
