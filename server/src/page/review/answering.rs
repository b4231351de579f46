//! The answer to a question: what can be chosen, confirmed, written and decided.

use control::{Caller, target_of};
use interrupt_router::{AnswerForm, ConfirmationItem, InterruptDetails};
use interrupts::life::{Claim, Family, Interrupt, Verdict};
use maud::{Markup, html};
use serde_json::Value;

use super::status::meanwhile;
use super::{CONFIRM, bound_to};
use crate::body::FormFields;
use crate::page::quoted::in_quotes;
use crate::page::{form, rules};
use crate::visible::visible;
use crate::wire::{kind_of, label};

/// The possible decisions, with their fields. While another reviewer has claimed it, the form can be filled in but not sent.
pub(super) fn answer_form(
    interrupt: &Interrupt,
    (details, request): (&InterruptDetails, Option<&Value>),
    caller: &Caller,
    claim: Option<&Claim>,
    filled: Option<&FormFields>,
) -> Markup {
    let asks = interrupt.family() == Family::Question;
    let text = filled
        .and_then(|filled| filled.first("text"))
        .unwrap_or_default();
    html! {
        form.stack.deciding method="post" action=(format!("/review/{}", interrupt.id)) id="decision" {
            (bound_to(interrupt))
            @if asks {
                @if !details.choices.is_empty() || !details.confirmation_items.is_empty() {
                    div.asked tabindex="0" role="group" aria-label="What the agent offers" {
                        (choices(details, filled))
                        (confirmations(&details.confirmation_items, filled))
                    }
                }
            }
            label for="text" { (words_label(interrupt, details)) }
            textarea id="text" name="text" rows="4" { (text) }
            (rules::remember(interrupt, caller, filled))
            (meanwhile(&html! {}))
            (buttons(interrupt, details, claim))
            (elsewhere(interrupt, claim, filled))
            @if asks && allows(interrupt, Verdict::Edit) && let Some(schema) = request {
                @let is_input = kind_of(interrupt) == "human_input";
                details open[is_input || filled.is_some_and(|filled| filled.first("decision") == Some("edit"))] {
                    @if is_input {
                        summary { "Fill in what the tool asks for" }
                    } @else {
                        summary { "Fill in the agent's request yourself" }
                        p.hint { "No model is asked then." }
                    }
                    (form::fields(schema, filled))
                    button type="submit" name="decision" value="edit" disabled[claim.is_some()] {
                        @if is_input { "Send this" } @else { "Send this request" }
                    }
                }
            }
        }
    }
}

/// Whether this verdict is possible.
pub(super) fn allows(interrupt: &Interrupt, verdict: Verdict) -> bool {
    interrupt.verdicts().any(|allowed| allowed == verdict)
}

/// Sends the answer to another agent; nothing if there is no other.
fn elsewhere(interrupt: &Interrupt, claim: Option<&Claim>, filled: Option<&FormFields>) -> Markup {
    let others = interrupt
        .routes
        .iter()
        .filter(|route| *route != target_of(interrupt));
    let others: Vec<_> = others.collect();
    let chosen = filled.and_then(|filled| filled.first("reroute_to"));
    html! {
        @if allows(interrupt, Verdict::Reroute) && !others.is_empty() {
            details.panel open[filled.is_some_and(|filled| filled.first("decision") == Some("reroute"))] {
                summary { "Send it elsewhere" }
                p.hint { "The answer goes to the agent that you choose instead, with the choices and words above." }
                p.buttons {
                    label for="reroute_to" { "To" }
                    select id="reroute_to" name="reroute_to" {
                        @for route in others {
                            option value=(route.as_str()) selected[chosen == Some(route.as_str())] { (label(route.as_str())) }
                        }
                    }
                    button.quiet type="submit" name="decision" value="reroute" disabled[claim.is_some()] { "Reroute" }
                }
            }
        }
    }
}

/// What one button decides, its name, and what it means; in the order of how often it is wanted.
type Button = (Verdict, &'static str, &'static str);

const OF_A_QUESTION: [Button; 5] = [
    (
        Verdict::Respond,
        "Answer",
        "the agent gets what is chosen, confirmed and written here",
    ),
    (
        Verdict::Approve,
        "Approve",
        "it may do as it proposes, with what is confirmed above",
    ),
    (
        Verdict::Reject,
        "Reject",
        "it is told not to do what it asked for, and goes on",
    ),
    (
        Verdict::Ignore,
        "Go on without an answer",
        "it decides by itself",
    ),
    (
        Verdict::Cancel,
        "Cancel",
        "it is told to drop the matter, without side effects",
    ),
];

