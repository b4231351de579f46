//! Several questions that are decided alike: all of them in one transaction, or none.
//!
//! In a list nothing is decided, because a list shows excerpts. What is chosen there is shown in full on a page of its
//! own, and the form at the end of that page is bound to what it shows.

use axum::extract::{RawQuery, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Redirect, Response};
use control::{Caller, DecisionParts, NewDecision, QuestionContent, Right};
use interrupts::Digest;
use interrupts::life::{Family, Interrupt, State as Life, Verdict};
use journal::tool::{ToolQuestionContent, ToolQuestionKind};
use maud::{Markup, html};

use crate::acting::{DecisionOrder, RefusedAt, decide_all, interrupt_named};
use crate::app::App;
use crate::body::FormFields;
use crate::metrics::Way;
use crate::page::layout::{NavigationItem, banner, page, refused};
use crate::page::matter;
use crate::page::quoted::headline;
use crate::page::visitor::Visitor;
use crate::parameters::wrong;
use crate::problem::{Code, Problem};
use crate::visible::visible;

/// The most questions of one page: each is shown in full.
const MOST: usize = 100;

/// Whether it can be decided so: a question that a yes or a no answers whole, of which everything can be shown.
fn is_plain(interrupt: &Interrupt) -> bool {
    let details = interrupt.details();
    let about = ToolQuestionContent::of(&interrupt.content);
    interrupt.family() == Family::Question
        && interrupt.state == Life::AwaitingReview
        && interrupt.held_by.is_none()
        && interrupt.verdicts().any(|it| it == Verdict::Approve)
        && details.choices.is_empty()
        && details.confirmation_items.is_empty()
        && about.is_none_or(|about| !about.tool_call.is_excerpt)
}

/// Whether there is anything to choose among these.
pub(super) fn is_possible(found: &[Interrupt]) -> bool {
    found.iter().filter(|one| is_plain(one)).count() > 1
}

/// The checkbox that chooses a question.
pub(super) fn choose(interrupt: &Interrupt) -> Markup {
    html! {
        @if is_plain(interrupt) {
            p.choice {
                input type="checkbox" id=(format!("choose-{}", interrupt.id)) name="chosen" value=(interrupt.id);
                label for=(format!("choose-{}", interrupt.id)) { "Choose" }
            }
        }
    }
}

/// The button below the list.
pub(super) fn button() -> Markup {
    html! {
        p.buttons {
            button.quiet type="submit" { "Look at what is chosen" }
            span.hint { "Each is shown in full there, and all of it is decided together." }
        }
    }
}

/// Shows what was chosen, each in full, with the form that decides all of it.
pub(in crate::page) async fn together(
    State(app): State<App>,
    Visitor(caller): Visitor,
    RawQuery(query): RawQuery,
) -> Response {
    let fields = url::form_urlencoded::parse(query.unwrap_or_default().as_bytes())
        .map(|(name, value)| (name.into_owned(), value.into_owned()))
        .collect();
    match chosen(&app, &FormFields(fields)).await {
        Ok(chosen) => whole_page(&caller, &chosen, &[]).into_response(),
        Err(problem) => refused(&problem, Some(&caller)),
    }
}

/// Decides what was chosen, as it was shown.
pub(in crate::page) async fn decide(
    State(app): State<App>,
    Visitor(caller): Visitor,
    fields: FormFields,
) -> Response {
    let (chosen, verdict) = match (chosen(&app, &fields).await, verdict(&fields)) {
        (Ok(chosen), Ok(verdict)) => (chosen, verdict),
        (Err(problem), _) | (_, Err(problem)) => return refused(&problem, Some(&caller)),
    };
    let seen = fields.first("seen").and_then(|text| text.parse().ok());
    if seen != Some(digest(&chosen)) {
        return again(&caller, &chosen, &[(usize::MAX, differs())]);
    }
    let orders: Vec<_> = chosen
        .into_iter()
        .map(|interrupt| {
            let order = order(&interrupt, verdict);
            (interrupt, order)
        })
        .collect();
    match decide_all(&app, &caller, &orders).await {
        Ok(_decided) => Redirect::to("/").into_response(),
        Err(problems) => {
            let chosen: Vec<Interrupt> = orders.into_iter().map(|(it, _)| it).collect();
            again(&caller, &chosen, &problems)
        }
    }
}

fn order(interrupt: &Interrupt, verdict: Verdict) -> DecisionOrder {
    DecisionOrder {
        decision: NewDecision {
            version: Some(interrupt.version),
            shown: interrupt.review.as_ref().map(|review| review.shown),
            parts: DecisionParts::new(verdict),
            remember: None,
        },
        key: None,
        way: Way::Page,
    }
}

