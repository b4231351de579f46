//! Claiming a question, so that others see that a reviewer looks at it, and that it is not theirs to decide meanwhile.

use axum::extract::State;
use axum::response::{IntoResponse, Redirect, Response};
use control::{Caller, ChangeClaim};
use interrupts::life::{Claim, Interrupt};
use jiff::Timestamp;
use maud::{Markup, html};

use super::{ReviewContext, body_with};
use crate::acting::interrupt_named;
use crate::app::App;
use crate::body::FormFields;
use crate::page::layout::{NavigationItem, again, page, refused};
use crate::page::quoted::headline;
use crate::page::visitor::Visitor;
use crate::parameters::Segment;
use crate::problem::Problem;
use crate::visible::visible;

/// The fields of the button itself.
const OWN: [&str; 2] = ["version", "claim"];

/// The claim of another reviewer: while it lasts, only that reviewer decides.
pub(in crate::page) fn claim_of_another<'interrupt>(
    interrupt: &'interrupt Interrupt,
    caller: &Caller,
    now: Timestamp,
) -> Option<&'interrupt Claim> {
    let claim = interrupt.review.as_ref()?.claim_at(now)?;
    (claim.by != caller.actor.name).then_some(claim)
}

/// Who has claimed it, and until when no one else decides it; nothing if no one has.
pub(in crate::page) fn claimed(interrupt: &Interrupt, caller: &Caller, now: Timestamp) -> Markup {
    let claim = interrupt.review.as_ref();
    let claim = claim.and_then(|review| review.claim_at(now));
    html! {
        @if let Some(claim) = claim {
            @if claim.by == caller.actor.name {
                p.wait data-testid="own-claim" { "You have claimed it until " (clock(claim.until, now)) ". No one else can decide it until then." }
            } @else {
                p.wait data-testid="claimed" {
                    strong { (visible(claim.by.as_str())) " has claimed it" } " until " (clock(claim.until, now))
                    ". No one else can decide it until then, or until it is given back."
                }
            }
        }
    }
}

/// A future time as clocks show it: it stays true while the page is open.
fn clock(at: Timestamp, now: Timestamp) -> Markup {
    let is_soon = at.duration_since(now).as_hours() < 12;
    let form = if is_soon {
        "%H:%M:%S UTC"
    } else {
        "%F %H:%M UTC"
    };
    html! { time datetime=(at.to_string()) title=(at.to_string()) { (at.strftime(form)) } }
}

/// The button that shows others that the reviewer looks at it, or no longer does.
pub(super) fn claiming(interrupt: &Interrupt, caller: &Caller, now: Timestamp) -> Markup {
    let review = interrupt.review.as_ref();
    let claim = review.and_then(|review| review.claim_at(now));
    let is_own = claim.is_some_and(|claim| claim.by == caller.actor.name);
    html! {
        @if review.is_some() && (claim.is_none() || is_own) {
            form method="post" action=(format!("/review/{}/claim", interrupt.id)) {
                input type="hidden" name="version" value=(interrupt.version);
                @if is_own { button.quiet type="submit" name="claim" value="no" { "Give it back" } }
                @else {
                    button.quiet type="submit" name="claim" value="yes" aria-describedby="claim-hint" { "Claim it" }
                    " " span.hint id="claim-hint" { "others see that you look at it, and cannot decide it for a few minutes" }
                }
            }
        }
    }
}

/// Back to the review, from the address of its button.
pub(in crate::page) async fn look(
    State(app): State<App>,
    Visitor(caller): Visitor,
    Segment(id): Segment,
) -> Response {
    match interrupt_named(&app, &id).await {
        Ok(interrupt) => Redirect::to(&format!("/review/{}", interrupt.id)).into_response(),
        Err(problem) => refused(&problem, Some(&caller)),
    }
}

/// Claims it, or releases it.
pub(in crate::page) async fn claim(
    State(app): State<App>,
    Visitor(caller): Visitor,
    Segment(id): Segment,
    fields: FormFields,
) -> Response {
    let interrupt = match interrupt_named(&app, &id).await {
        Ok(interrupt) => interrupt,
        Err(problem) => return refused(&problem, Some(&caller)),
    };
    let version = fields.first("version").and_then(|text| text.parse().ok());
    let takes = fields.first("claim") != Some("no");
    let back = format!("/review/{}", interrupt.id);
    let command = ChangeClaim {
        interrupt: interrupt.id,
        version,
        lasting: takes.then_some(app.config.limits.claim),
    };
    let claimed = app.carry_out(&caller, command).await.map(|_changed| ());
    // The script of the page sends the unfinished text, so that it is not lost.
    let is_written = fields.0.iter().any(|(name, _)| !OWN.contains(&&**name));
    match (claimed, is_written) {
        (claimed, true) => written(&app, &caller, &id, claimed.err(), &fields).await,
        (Ok(()), false) => Redirect::to(&back).into_response(),
        (Err(problem), false) => refused(&problem, Some(&caller)),
    }
}

/// The review as it is now, with the unfinished text.
async fn written(
    app: &App,
    caller: &Caller,
    id: &str,
    problem: Option<Problem>,
    fields: &FormFields,
) -> Response {
    let interrupt = match interrupt_named(app, id).await {
        Ok(interrupt) => interrupt,
        Err(problem) => return refused(&problem, Some(caller)),
    };
    let shown = ReviewContext::of(app, &interrupt).await;
    let tried = problem.as_ref().map(|problem| (problem, fields));
    let body = body_with(app, caller, &interrupt, tried, Some(fields), &shown);
    let page = page(
        &headline(&interrupt),
        NavigationItem::Inbox,
        Some(caller),
        &body,
    );
    match &problem {
        Some(problem) => again(problem, page),
        None => page.into_response(),
    }
}
