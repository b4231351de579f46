//! The inbox: what waits for a person.

mod part;
mod together;

use std::collections::HashMap;

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use control::{Caller, Right};
use interrupt_router::RunId;
use interrupts::life::{Family, Interrupt, State as Life};
use jiff::{SignedDuration, Timestamp};
use maud::{Markup, html};
use serde::Deserialize;

use super::layout::{NavigationItem, example, page, refused, state, time};
use super::quoted::{headline, one_line, said};
use super::review::{after, claim_of_another, claimed};
use super::visitor::Visitor;
use crate::app::App;
use crate::events::goal_of;
use crate::parameters::Parameters;
use crate::problem::Problem;
use crate::visible::visible;
use crate::wire::{kind_of, label};

use part::Part;
pub(super) use together::{decide, together};

/// The priority of agents' questions; lower numbers go first.
const USUAL: u8 = 10;

/// Which part of the inbox.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(crate) struct InboxPageQuery {
    tab: Tab,
    find: String,
    /// Where the part before this one ended.
    cursor: String,
}

impl InboxPageQuery {
    /// The address of a list with the same conditions, from a position on.
    fn address(&self, path: &str, cursor: &str) -> String {
        let mut query = url::form_urlencoded::Serializer::new(String::new());
        for (name, value) in [
            ("tab", tab_name(self.tab).unwrap_or_default()),
            ("find", &*self.find),
            ("cursor", cursor),
        ] {
            if !value.is_empty() {
                query.append_pair(name, value);
            }
        }
        format!("{path}?{}", query.finish())
    }
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
    Parameters(shown): Parameters<InboxPageQuery>,
) -> Response {
    let parts = match parts(&app, &caller, &shown).await {
        Ok(parts) => parts,
        Err(problem) => return refused(&problem, Some(&caller)),
    };
    let body = html! {
        h1 { "Inbox" }
        nav aria-label="Inbox" { ul.tabs {
            @for (tab, name, title) in TABS {
                li { a href=(format!("/?tab={name}")) aria-current=[(tab == shown.tab).then_some("page")] { (title) (parts.counts.of(tab, CountDelivery::WithThePage)) } }
            }
        } }
        form.find method="get" action="/" role="search" {
            @if let Some(name) = tab_name(shown.tab) { input type="hidden" name="tab" value=(name); }
            span { label for="find" { "Find" } input id="find" name="find" type="search" value=(shown.find); }
            button type="submit" { "Find" }
        }
        // The list follows the feed, and is reloaded whenever the feed opens: what came meanwhile is not sent again.
        // Without scripts it shows the current state.
        div hx-ext="sse" sse-connect="/v1/events?topics=interrupt.*&named=1" {
            div id="list" aria-live="polite" hx-get=(shown.address("/inbox", &shown.cursor))
                hx-trigger="sse:interrupt.opened, sse:interrupt.claimed, sse:interrupt.released, sse:interrupt.held, sse:interrupt.updated, sse:interrupt.resolved, sse:interrupt.rerouted, sse:interrupt.expired, sse:interrupt.cancelled, sse:stream.reset, htmx:sseOpen from:closest [sse-connect]" {
                (parts.rows)
            }
        }
    };
    page("Inbox", NavigationItem::Inbox, Some(&caller), &body).into_response()
}

/// The list alone, to replace the one on the page.
pub(super) async fn list(
    State(app): State<App>,
    Visitor(caller): Visitor,
    Parameters(shown): Parameters<InboxPageQuery>,
) -> Response {
    match parts(&app, &caller, &shown).await {
        Ok(parts) => {
            let counts =
                [Tab::Open, Tab::Mine].map(|tab| parts.counts.of(tab, CountDelivery::ByTheFeed));
            let part = html! { (parts.rows) @for count in counts { (count) } };
            part.into_string().into_html()
        }
        Err(problem) => refused(&problem, Some(&caller)),
    }
}

