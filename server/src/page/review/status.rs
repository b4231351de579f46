//! The status of an interrupt: shown above what it asks, and updated when it changes on every page that is open.

use axum::extract::State;
use axum::response::{Html, IntoResponse, Response};
use control::{Caller, Right, not_open};
use interrupts::life::{Family, Interrupt};
use jiff::{SignedDuration, Timestamp};
use maud::{Markup, html};
use serde::Deserialize;

use super::claiming::{claimed, claiming};
use crate::acting::interrupt_named;
use crate::app::App;
use crate::page::layout::{banner, refused, state, time};
use crate::page::quoted::{in_quotes, one_line};
use crate::page::visitor::Visitor;
use crate::parameters::{Parameters, Segment};
use crate::visible::visible;
use crate::wire::{kind_of, label};

/// The events of the feed after which the status is reloaded.
const TOLD: &str = "sse:interrupt.acknowledged, sse:interrupt.opened, sse:interrupt.claimed, sse:interrupt.released, sse:interrupt.held, sse:interrupt.updated, sse:interrupt.asked, sse:interrupt.taken_back, sse:interrupt.resolved, sse:interrupt.rerouted, sse:interrupt.expired, sse:interrupt.cancelled, sse:stream.reset, htmx:sseOpen from:closest [sse-connect]";

/// What the page that is open shows.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::page) struct OpenPage {
    /// Whether it can be decided there.
    open: bool,
}

/// The current status, alone.
pub(in crate::page) async fn status(
    State(app): State<App>,
    Visitor(caller): Visitor,
    Segment(id): Segment,
    Parameters(page): Parameters<OpenPage>,
) -> Response {
    match interrupt_named(&app, &id).await {
        Ok(interrupt) => {
            let now = app.now();
            let part = html! {
                (part(&interrupt, &caller, now, page.open))
                (meanwhile(&changed(&interrupt, page.open, now)))
            };
            Html(part.into_string()).into_response()
        }
        Err(problem) => refused(&problem, Some(&caller)),
    }
}

/// The status, which follows the feed until the interrupt has ended: a reviewer who writes an answer sees at once that
/// another has given one. Without scripts it shows the current state.
pub(super) fn followed(interrupt: &Interrupt, caller: &Caller, now: Timestamp) -> Markup {
    let is_open = not_open(interrupt, now).is_none();
    let part = part(interrupt, caller, now, is_open);
    if interrupt.state.is_final() {
        return part;
    }
    html! {
        div hx-ext="sse" sse-connect=(format!("/v1/events?run_id={}&topics=interrupt.*&named=1", interrupt.run)) {
            div id="standing" aria-live="polite" hx-get=(address(interrupt, is_open)) hx-trigger=(TOLD) { (part) }
        }
    }
}

fn address(interrupt: &Interrupt, is_open: bool) -> String {
    format!("/review/{}/standing?open={is_open}", interrupt.id)
}

fn part(interrupt: &Interrupt, caller: &Caller, now: Timestamp, is_open: bool) -> Markup {
    let may = Right::Decide.is_of(caller.actor.role);
    let review = interrupt.review.as_ref();
    let claim = review.and_then(|review| review.claim_at(now));
    html! {
        (facts(interrupt, now))
        (askings(interrupt, now))
        @if not_open(interrupt, now).is_none() { (claimed(interrupt, caller, now)) }
        @if may && not_open(interrupt, now).is_none() { (claiming(interrupt, caller, now)) }
        @if let Some(holder) = interrupt.held_by {
            p.banner { "Another interrupt goes first: " a href=(format!("/review/{holder}")) { "decide that one" } ". Then this one is shown again." }
        }
        // No event reports that a claim has run out. After the end of the interrupt the claim does not matter.
        @if let Some(claim) = claim.filter(|_claim| !interrupt.state.is_final()) {
            div hx-get=(address(interrupt, is_open)) hx-target="#standing" hx-trigger=(after(claim.until.duration_since(now))) {}
        }
    }
}

/// What has happened since the page was read, where the buttons are: the status above replaces it.
pub(super) fn meanwhile(said: &Markup) -> Markup {
    html! { div id="meanwhile" role="status" hx-swap-oob="true" { (said) } }
}

/// When something that changes by itself is reloaded.
pub(in crate::page) fn after(rest: SignedDuration) -> String {
    format!("load delay:{}s", rest.as_secs().max(0) + 1)
}

/// What the open page cannot show by itself: that there is nothing left to decide, or that there is now.
fn changed(interrupt: &Interrupt, was_open: bool, now: Timestamp) -> Markup {
    let again = format!("/review/{}", interrupt.id);
    html! {
        @match (was_open, not_open(interrupt, now)) {
            (true, Some(refusal)) => {
                (banner(&refusal.into()))
                p data-testid="over" { a href=(again) { "See how it ended" } ". What you have filled in stays here until then; it cannot be sent any more." }
            }
            (false, None) => p.banner { "It waits for a person now: " a href=(again) { "read it again" } "." },
            _ => {}
        }
    }
}

/// Who requests a stop, if there are several, or if one has taken it back.
fn askings(interrupt: &Interrupt, now: Timestamp) -> Markup {
    let all = interrupt.askings();
    html! {
        @if all.len() > 1 || all.iter().any(|asking| !asking.is_in_force()) {
            ul.hint aria-label="Requests for this stop" data-testid="askings" { @for asking in all.iter() {
                li {
                    (visible(asking.by.name.as_str())) " (" (label(asking.source.name())) ") " (time(asking.at, now)) ": " (in_quotes(&one_line(&asking.reason)))
                    @if let Some(taken) = &asking.withdrawn { ", withdrawn by " (visible(taken.by.name.as_str())) " " (time(taken.at, now)) }
                }
            } }
        }
    }
}

/// The status, whose it is, and since when.
fn facts(interrupt: &Interrupt, now: Timestamp) -> Markup {
    let is_question = interrupt.family() == Family::Question;
    html! {
        p.facts data-testid="review" data-state=(interrupt.state.name()) {
            (state(interrupt.state.name()))
            @if !is_question { span { "stopped by " (visible(interrupt.requested_by.name.as_str())) } }
            span { (label(kind_of(interrupt))) }
            span { (time(interrupt.requested_at, now)) }
            @if let Some(deadline) = interrupt.due_at() { span { "its time ends " (time(deadline, now)) } }
        }
    }
}
