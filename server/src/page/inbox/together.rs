//! Several questions that are decided alike: all of them in one transaction, or none.

use axum::extract::State;
use axum::response::{IntoResponse, Redirect, Response};
use control::{DecisionParts, QuestionContent};
use interrupts::life::{Family, Interrupt, State as Life, Verdict};
use maud::{Markup, html};

use crate::acting::{DecisionOrder, decide_all, interrupt_named};
use crate::app::App;
use crate::body::FormFields;
use crate::metrics::Way;
use crate::page::layout::{NavigationItem, again, banner, page};
use crate::page::quoted::{headline, said};
use crate::page::visitor::Visitor;
use crate::parameters::wrong;
use crate::problem::Problem;
use crate::visible::visible;

/// Whether it can be decided so: a question that may be approved, and needs no single confirmations.
fn is_plain(interrupt: &Interrupt) -> bool {
    interrupt.family() == Family::Question
        && interrupt.state == Life::AwaitingReview
        && interrupt.held_by.is_none()
        && interrupt.allowed.contains(&Verdict::Approve)
        && QuestionContent::of(interrupt).confirmation_items.is_empty()
}

/// Whether there is anything to choose among these.
pub(super) fn is_possible(found: &[Interrupt]) -> bool {
    found.iter().filter(|one| is_plain(one)).count() > 1
}

/// The checkbox that chooses a question, bound to what is shown of it.
pub(super) fn choose(interrupt: &Interrupt) -> Markup {
    let shown = interrupt.review.as_ref().map(|review| review.shown);
    html! {
        @if let (true, Some(shown)) = (is_plain(interrupt), shown) {
            p.choice {
                input type="checkbox" id=(format!("choose-{}", interrupt.id)) name="chosen" value=(format!("{} {} {shown}", interrupt.id, interrupt.version));
                label for=(format!("choose-{}", interrupt.id)) { "Choose" }
            }
        }
    }
}

/// The buttons below the list.
pub(super) fn buttons() -> Markup {
    html! {
        p.buttons role="group" aria-label="Decide what is chosen" {
            button.quiet type="submit" name="decision" value="approve" { "Approve what is chosen" }
            button.danger type="submit" name="decision" value="reject" { "Reject what is chosen" }
            span.hint { "All of it is decided, or none." }
        }
    }
}

/// Decides what was chosen.
pub(in crate::page) async fn decide(
    State(app): State<App>,
    Visitor(caller): Visitor,
    fields: FormFields,
) -> Response {
    let orders = match orders_of(&app, &fields).await {
        Ok(orders) => orders,
        Err(problem) => return crate::page::layout::refused(&problem, Some(&caller)),
    };
    let Err(refused) = decide_all(&app, &caller, &orders).await else {
        return Redirect::to("/").into_response();
    };
    let body = html! {
        h1 { "Nothing was decided" }
        p { "What is chosen is decided together, and of it this could not be:" }
        @for (place, problem) in &refused {
            @if let Some((interrupt, _)) = orders.get(*place) {
                h2 { (visible(&headline(interrupt))) }
                p.said { a href=(format!("/review/{}", interrupt.id)) { (said(interrupt)) } }
            }
            (banner(problem))
        }
        p { a href="/" { "Back to the inbox" } }
    };
    let shown = page(
        "Nothing was decided",
        NavigationItem::Inbox,
        Some(&caller),
        &body,
    );
    match refused.first() {
        Some((_, problem)) => again(problem, shown),
        None => shown.into_response(),
    }
}

async fn orders_of(
    app: &App,
    fields: &FormFields,
) -> Result<Vec<(Interrupt, DecisionOrder)>, Problem> {
    let verdict = match fields.first("decision") {
        Some("approve") => Verdict::Approve,
        Some("reject") => Verdict::Reject,
        _ => return Err(wrong("decision", "choose one of the buttons")),
    };
    let mut orders = Vec::new();
    for chosen in fields.all("chosen") {
        let mut parts = chosen.split(' ');
        let (Some(id), Some(version), Some(shown)) = (parts.next(), parts.next(), parts.next())
        else {
            return Err(wrong("chosen", "this is no question of the list"));
        };
        let interrupt = interrupt_named(app, id).await?;
        let shown = shown.parse();
        let order = DecisionOrder {
            version: version.parse().ok(),
            shown: Some(shown.map_err(|error| wrong("chosen", format!("{error}")))?),
            key: None,
            parts: DecisionParts::new(verdict),
            remember: None,
            way: Way::Page,
        };
        orders.push((interrupt, order));
    }
    if orders.is_empty() {
        return Err(wrong("chosen", "choose at least one question of the list"));
    }
    Ok(orders)
}
