//! The agents of all runs that are not over.

use std::collections::HashMap;

use axum::extract::State;
use axum::response::{Html, IntoResponse, Response};
use control::{Reach, live_runs};
use interrupt_router::RunId;
use interrupts::life::Interrupt;
use interrupts::store::{NodeActivity, Run};
use jiff::Timestamp;
use maud::{Markup, html};
use serde::Deserialize;

use super::layout::{NavigationItem, OF_AGENTS, example, page, refused, state, time_text};
use super::quoted::{asks, one_line};
use super::visitor::Visitor;
use crate::app::App;
use crate::events::goal_of;
use crate::parameters::{Parameters, one_of};
use crate::problem::Problem;
use crate::routes::{AgentQuery, find_agents};
use crate::visible::visible;
use crate::wire::{ACTIVITIES, AgentView, label};

/// Which agents. All fields are text, so that errors in them are shown on a page and not as JSON.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(crate) struct AgentsQuery {
    status: String,
    r#type: String,
    run_id: String,
    cursor: String,
}

impl AgentsQuery {
    fn query(&self) -> Result<AgentQuery, Problem> {
        let given = |text: &str| (!text.trim().is_empty()).then(|| text.trim().to_owned());
        let status = given(&self.status);
        // Also if no agent is looked for, as for a run that is over.
        one_of(
            "status",
            status.as_deref(),
            &ACTIVITIES.map(NodeActivity::name),
        )?;
        Ok(AgentQuery {
            status,
            r#type: given(&self.r#type),
            run_id: given(&self.run_id),
            cursor: given(&self.cursor),
            limit: None,
        })
    }

