//! A run: its agents, what happened, how to stop it and how to continue it.

mod controls;
mod messages;
mod timeline;

use axum::extract::State;
use axum::response::{Html, IntoResponse, Response};
use control::{Caller, Right};
use interrupts::life::{Interrupt, RunState};
use interrupts::store::{Checkpoint, Page, PageBack, Run};
use jiff::Timestamp;
use journal::executed_by_worker;
use maud::{Markup, html};
use planning::{StoredPlan, is_plan};
use serde::Deserialize;

use super::agents::waits;
use super::layout::{NavigationItem, OF_AGENTS, banner, example, page, refused, state, time};
use super::plan;
use super::quoted::{asks, one_line, said};
use super::visitor::Visitor;
use crate::app::App;
use crate::parameters::{Parameters, Segment};
use crate::problem::Problem;
use crate::routes::{InboxQuery, agents_in, find_interrupts};
use crate::visible::visible;
use crate::wire::{AgentView, RunView, TreeNode, kind_of, label, tree_of};

use controls::Tried;
pub(in crate::page) use controls::{look, message, resume, stop};
pub(in crate::page) use messages::{look as look_from_message, withdraw as withdraw_message};

/// How many runs a page shows.
const SHOWN: u32 = 100;

/// Which runs.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct RunsQuery {
    cursor: Option<String>,
}

/// The runs, newest first.
pub(super) async fn list(
    State(app): State<App>,
    Visitor(caller): Visitor,
    Parameters(shown): Parameters<RunsQuery>,
) -> Response {
    let (runs, next) = match part_of(&app, &shown).await {
        Ok(part) => part,
        Err(problem) => return refused(&problem, Some(&caller)),
    };
    let now = app.now();
    let body = html! {
        h1 { "Runs" }
        @if runs.is_empty() && shown.cursor.is_some() { p.empty { "There are no more." } }
        @else if runs.is_empty() { p.empty { "No run yet. Start one with " code { (example()) } " on this machine, or with " code { "POST /v1/runs" } "." } }
        ul.cards {
            @for run in &runs {
                @let view = RunView::of(run, &app);
                li.card data-testid="run" data-state=(view.status) {
                    h2 { a href=(format!("/runs/{}", run.id)) { (visible(&one_line(view.goal.as_deref().unwrap_or(&view.thread_id)))) } }
                    p.facts { (state(&view.status)) @if let Some(reason) = &view.reason { span { (visible(reason)) } } span { "begun " (time(run.created_at, now)) } }
                }
            }
        }
        p.buttons {
            @if shown.cursor.is_some() { a href="/runs" { "The newest" } }
            @if let Some(next) = next { a href=(format!("/runs?cursor={next}")) { "Older" } }
        }
    };
    page("Runs", NavigationItem::Runs, Some(&caller), &body).into_response()
}

/// A part of the runs, newest first, and the cursor of what is older.
async fn part_of(app: &App, shown: &RunsQuery) -> Result<(Vec<Run>, Option<u64>), Problem> {
    let cursor = crate::parameters::page(shown.cursor.as_deref(), None)?;
    let part = PageBack {
        before: shown.cursor.is_some().then_some(cursor.after),
        limit: SHOWN + 1,
    };
    let mut runs = app.store().last_runs(part).await?;
    let goes_on = runs.len() > SHOWN as usize;
    runs.truncate(SHOWN as usize);
    let last = runs.last().map(|(position, _run)| *position);
    let runs = runs.into_iter().map(|(_position, run)| run).collect();
    Ok((runs, last.filter(|_last| goes_on)))
}

/// A run.
pub(super) async fn show(
    State(app): State<App>,
    Visitor(caller): Visitor,
    Segment(run): Segment,
) -> Response {
    run_page(&app, &caller, &run, None).await
}

async fn run_page(app: &App, caller: &Caller, run: &str, tried: Option<Tried<'_>>) -> Response {
    match whole(app, caller, run, tried).await {
        Ok(response) => response,
        Err(problem) => refused(&problem, Some(caller)),
    }
}