const OF_YES_OR_NO: [Button; 4] = [
    (Verdict::Approve, "Yes", "it may do as it proposes"),
    (
        Verdict::Reject,
        "No",
        "nothing of what it asked about is done",
    ),
    OF_A_QUESTION[3],
    OF_A_QUESTION[4],
];

const OF_A_STOP: [Button; 3] = [
    (
        Verdict::Resume,
        "Resume unchanged",
        "the run goes on as if nothing had been",
    ),
    (
        Verdict::Respond,
        "Resume with this input",
        "the agent reads the input above first",
    ),
    (
        Verdict::Cancel,
        "Cancel",
        "the agent is told to drop the matter, without side effects",
    ),
];

/// What is written in the field for words.
fn words_label(interrupt: &Interrupt, details: &InterruptDetails) -> &'static str {
    match (interrupt.family(), details.form()) {
        (Family::Stop, _) => "New input for the agent (may be empty)",
        (Family::Question, Some(AnswerForm::Words)) => "In your own words",
        (
            Family::Question,
            Some(AnswerForm::OneOf | AnswerForm::AnyOf | AnswerForm::YesOrNo) | None,
        ) => "In your own words (may be empty)",
    }
}

fn buttons(interrupt: &Interrupt, details: &InterruptDetails, claim: Option<&Claim>) -> Markup {
    let named: &[Button] = match (interrupt.family(), details.form()) {
        (Family::Question, Some(AnswerForm::YesOrNo)) => &OF_YES_OR_NO,
        (
            Family::Question,
            Some(AnswerForm::OneOf | AnswerForm::AnyOf | AnswerForm::Words) | None,
        ) => &OF_A_QUESTION,
        (Family::Stop, _) => &OF_A_STOP,
    };
    let allowed = || {
        named
            .iter()
            .filter(|(verdict, ..)| allows(interrupt, *verdict))
    };
    html! {
        p.buttons.decide role="group" aria-label="Decide" {
            @for (verdict, name, _) in allowed() {
                button.danger[matches!(verdict, Verdict::Reject | Verdict::Cancel)] type="submit" name="decision" value=(verdict.name()) data-testid=(verdict.name()) disabled[claim.is_some()] { (name) }
            }
        }
        details { summary { "What each of these does" }
            dl.meanings { @for (_, name, means) in allowed() { dt { (name) } dd { (means) } } }
        }
    }
}

fn choices(details: &InterruptDetails, filled: Option<&FormFields>) -> Markup {
    let (legend, sort) = match details.form() {
        Some(AnswerForm::OneOf) => ("Choose one", "radio"),
        Some(AnswerForm::AnyOf | AnswerForm::Words | AnswerForm::YesOrNo) | None => {
            ("Choose any", "checkbox")
        }
    };
    html! {
        @if !details.choices.is_empty() {
            fieldset { legend { (legend) }
                @for (number, choice) in details.choices.iter().enumerate() {
                    @let id = format!("choice-{number}");
                    @let chosen = filled.is_some_and(|filled| filled.all("choice").any(|value| value == choice.value));
                    p.choice {
                        input type=(sort) id=(id) name="choice" value=(choice.value) checked[chosen];
                        label for=(id) { strong { (visible(&choice.label)) } " " span { (visible(&choice.description)) } }
                    }
                }
            }
        }
    }
}

fn confirmations(items: &[ConfirmationItem], filled: Option<&FormFields>) -> Markup {
    html! {
        @for (number, item) in items.iter().enumerate() {
            @let name = format!("{CONFIRM}{}", item.id);
            @let said = filled.and_then(|filled| filled.first(&name));
            @let (yes, no) = (said == Some("yes"), said == Some("no"));
            fieldset { legend { "The agent wants to know: " (in_quotes(&item.prompt)) }
                @if let Some(impact) = &item.impact_if_no { p.hint { "If not: " (visible(impact)) } }
                @if let Some(suggested) = item.default_value {
                    p.hint { "The agent suggests " @if suggested { "yes" } @else { "no" } ". Nothing is said until you say it." }
                }
                p.choice {
                    input type="radio" id=(format!("confirm-{number}-yes")) name=(name) value="yes" checked[yes];
                    label for=(format!("confirm-{number}-yes")) { "Yes" }
                }
                p.choice {
                    input type="radio" id=(format!("confirm-{number}-no")) name=(name) value="no" checked[no];
                    label for=(format!("confirm-{number}-no")) { "No" }
                }
            }
        }
    }
}