/// How many wait for a person, for the title of any open page.
pub(super) async fn count(State(app): State<App>, Visitor(caller): Visitor) -> Response {
    match app.store().count_waiting(None).await {
        Ok(waiting) => {
            let count = html! { span data-count=(waiting) {} };
            count.into_string().into_html()
        }
        Err(error) => refused(&error.into(), Some(&caller)),
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

/// What the feed changes.
struct InboxUpdate {
    rows: Markup,
    counts: InboxCounts,
}

/// How many wait.
struct InboxCounts {
    open: u64,
    mine: u64,
}

/// How a count comes to the page.
#[derive(Clone, Copy, PartialEq, Eq)]
enum CountDelivery {
    WithThePage,
    /// It replaces the count on the page.
    ByTheFeed,
}

impl InboxCounts {
    /// The count of a tab with waiting interrupts; ended ones are not counted.
    fn of(&self, tab: Tab, told: CountDelivery) -> Markup {
        let (id, count) = match tab {
            Tab::Open => ("count-open", self.open),
            Tab::Mine => ("count-mine", self.mine),
            Tab::Resolved | Tab::Expired => return html! {},
        };
        let place = (told == CountDelivery::ByTheFeed).then_some("true");
        html! { span id=(id) hx-swap-oob=[place] { @if count > 0 { " (" (count) ")" } } }
    }
}

async fn parts(app: &App, caller: &Caller, shown: &InboxPageQuery) -> Result<InboxUpdate, Problem> {
    let now = app.now();
    let counts = InboxCounts {
        open: app.store().count_waiting(None).await?,
        mine: app.store().count_waiting(Some(&caller.actor.name)).await?,
    };
    let part = Part::of(app, caller, shown, &counts).await?;
    let goals = goals(app, &part.found).await?;
    let listed = Listed {
        part: &part,
        goals: &goals,
        waiting: counts.open,
        caller,
    };
    Ok(InboxUpdate {
        rows: table(&listed, shown, now),
        counts,
    })
}

/// The goals of the runs of these interrupts.
async fn goals(app: &App, found: &[Interrupt]) -> Result<HashMap<RunId, String>, Problem> {
    let mut goals = HashMap::new();
    for interrupt in found {
        if goals.contains_key(&interrupt.run) {
            continue;
        }
        let run = app.store().run(interrupt.run).await?;
        let goal = run.and_then(|run| goal_of(&run));
        goals.insert(interrupt.run, goal.unwrap_or_default());
    }
    Ok(goals)
}

/// A part of the inbox.
struct Listed<'rows> {
    part: &'rows Part,
    goals: &'rows HashMap<RunId, String>,
    /// How many wait for a person, whichever are shown.
    waiting: u64,
    /// The caller who looks.
    caller: &'rows Caller,
}

fn table(listed: &Listed<'_>, shown: &InboxPageQuery, now: Timestamp) -> Markup {
    let found = &listed.part.found;
    html! {
        p.count data-testid="count" data-count=(listed.waiting) {
            (found.len()) @if let Some(all) = listed.part.all.filter(|all| *all > found.len() as u64) { " of " (all) } " shown"
        }
        @if found.is_empty() {
            (nothing(shown, listed.part.next.is_some()))
        } @else {
            @let may_decide = Right::Decide.is_of(listed.caller.actor.role);
            @let together = may_decide && shown.tab == Tab::Open && together::is_possible(found);
            @let cards = html! {
                ul.cards {
                    @for interrupt in found { (card(interrupt, listed, together, now)) }
                }
            };
            @if together {
                form method="get" action="/inbox/together" { (cards) (together::button()) }
            } @else { (cards) }
        }
        // No event reports that a claim has run out.
        @if let Some(rest) = first_end(found, now) {
            div hx-get=(shown.address("/inbox", &shown.cursor)) hx-target="#list" hx-trigger=(after(rest)) {}
        }
        p.buttons {
            @if !shown.cursor.is_empty() { a id="inbox-first" href=(shown.address("/", "")) { "From the beginning" } }
            @if let Some(next) = &listed.part.next { a id="inbox-more" href=(shown.address("/", next)) { "More" } }
        }
    }
}

/// How long the claim lasts that ends first.
fn first_end(found: &[Interrupt], now: Timestamp) -> Option<SignedDuration> {
    let claims = found
        .iter()
        .filter_map(|one| one.review.as_ref()?.claim_at(now));
    let end = claims.map(|claim| claim.until).min()?;
    Some(end.duration_since(now))
}

fn card(interrupt: &Interrupt, listed: &Listed<'_>, together: bool, now: Timestamp) -> Markup {
    let goal = listed.goals.get(&interrupt.run);
    html! {
        li.card data-testid="interrupt" data-state=(interrupt.state.name()) {
            h2 { (visible(&headline(interrupt))) }
            p.said { a href=(format!("/review/{}", interrupt.id)) { (said(interrupt)) } }
            (facts(interrupt, now))
            @if !interrupt.state.is_final() { (claimed(interrupt, listed.caller, now)) }
            @if let Some(goal) = goal.filter(|goal| !goal.is_empty()) {
                p.facts { span { "For: " (visible(&one_line(goal))) } }
            }
            @if together && claim_of_another(interrupt, listed.caller, now).is_none() { (together::choose(interrupt)) }
        }
    }
}

fn nothing(shown: &InboxPageQuery, goes_on: bool) -> Markup {
    html! {
        p.empty {
            @if goes_on { "Nothing of those that were looked at has these words; there are more." }
            @else if !shown.cursor.is_empty() { "There are no more." }
            @else if !shown.find.is_empty() { "Nothing here has these words." }
            @else {
                @match shown.tab {
                    Tab::Open => { "Nothing waits for you. To see a question, start a run that asks one: " code { (example()) } },
                    Tab::Mine => "You look at nothing now. What you claim on the page of a question stands here.",
                    Tab::Resolved => "Nothing was decided yet.",
                    Tab::Expired => "No question has outlived its time.",
                }
            }
        }
    }
}

fn facts(interrupt: &Interrupt, now: Timestamp) -> Markup {
    let is_question = interrupt.family() == Family::Question;
    html! {
        p.facts {
            @if interrupt.state != Life::AwaitingReview { (state(interrupt.state.name())) }
            span { (label(kind_of(interrupt))) }
            @if !is_question { span { "by " (visible(interrupt.requested_by.name.as_str())) } }
            @if interrupt.lane().priority() < USUAL { span { "goes first" } }
            span { (time(interrupt.requested_at, now)) }
            @if let Some(deadline) = interrupt.due_at() { span { "its time ends " (time(deadline, now)) } }
            @if let Some(decision) = &interrupt.decision { span { "decided: " (label(decision.verdict.name())) } }
            @if interrupt.held_by.is_some() { span { "held: another interrupt goes first" } }
        }
    }
}