fn verdict(fields: &FormFields) -> Result<Verdict, Problem> {
    match fields.first("decision") {
        Some("approve") => Ok(Verdict::Approve),
        Some("reject") => Ok(Verdict::Reject),
        _ => Err(wrong("decision", "choose one of the buttons")),
    }
}

fn differs() -> Problem {
    Problem::new(
        Code::ShownDiffers,
        "what is asked is not what this form was shown with",
        "it is shown below as it is now: read it, and decide anew",
    )
}

async fn chosen(app: &App, fields: &FormFields) -> Result<Vec<Interrupt>, Problem> {
    let mut chosen: Vec<Interrupt> = Vec::new();
    for id in fields.all("chosen") {
        let interrupt = interrupt_named(app, id).await?;
        if chosen.len() == MOST {
            return Err(wrong("chosen", format!("at most {MOST} at once")));
        }
        if !chosen.iter().any(|one| one.id == interrupt.id) {
            chosen.push(interrupt);
        }
    }
    if chosen.is_empty() {
        return Err(wrong("chosen", "choose at least one question of the list"));
    }
    Ok(chosen)
}

/// What a question is shown as. No time is in it, so that it stays the same while nothing changes.
fn shown(interrupt: &Interrupt) -> Markup {
    html! {
        h2 { (visible(&headline(interrupt))) }
        (matter::whole(interrupt, &QuestionContent::of(interrupt)))
        p.hint { "The answer goes to " (visible(control::target_of(interrupt).as_str())) "." }
    }
}

/// Identifies exactly what the page shows of what it decides.
fn digest(chosen: &[Interrupt]) -> Digest {
    let parts: Vec<String> = chosen
        .iter()
        .flat_map(|one| [one.id.to_string(), shown(one).into_string()])
        .collect();
    Digest::of_parts(parts.iter().map(String::as_bytes))
}

fn again(caller: &Caller, chosen: &[Interrupt], problems: &[RefusedAt]) -> Response {
    let status = problems
        .first()
        .map_or(StatusCode::CONFLICT, |(_, problem)| problem.status());
    (status, whole_page(caller, chosen, problems)).into_response()
}

fn whole_page(
    caller: &Caller,
    chosen: &[Interrupt],
    problems: &[RefusedAt],
) -> axum::response::Html<String> {
    let may_decide = Right::Decide.is_of(caller.actor.role);
    let is_decidable = may_decide && chosen.iter().all(is_plain);
    let of = |place: usize| problems.iter().filter(move |(at, _)| *at == place);
    let title = if problems.is_empty() {
        format!("{} to decide together", chosen.len())
    } else {
        "Nothing was decided".to_owned()
    };
    let body = html! {
        p.crumbs { a href="/" { "Inbox" } }
        h1 { (title) }
        @if !problems.is_empty() { p { "What is chosen is decided together, and this is why it could not be:" } }
        @for (_, problem) in of(usize::MAX) { (banner(problem)) }
        @for (place, interrupt) in chosen.iter().enumerate() {
            article data-testid="together" {
                (shown(interrupt))
                @for (_, problem) in of(place) { (banner(problem)) }
                @if !is_plain(interrupt) {
                    p.banner { "It cannot be decided together with others. " a href=(format!("/review/{}", interrupt.id)) { "Look at it alone" } "." }
                }
            }
        }
        @if is_decidable { (form(chosen)) }
        p { a href="/" { "Back to the inbox" } }
    };
    page(&title, NavigationItem::Inbox, Some(caller), &body)
}

/// The form that decides all of it.
fn form(chosen: &[Interrupt]) -> Markup {
    let is_permission = |one: &Interrupt| {
        ToolQuestionContent::of(&one.content)
            .is_some_and(|about| about.tool_call.asks == ToolQuestionKind::Permission)
    };
    let (yes, no) = if chosen.iter().all(is_permission) {
        ("Allow", "Deny")
    } else {
        ("Approve", "Reject")
    };
    let count = chosen.len();
    html! {
        form method="post" action="/inbox/decide" {
            input type="hidden" name="seen" value=(digest(chosen));
            @for one in chosen { input type="hidden" name="chosen" value=(one.id); }
            p.buttons role="group" aria-label="Decide all of these" {
                button type="submit" name="decision" value="approve" { (yes) " all " (count) }
                button.danger type="submit" name="decision" value="reject" { (no) " all " (count) }
                span.hint { "All of it is decided, or none." }
            }
        }
    }
}