async fn whole(
    app: &App,
    caller: &Caller,
    run: &str,
    tried: Option<Tried<'_>>,
) -> Result<Response, Problem> {
    let run = caller.reach.run(app.store(), run).await?;
    let agents = agents_in(app, caller, &run).await?;
    let view = RunView::of(&run, app);
    let title = view.goal.clone().unwrap_or_else(|| view.thread_id.clone());
    let may = Right::Direct.is_of(caller.actor.role);
    let problem = tried.map(|tried| tried.problem);
    let body = html! {
        p.crumbs { a href="/runs" { "Runs" } " / " (run.id) }
        h1 { (visible(&title)) }
        @if let Some(problem) = problem { (banner(problem)) }
        div hx-ext="sse" sse-connect=(format!("/v1/events?run_id={}&named=1", run.id)) {
            div id="live" aria-live="polite" hx-get=(format!("/runs/{}/live", run.id)) hx-trigger=(OF_AGENTS) {
                (parts(app, &run, agents.clone(), may).await?)
            }
            // Not read aloud, so that a reader in the middle of it is not interrupted.
            div id="controls" hx-get=(format!("/runs/{}/controls", run.id)) hx-trigger=(format!("late, {OF_AGENTS}")) {
                (steering(app, &run, &agents, may, tried).await?)
            }
            section aria-labelledby="events" { h2 id="events" { "What happened" }
                p.hint { "The last thing first." }
                div id="timeline" hx-get=(format!("/runs/{}/timeline", run.id))
                    hx-trigger=(format!("sse:llm.call_started, sse:tool.started, sse:tool.finished, {OF_AGENTS}")) {
                    (timeline::lines(app, &run).await?)
                }
            }
        }
    };
    let page = page(&title, NavigationItem::Runs, Some(caller), &body);
    Ok(match problem {
        Some(problem) => super::layout::again(problem, page),
        None => page.into_response(),
    })
}

/// The controls for a run in its current state.
async fn steering(
    app: &App,
    run: &Run,
    agents: &[AgentView],
    may: bool,
    tried: Option<Tried<'_>>,
) -> Result<Markup, Problem> {
    let checkpoints = checkpoints(app, run).await?;
    let now = app.now();
    let may_resume = may && !app.is_executed(run);
    Ok(html! {
        @if may && !run.state.is_final() { (controls::controls(run, agents, tried)) }
        (controls::saved(run, &checkpoints, (may_resume, may), tried, now))
        (soon_again(app, run, "controls"))
    })
}

/// No event reports that a process releases a run: if it will soon, the part is reloaded by itself.
fn soon_again(app: &App, run: &Run, part: &str) -> Markup {
    let seconds = match run.state {
        RunState::Paused | RunState::Completed | RunState::Failed | RunState::Cancelled => 2,
        RunState::Waiting => 10,
        RunState::Created | RunState::Running | RunState::Stopping => 0,
    };
    let stays = seconds == 0 || !app.is_executed(run);
    html! {
        @if !stays {
            div hx-get=(format!("/runs/{}/{part}", run.id)) hx-target=(format!("#{part}")) hx-trigger=(format!("load delay:{seconds}s")) {}
        }
    }
}

/// The controls, alone.
pub(super) async fn controls(
    State(app): State<App>,
    Visitor(caller): Visitor,
    Segment(run): Segment,
) -> Response {
    let steering = async {
        let run = caller.reach.run(app.store(), &run).await?;
        let agents = agents_in(&app, &caller, &run).await?;
        let may = Right::Direct.is_of(caller.actor.role);
        steering(&app, &run, &agents, may, None).await
    };
    part(steering.await, &caller)
}

/// The part that changes while the page is open.
pub(super) async fn live(
    State(app): State<App>,
    Visitor(caller): Visitor,
    Segment(run): Segment,
) -> Response {
    let parts = async {
        let run = caller.reach.run(app.store(), &run).await?;
        let agents = agents_in(&app, &caller, &run).await?;
        let may = Right::Direct.is_of(caller.actor.role);
        parts(&app, &run, agents, may).await
    };
    part(parts.await, &caller)
}

/// What happened, alone.
pub(super) async fn timeline(
    State(app): State<App>,
    Visitor(caller): Visitor,
    Segment(run): Segment,
) -> Response {
    let lines = async {
        let run = caller.reach.run(app.store(), &run).await?;
        timeline::lines(&app, &run).await
    };
    part(lines.await, &caller)
}

