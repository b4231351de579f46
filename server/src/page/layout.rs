//! What all pages have in common.

use axum::http::StatusCode;
use axum::response::{Html, IntoResponse, Response};
use control::{Caller, as_called, has_own_name, role_name};
use jiff::{SignedDuration, Timestamp};
use maud::{DOCTYPE, Markup, html};

use crate::problem::Problem;
use crate::visible::visible;
use crate::wire::label;

/// The command that starts a run with a question, so that there is something to see.
pub(super) fn example() -> String {
    as_called(match has_own_name() {
        true => "irq run INPUT",
        false => "irq run \"Describe this project\" --script examples/scripts/tour.json",
    })
}

/// The events of the feed after which agents are reloaded.
pub(super) const OF_AGENTS: &str = "sse:agent.status_changed, sse:agent.finished, sse:interrupt.opened, sse:interrupt.resolved, sse:interrupt.rerouted, sse:interrupt.expired, sse:interrupt.cancelled, sse:interrupt.acknowledged, sse:run.running, sse:run.stopping, sse:run.paused, sse:run.waiting, sse:run.completed, sse:run.failed, sse:run.cancelled, sse:checkpoint.saved, htmx:sseOpen from:closest [sse-connect]";

/// The events of the feed after which the waiting interrupts are counted again.
const OF_THE_COUNT: &str = "sse:interrupt.opened, sse:interrupt.resolved, sse:interrupt.rerouted, sse:interrupt.expired, sse:interrupt.cancelled, sse:stream.reset, htmx:sseOpen from:closest [sse-connect]";

/// A place in the navigation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NavigationItem {
    Inbox,
    Runs,
    Agents,
    History,
    Settings,
    /// Nowhere in it.
    Elsewhere,
}

const PLACES: [(NavigationItem, &str, &str); 5] = [
    (NavigationItem::Inbox, "/", "Inbox"),
    (NavigationItem::Runs, "/runs", "Runs"),
    (NavigationItem::Agents, "/agents", "Agents"),
    (NavigationItem::History, "/history", "History"),
    (NavigationItem::Settings, "/settings", "Settings"),
];

/// A whole page.
pub(super) fn page(
    title: &str,
    place: NavigationItem,
    caller: Option<&Caller>,
    body: &Markup,
) -> Html<String> {
    let markup = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                // The policy of the page allows neither inline styles nor evaluated scripts.
                meta name="htmx-config" content=r#"{"includeIndicatorStyles":false,"allowEval":false,"selfRequestsOnly":true}"#;
                title { (visible(title)) " · Interrupt Router" }
                link rel="icon" href="/assets/icon.svg" type="image/svg+xml";
                link rel="stylesheet" href="/assets/page.css";
                script src="/assets/htmx.min.js" defer {}
                script src="/assets/htmx-sse.js" defer {}
                script src="/assets/feed.js" defer {}
                script src="/assets/page.js" defer {}
            }
            body {
                a.skip href="#main" { "Skip to content" }
                header.top {
                    p.brand { a href="/" { "Interrupt Router" } }
                    @if let Some(caller) = caller {
                        nav aria-label="Main" { ul {
                            @for (other, path, name) in PLACES {
                                li { a href=(path) aria-current=[(other == place).then_some("page")] { (name) } }
                            }
                        } }
                        p.who { (visible(caller.actor.name.as_str())) " (" (role_name(caller.actor.role)) ")" }
                        // The title counts what waits for a person, whatever page is open.
                        div hidden hx-ext="sse" sse-connect="/v1/events?topics=interrupt.*&named=1" {
                            div id="waiting" hx-get="/inbox/count" hx-trigger=(OF_THE_COUNT) {}
                        }
                    }
                }
                // A script shows it while the feed does not come: without its server or its session a page is old.
                output.banner id="unconnected" hidden { strong { "Not connected." } " What you see may be old, and nothing can be sent. " a href="" { "Try again" } }
                main id="main" tabindex="-1" { (body) }
                footer { p { a href="/openapi.json" { "API description" } " · " a href="/assets/LICENSES.txt" { "Licences" } } }
            }
        }
    };
    Html(markup.into_string())
}

/// A page that says what went wrong, and what to do next.
pub(super) fn refused(problem: &Problem, caller: Option<&Caller>) -> Response {
    let body = html! {
        h1 { (problem.code().title()) }
        (problem_text(problem, &html! {}))
        p { a href="/" { "Back to the inbox" } }
    };
    let page = page(
        problem.code().title(),
        NavigationItem::Elsewhere,
        caller,
        &body,
    );
    (problem.status(), page).into_response()
}

/// What went wrong, above the form or page that it concerns.
pub(super) fn banner(problem: &Problem) -> Markup {
    problem_text(
        problem,
        &html! { p { strong { (problem.code().title()) } } },
    )
}

/// What went wrong, below its title.
fn problem_text(problem: &Problem, title: &Markup) -> Markup {
    html! {
        div.banner role="alert" data-testid="problem" data-state=(problem.code().name()) {
            (title)
            p { (visible(problem.detail())) }
            @for (pointer, message) in errors(problem) {
                p { code { (visible(&pointer)) } ": " (visible(&message)) }
            }
            p.hint { (visible(&problem.hint())) }
        }
    }
}

fn errors(problem: &Problem) -> Vec<(String, String)> {
    let errors = problem
        .member("errors")
        .and_then(|errors| errors.as_array());
    errors
        .into_iter()
        .flatten()
        .filter_map(|error| {
            let pointer = error.get("pointer")?.as_str()?.to_owned();
            Some((pointer, error.get("message")?.as_str()?.to_owned()))
        })
        .collect()
}

/// The status and page of a refused form that is shown again.
pub(super) fn again(problem: &Problem, page: Html<String>) -> Response {
    let status: StatusCode = problem.status();
    (status, page).into_response()
}

/// The state of something, in words, with a mark of its colour.
pub(super) fn state(name: &str) -> Markup {
    let words = match name {
        "waiting_review" | "awaiting_review" => "Waits for a person".to_owned(),
        "waiting" => "Waits for an answer".to_owned(),
        name => label(name),
    };
    html! { span.state data-state=(name) { (words) } }
}

/// A time, with how long ago it was.
pub(super) fn time(at: Timestamp, now: Timestamp) -> Markup {
    let ago = now.duration_since(at);
    html! { time datetime=(at.to_string()) title=(at.to_string()) { (span(ago)) } }
}

/// A time that is written as text.
pub(super) fn time_text(at: &str, now: Timestamp) -> Markup {
    match at.parse() {
        Ok(at) => time(at, now),
        Err(_) => html! { (visible(at)) },
    }
}

fn span(ago: SignedDuration) -> String {
    let (seconds, past) = (ago.as_secs().abs(), !ago.is_negative());
    let text = match seconds {
        0..60 => format!("{seconds} s"),
        60..3_600 => format!("{} min", seconds / 60),
        3_600..86_400 => format!("{} h", seconds / 3_600),
        _ => format!("{} d", seconds / 86_400),
    };
    if past {
        format!("{text} ago")
    } else {
        format!("in {text}")
    }
}
