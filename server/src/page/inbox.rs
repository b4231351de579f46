//! The inbox: what waits for a person.

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use interrupts::life::Interrupt;
use jiff::Timestamp;
use maud::{Markup, html};
use serde::Deserialize;

use super::layout::{Place, page, refused, time};
use super::visitor::Visitor;
use crate::access::Caller;
use crate::app::App;
use crate::parameters::Parameters;
use crate::problem::Problem;
use crate::routes::{InboxQuery, find_interrupts};
use crate::visible::visible;
use crate::wire::{kind_of, label};

/// Which part of the inbox.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Shown {
    tab: Tab,
    find: String,
    cursor: Option<String>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Tab {
    #[default]
    Open,
    Mine,
    Resolved,
    Expired,
}

const TABS: [(Tab, &str, &str); 4] = [
    (Tab::Open, "open", "Open"),
    (Tab::Mine, "mine", "Mine"),
    (Tab::Resolved, "resolved", "Resolved"),
    (Tab::Expired, "expired", "Expired"),
];

/// The whole page.
pub(super) async fn show(
    State(app): State<App>,
    Visitor(caller): Visitor,
    Parameters(shown): Parameters<Shown>,
) -> Response {
    let rows = match rows(&app, &caller, &shown).await {
        Ok(rows) => rows,
        Err(problem) => return refused(&problem, Some(&caller)),
    };
    let body = html! {
        h1 { "Inbox" }
        nav aria-label="Inbox" { ul.tabs {
            @for (tab, name, title) in TABS {
                li { a href=(format!("/?tab={name}")) aria-current=[(tab == shown.tab).then_some("page")] { (title) } }
            }
        } }
        form.find method="get" action="/" role="search" {
            @if let Some(name) = tab_name(shown.tab) { input type="hidden" name="tab" value=(name); }
            label for="find" { "Find" }
            input id="find" name="find" type="search" value=(shown.find);
            button type="submit" { "Find" }
        }
        // The list follows the feed, and is read again whenever the feed opens: what came meanwhile is not told again.
        // Without scripts it is as of now.
        div hx-ext="sse" sse-connect="/v1/events?topics=interrupt.*&named=1" {
            div id="list" aria-live="polite" hx-get=(list_address(&shown))
                hx-trigger="sse:interrupt.opened, sse:interrupt.updated, sse:interrupt.resolved, sse:interrupt.rerouted, sse:interrupt.expired, sse:interrupt.cancelled, sse:stream.reset, htmx:sseOpen from:closest [sse-connect]" {
                (rows)
            }
        }
    };
    page("Inbox", Place::Inbox, Some(&caller), &body).into_response()
}

/// The list alone, for the page to put in its place.
pub(super) async fn list(
    State(app): State<App>,
    Visitor(caller): Visitor,
    Parameters(shown): Parameters<Shown>,
) -> Response {
    match rows(&app, &caller, &shown).await {
        Ok(rows) => rows.into_string().into_html(),
        Err(problem) => refused(&problem, Some(&caller)),
    }
}

trait IntoHtml {
    fn into_html(self) -> Response;
}

impl IntoHtml for String {
    fn into_html(self) -> Response {
        axum::response::Html(self).into_response()
    }
}

fn tab_name(tab: Tab) -> Option<&'static str> {
    TABS.iter()
        .find(|(other, _, _)| *other == tab)
        .map(|(_, name, _)| *name)
}

fn list_address(shown: &Shown) -> String {
    let mut query = url::form_urlencoded::Serializer::new(String::new());
    if let Some(name) = tab_name(shown.tab) {
        query.append_pair("tab", name);
    }
    query.append_pair("find", &shown.find);
    format!("/inbox?{}", query.finish())
}

async fn rows(app: &App, caller: &Caller, shown: &Shown) -> Result<Markup, Problem> {
    let status = match shown.tab {
        Tab::Open | Tab::Mine => "open",
        Tab::Resolved => "resolved",
        Tab::Expired => "expired",
    };
    let query = InboxQuery {
        status: Some(status.to_owned()),
        cursor: shown.cursor.clone(),
        ..InboxQuery::default()
    };
    let (mut found, next) = find_interrupts(app, &query).await?;
    let wanted = shown.find.to_lowercase();
    found.retain(|interrupt| {
        let mine = shown.tab != Tab::Mine || is_mine(interrupt, caller, app.now());
        mine && matches(interrupt, &wanted)
    });
    found.sort_by_key(|interrupt| (interrupt.lane(), interrupt.requested_at));
    Ok(table(&found, next, shown, app.now()))
}

fn is_mine(interrupt: &Interrupt, caller: &Caller, now: Timestamp) -> bool {
    let Some(review) = &interrupt.review else {
        return false;
    };
    let name = &caller.actor.name;
    let claimed = review.claim_at(now).is_some_and(|claim| claim.by == *name);
    claimed || review.assignee.as_ref() == Some(name)
}

fn matches(interrupt: &Interrupt, wanted: &str) -> bool {
    wanted.is_empty()
        || [
            &*interrupt.reason,
            interrupt.node.as_str(),
            interrupt.kind.as_str(),
        ]
        .iter()
        .any(|text| text.to_lowercase().contains(wanted))
}

fn table(found: &[Interrupt], next: Option<String>, shown: &Shown, now: Timestamp) -> Markup {
    html! {
        p.count data-testid="count" data-count=(found.len()) { (found.len()) " shown" }
        @if found.is_empty() {
            p.empty { "Nothing here. Try " code { "irq run \"Find the modules\" --script examples/ask.toml" } " to see a question." }
        } @else {
            ul.cards {
                @for interrupt in found {
                    li.card data-testid="interrupt" data-state=(interrupt.state.name()) {
                        h2 { a href=(format!("/review/{}", interrupt.id)) { (visible(&one_line(&interrupt.reason))) } }
                        p.facts {
                            span { (label(interrupt.kind.as_str())) }
                            span { (label(kind_of(interrupt))) }
                            span { "asked " (time(interrupt.requested_at, now)) }
                            @if let Some(deadline) = interrupt.deadline { span { "ends " (time(deadline, now)) } }
                            @if let Some(claim) = interrupt.review.as_ref().and_then(|review| review.claim_at(now)) {
                                span { (visible(claim.by.as_str())) " looks at it" }
                            }
                            @if interrupt.held_by.is_some() { span { "held: another interrupt goes first" } }
                        }
                    }
                }
            }
        }
        @if let (Some(next), Some(tab)) = (next, tab_name(shown.tab)) {
            p { a href=(format!("/?tab={tab}&cursor={next}")) { "More" } }
        }
    }
}

/// The beginning of a reason; a blank one still needs something to click on.
fn one_line(reason: &str) -> String {
    let line: String = reason.split_whitespace().collect::<Vec<_>>().join(" ");
    let short: String = line.chars().take(140).collect();
    match (short.is_empty(), short.len() < line.len()) {
        (true, _) => "(no reason given)".to_owned(),
        (false, true) => format!("{short}…"),
        (false, false) => short,
    }
}
