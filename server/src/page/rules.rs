//! Standing rules on the page: remembering a decision, and what is remembered.

use axum::extract::State;
use axum::response::{IntoResponse, Redirect, Response};
use control::{Caller, RememberOrder, Right};
use interrupts::life::{Family, Interrupt};
use interrupts::rules::{Reach, StandingRule, matter_of};
use interrupts::store::{Pages, StandingRules};
use jiff::Timestamp;
use maud::{Markup, html};

use super::layout::{refused, time};
use super::visitor::Visitor;
use crate::acting::revoke_rule;
use crate::app::App;
use crate::body::FormFields;
use crate::parameters::{Segment, wrong};
use crate::problem::Problem;
use crate::visible::visible;
use crate::wire::label;

/// The most rules that the page shows: the newest.
const SHOWN: usize = 200;
/// How many rules are read at a time.
const PAGE: u32 = 500;
/// Seconds of an hour.
const HOUR: u32 = 3_600;

/// The fields that say whether a decision is remembered; nothing if such a question is asked each time.
pub(super) fn remember(
    interrupt: &Interrupt,
    caller: &Caller,
    filled: Option<&FormFields>,
) -> Markup {
    let possible = interrupt.family() == Family::Question && matter_of(interrupt).is_ok();
    let said = |name: &str| filled.and_then(|filled| filled.first(name));
    let chosen = said("remember").unwrap_or_default();
    html! {
        @if possible {
            details open[!chosen.is_empty()] data-testid="remember" {
                summary { "Remember this answer" }
                p.hint { "The same agent type asking exactly the same again gets the same answer without asking you. Anything that differs is asked as usual. Answering, approving, rejecting and rerouting can be remembered; settings show and revoke it." }
                label for="remember" { "For" }
                select id="remember" name="remember" {
                    option value="" { "this question alone" }
                    option value="agent" selected[chosen == "agent"] { "this agent, in this run" }
                    option value="run" selected[chosen == "run"] { "this run" }
                    @if Right::Direct.is_of(caller.actor.role) {
                        option value="everywhere" selected[chosen == "everywhere"] { "every run" }
                    }
                }
                label for="remember_hours" { "For how many hours" }
                input id="remember_hours" name="remember_hours" type="number" min="1" max="720" value=(said("remember_hours").unwrap_or("1"));
                label for="remember_uses" { "At most how often" }
                input id="remember_uses" name="remember_uses" type="number" min="1" max="1000" value=(said("remember_uses").unwrap_or("10"));
            }
        }
    }
}

/// The values of those fields.
pub(super) fn remembered(fields: &FormFields) -> Result<Option<RememberOrder>, Problem> {
    let reach = match fields.first("remember") {
        None => return Ok(None),
        Some("agent") => Reach::Agent,
        Some("run") => Reach::Run,
        Some("everywhere") => Reach::Everywhere,
        Some(_) => return Err(wrong("remember", "choose one of the list")),
    };
    let number = |name: &str, most: u32| {
        let given = fields.first(name).and_then(|text| text.parse::<u32>().ok());
        given
            .filter(|given| (1..=most).contains(given))
            .ok_or_else(|| wrong(name, format!("1 to {most} are possible")))
    };
    Ok(Some(RememberOrder {
        reach,
        seconds: number("remember_hours", 720)? * HOUR,
        most_uses: number("remember_uses", 1_000)?,
    }))
}

/// The newest rules, newest first.
pub(super) async fn newest(app: &App) -> Result<Vec<StandingRule>, Problem> {
    let (mut rules, mut pages) = (Vec::new(), Pages::of(PAGE));
    let read = |page| StandingRules::rules(app.store(), page);
    while let Some(rows) = pages.next(read).await? {
        rules.extend(rows.into_iter().map(|(_, rule)| rule));
        let old = rules.len().saturating_sub(SHOWN);
        rules.drain(..old);
    }
    rules.reverse();
    Ok(rules)
}

/// The rules, each with a way to revoke it for callers who may.
pub(super) fn section(rules: &[StandingRule], caller: &Caller, now: Timestamp) -> Markup {
    html! {
        section aria-labelledby="rules" { h2 id="rules" { "Standing rules" }
            p { "A remembered decision answers the same question when it is asked again: the same words and choices, of the same type of agent. It never answers what a person asked for." }
            @if rules.is_empty() { p { "There are none. Remember a decision while you make it, on the page of its question." } }
            @else { div.wide role="region" aria-label="List of standing rules" tabindex="0" { table {
                thead { tr { th scope="col" { "Question" } th scope="col" { "Decision" } th scope="col" { "Reach" } th scope="col" { "Used" } th scope="col" { "By" } th scope="col" { "Ends" } th scope="col" { "State" } } }
                tbody { @for rule in rules { tr data-testid="rule" data-state=[rule.end.as_ref().map(|end| end.ending.name())] {
                    td { a href=(format!("/review/{}", rule.of.interrupt)) { (visible(&rule.of.reason)) } " (" (label(rule.of.kind.as_str())) ")" }
                    td { (label(rule.verdict.name())) @if let Some(target) = &rule.target { " to " (label(target.as_str())) } }
                    td { (reach(rule)) }
                    td { (rule.uses) " of " (rule.most_uses) }
                    td { (visible(rule.created_by.name.as_str())) }
                    td { (time(rule.expires_at, now)) }
                    td { (state(rule, caller, now)) }
                } } }
            } } }
        }
    }
}

fn reach(rule: &StandingRule) -> Markup {
    use interrupts::rules::RuleScope;
    html! {
        @match &rule.scope {
            RuleScope::Agent { node, .. } => { "agent " (visible(node.as_str())) },
            RuleScope::Run { run } => a href=(format!("/runs/{run}")) { "one run" },
            RuleScope::Everywhere => "every run",
        }
    }
}

fn state(rule: &StandingRule, caller: &Caller, now: Timestamp) -> Markup {
    let role = caller.actor.role;
    let own = Right::Decide.is_of(role) && rule.created_by.name == caller.actor.name;
    let may = own || Right::Direct.is_of(role);
    html! {
        @match &rule.end {
            Some(end) => { "ended (" (end.ending.name()) ") " (time(end.at, now)) },
            None if !rule.holds_at(now) => "ended (time)",
            None if may => form method="post" action=(format!("/rules/{}/revoke", rule.id)) {
                button type="submit" aria-describedby="rules" { "Revoke" }
            },
            None => "holds",
        }
    }
}

/// Revokes a rule.
pub(super) async fn revoke(
    State(app): State<App>,
    Visitor(caller): Visitor,
    Segment(id): Segment,
) -> Response {
    match revoke_rule(&app, &caller, &id).await {
        Ok(_rule) => Redirect::to("/settings#rules").into_response(),
        Err(problem) => refused(&problem, Some(&caller)),
    }
}