fn part(made: Result<Markup, Problem>, caller: &Caller) -> Response {
    match made {
        Ok(parts) => Html(parts.into_string()).into_response(),
        Err(problem) => refused(&problem, Some(caller)),
    }
}

async fn parts(app: &App, run: &Run, agents: Vec<AgentView>, may: bool) -> Result<Markup, Problem> {
    let view = RunView::of(run, app);
    let tree = tree_of(run.id, agents);
    let query = InboxQuery {
        status: Some("open".to_owned()),
        run_id: Some(run.id.to_string()),
        ..InboxQuery::default()
    };
    let (open, _) = find_interrupts(app, &query).await?;
    let plan = plan_of_run(app, run).await;
    let now = app.now();
    Ok(html! {
        p.facts data-testid="run" data-state=(view.status) {
            (state(&view.status))
            @if let Some(reason) = &view.reason { span { (visible(reason)) } }
            span { @if view.executing { "a process works on it" } @else if run.state.is_final() { "it has ended" } @else if view.waits_for_server { "it waits for a server" } @else if executed_by_worker(&run.content) { "no worker has it now" } @else { "no process works on it now" } }
            span { "begun " (time(run.created_at, now)) }
        }
        @if !open.is_empty() {
            section.wait aria-labelledby="waits" { h2 id="waits" { "Waits for a person" }
                ul { @for one in &open {
                    li { a href=(format!("/review/{}", one.id)) { (asks(one)) } " (" (label(kind_of(one))) ")" (also_asked(one)) }
                } }
            }
        }
        @if let Some(plan) = &plan { (plan::current(plan)) }
        section aria-labelledby="agents" { h2 id="agents" { "Agents" }
            @if tree.is_empty() { p { "None yet." } }
            (branch(&tree, &open, now))
        }
        (messages::waiting(app, run, may).await?)
        (soon_again(app, run, "live"))
    })
}

/// Who else requests a stop.
fn also_asked(stop: &Interrupt) -> Markup {
    let askings = stop.askings();
    let in_force = askings.iter().filter(|asking| asking.is_in_force());
    let names: Vec<&str> = in_force.map(|asking| asking.by.name.as_str()).collect();
    html! {
        @if names.len() > 1 { ", requested by " (visible(&names.join(", "))) }
    }
}

/// The plan of a run, if it carries out one. If the plan cannot be read, the run is shown without it.
async fn plan_of_run(app: &App, run: &Run) -> Option<StoredPlan> {
    if !is_plan(run) {
        return None;
    }
    match StoredPlan::read(app.store(), run).await {
        Ok(plan) => plan,
        Err(error) => {
            tracing::warn!(run = %run.id, %error, "the plan cannot be read");
            None
        }
    }
}

fn branch(nodes: &[TreeNode], open: &[Interrupt], now: Timestamp) -> Markup {
    html! {
        ul.tree { @for node in nodes {
            @let asks = open.iter().find(|one| one.node.as_str() == node.agent.node_id);
            li data-testid="agent" data-state=(node.agent.status) {
                strong { (label(&node.agent.agent_type)) } " " (state(&node.agent.status))
                @if let Some(waits) = waits(&node.agent, now) { " " (waits) }
                " " span.hint { (visible(&node.agent.node_id)) @if node.agent.current_step > 0 { ", step " (node.agent.current_step) } @if node.agent.tokens > 0 { ", " (node.agent.tokens) " tokens" } }
                @if let Some(asks) = asks { " " a href=(format!("/review/{}", asks.id)) { (said(asks)) } }
                @if !node.children.is_empty() { (branch(&node.children, open, now)) }
            }
        } }
    }
}

/// The last checkpoints of a run, newest first.
async fn checkpoints(app: &App, run: &Run) -> Result<Vec<Checkpoint>, Problem> {
    let part = Page {
        after: run.checkpoint.saturating_sub(20),
        limit: 20,
    };
    let mut checkpoints = app.store().checkpoints(run.id, part).await?;
    checkpoints.reverse();
    Ok(checkpoints)
}