    /// The address of a page with these conditions.
    fn address(&self, path: &str, cursor: Option<&str>) -> String {
        let mut query = url::form_urlencoded::Serializer::new(String::new());
        for (name, value) in [
            ("status", &*self.status),
            ("type", &*self.r#type),
            ("run_id", &*self.run_id),
            ("cursor", cursor.unwrap_or_default()),
        ] {
            if !value.is_empty() {
                query.append_pair(name, value);
            }
        }
        format!("{path}?{}", query.finish())
    }

    fn has_conditions(&self) -> bool {
        let conditions = [&self.status, &self.r#type, &self.run_id];
        conditions.iter().any(|text| !text.trim().is_empty())
    }
}

/// The whole page.
pub(super) async fn show(
    State(app): State<App>,
    Visitor(caller): Visitor,
    Parameters(shown): Parameters<AgentsQuery>,
) -> Response {
    let list = match listed(&app, &shown).await {
        Ok(list) => list,
        Err(problem) => return refused(&problem, Some(&caller)),
    };
    let kinds = match app.kinds().await {
        Ok(kinds) => kinds,
        Err(problem) => return refused(&problem, Some(&caller)),
    };
    let body = html! {
        h1 { "Agents" }
        p.hint { "Those of all runs that are not over, in the order in which they came to be." }
        (conditions(&shown, &kinds))
        // Nothing is read aloud by itself here: what agents do changes all the time.
        div hx-ext="sse" sse-connect="/v1/events?topics=agent.*,interrupt.*,run.*&named=1" {
            div id="agents" hx-get=(shown.address("/agents/list", Some(&shown.cursor))) hx-trigger=(OF_AGENTS) { (list) }
        }
    };
    page("Agents", NavigationItem::Agents, Some(&caller), &body).into_response()
}

/// The list alone, to replace the one on the page.
pub(super) async fn list(
    State(app): State<App>,
    Visitor(caller): Visitor,
    Parameters(shown): Parameters<AgentsQuery>,
) -> Response {
    match listed(&app, &shown).await {
        Ok(list) => Html(list.into_string()).into_response(),
        Err(problem) => refused(&problem, Some(&caller)),
    }
}

fn conditions(shown: &AgentsQuery, kinds: &[String]) -> Markup {
    let mut kinds: Vec<&str> = kinds.iter().map(|kind| &**kind).collect();
    if !shown.r#type.is_empty() && !kinds.contains(&&*shown.r#type) {
        kinds.push(&shown.r#type);
    }
    html! {
        form.find method="get" action="/agents" role="search" {
            span { label for="status" { "Which" }
                select id="status" name="status" {
                    option value="" { "in any state" }
                    @for name in ACTIVITIES.map(NodeActivity::name) { option value=(name) selected[shown.status == name] { (label(name)) } }
                }
            }
            span { label for="type" { "Kind" }
                select id="type" name="type" {
                    option value="" { "of every kind" }
                    @for name in kinds { option value=(name) selected[shown.r#type == name] { (visible(&label(name))) } }
                }
            }
            span { label for="run_id" { "Run" } input id="run_id" name="run_id" value=(shown.run_id); }
            button type="submit" { "Show" }
        }
    }
}

/// An agent with the facts shown beside it.
struct AgentListRow {
    agent: AgentView,
    /// The goal of its run.
    goal: String,
    /// Its open interrupts.
    open: Vec<Interrupt>,
}

async fn listed(app: &App, shown: &AgentsQuery) -> Result<Markup, Problem> {
    let query = shown.query()?;
    let wanted = match &query.run_id {
        Some(run) => Some(Reach::EVERYTHING.run(app.store(), run).await?),
        None => None,
    };
    if let Some(run) = wanted.as_ref().filter(|run| run.state.is_final()) {
        return Ok(is_over(run));
    }
    let runs = match wanted {
        Some(run) => vec![run],
        None => live_runs(app.store()).await?,
    };
    let ids: Vec<RunId> = runs.iter().map(|run| run.id).collect();
    let (agents, next) = find_agents(app, &query, Some(&ids), |_row| true).await?;
    let now = app.now();
    let mut rows = Vec::new();
    let goals = goals(&runs);
    for agent in agents {
        let goal = goals.get(&agent.run_id).cloned().unwrap_or_default();
        let open = open_of(app, &agent).await?;
        rows.push(AgentListRow { agent, goal, open });
    }
    Ok(table(&rows, shown, next.as_deref(), now))
}

/// The goals of runs, by their ids.
fn goals(runs: &[Run]) -> HashMap<String, String> {
    let named = |run: &Run| {
        let id = run.id.to_string();
        goal_of(run).or_else(|| run.alias.clone()).unwrap_or(id)
    };
    runs.iter()
        .map(|run| (run.id.to_string(), named(run)))
        .collect()
}

/// The open interrupts of an agent.
async fn open_of(app: &App, agent: &AgentView) -> Result<Vec<Interrupt>, Problem> {
    let mut open = Vec::new();
    for id in agent
        .open_interrupts
        .iter()
        .filter_map(|id| id.parse().ok())
    {
        let found = app.store().interrupt(id).await;
        // It may have ended since the list was read.
        open.extend(found?);
    }
    Ok(open)
}

fn table(rows: &[AgentListRow], shown: &AgentsQuery, next: Option<&str>, now: Timestamp) -> Markup {
    html! {
        @if rows.is_empty() { (nothing(shown)) }
        @else {
            ul.cards { @for row in rows { (card(row, now)) } }
        }
        p.buttons {
            @if !shown.cursor.is_empty() { a id="agents-first" href=(shown.address("/agents", None)) { "From the beginning" } }
            @if next.is_some() { a id="agents-more" href=(shown.address("/agents", next)) { "More" } }
        }
    }
}

/// The links have ids, so that a reader who has moved to one with the keyboard is still there when the list is reloaded.
fn card(row: &AgentListRow, now: Timestamp) -> Markup {
    let agent = &row.agent;
    let routes = agent.can_route_to.len();
    html! {
        li.card data-testid="agent" data-agent=(agent.agent_id) data-state=(agent.status) {
            h2 { a id=(format!("agent-{}", agent.agent_id)) href=(format!("/runs/{}", agent.run_id)) {
                (visible(&label(&agent.agent_type))) ": " (visible(&one_line(&row.goal)))
            } }
            p.facts {
                (state(&agent.status))
                @if let Some(waits) = waits(agent, now) { span { (waits) } }
                span { (visible(&agent.node_id)) }
                @if agent.current_step > 0 { span { "step " (agent.current_step) } }
                @if agent.tokens > 0 { span { (agent.tokens) " tokens" } }
                span { "changed " (time_text(&agent.since, now)) }
                span { @match parent_of(agent) { Some(parent) => { "started by " (visible(parent)) }, None => "the first of its run" } }
            }
            @if !row.open.is_empty() {
                ul.open { @for one in &row.open { li {
                    (state(one.state.name())) ": "
                    a id=(format!("open-{}", one.id)) href=(format!("/review/{}", one.id)) { (asks(one)) }
                } } }
            }
            @if routes > 0 {
                details id=(format!("routes-{}", agent.agent_id)) {
                    summary { "Its answers may go to " (routes) @if routes == 1 { " type of agent" } @else { " types of agents" } }
                    p { (visible(&agent.can_route_to.iter().map(|name| label(name)).collect::<Vec<_>>().join(", "))) }
                }
            }
        }
    }
}

/// The agent that started one, by its id in their run.
fn parent_of(agent: &AgentView) -> Option<&str> {
    let parent = agent.parent_id.as_deref()?;
    Some(parent.split_once('/').map_or(parent, |(_run, node)| node))
}

fn is_over(run: &Run) -> Markup {
    html! {
        p.empty { "That run is over. " a href=(format!("/runs/{}", run.id)) { "Its page" } " shows the agents that it had." }
    }
}

fn nothing(shown: &AgentsQuery) -> Markup {
    html! {
        p.empty {
            @if shown.has_conditions() { "No agent here is like that. " a href="/agents" { "Show all of them" } }
            @else if !shown.cursor.is_empty() { "There are no more." }
            @else { "No run is under way. To see agents, start a run that waits for you: " code { (example()) } }
        }
    }
}

/// What the call to its model waits for.
pub(super) fn waits(agent: &AgentView, now: Timestamp) -> Option<Markup> {
    let waits = agent.waits.as_ref()?;
    Some(html! { (visible(&waits.why)) ", goes on " (time_text(&waits.until, now)) })
}
