//! A run: its agents, what happened, how to stop it and how to go on.

use axum::extract::State;
use axum::response::{Html, IntoResponse, Redirect, Response};
use interrupts::life::Scope;
use interrupts::store::{Checkpoint, NewMessage, Page, Run};
use maud::{Markup, html};
use routing_core::{InterruptType, NodeId, StopMode};
use serde::Deserialize;
use serde_json::Value;

use super::layout::{Place, banner, page, refused, time, time_text};
use super::visitor::Visitor;
use crate::access::{Caller, Right};
use crate::acting::{self, ResumeOrder, StopOrder, message_key, stop as ask_to_stop};
use crate::address::{Found, first_of, in_run};
use crate::app::App;
use crate::body::FormFields;
use crate::parameters::{Parameters, Segment, wrong};
use crate::problem::{Kind, Problem, of_store};
use crate::routes::{InboxQuery, agents_in, find_interrupts, told_of};
use crate::visible::visible;
use crate::wire::{RunView, TreeNode, kind_of, label, tree_of};

/// How many runs and events a page shows.
const SHOWN: usize = 100;

/// Which runs.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Shown {
    cursor: Option<String>,
}

/// The runs.
pub(super) async fn list(
    State(app): State<App>,
    Visitor(caller): Visitor,
    Parameters(shown): Parameters<Shown>,
) -> Response {
    let page_of = crate::parameters::page(shown.cursor.as_deref(), None);
    let runs = match page_of {
        Ok(part) => app.store().runs(&[], part).await.map_err(|e| of_store(&e)),
        Err(problem) => Err(problem),
    };
    let runs = match runs {
        Ok(runs) => runs,
        Err(problem) => return refused(&problem, Some(&caller)),
    };
    let now = app.now();
    let next = (runs.len() >= SHOWN)
        .then(|| runs.last().map(|(position, _)| *position))
        .flatten();
    let body = html! {
        h1 { "Runs" }
        @if runs.is_empty() { p.empty { "No run yet. Start one: " code { "irq run \"Find the modules\"" } } }
        ul.cards {
            @for (_, run) in &runs {
                @let view = RunView::of(run, now);
                li.card data-testid="run" data-state=(view.status) {
                    h2 { a href=(format!("/runs/{}", run.id)) { (visible(view.goal.as_deref().unwrap_or(&view.thread_id))) } }
                    p.facts { span.state { (label(&view.status)) } span { "created " (time(run.created_at, now)) } }
                }
            }
        }
        @if let Some(next) = next { p { a href=(format!("/runs?cursor={next}")) { "More" } } }
    };
    page("Runs", Place::Runs, Some(&caller), &body).into_response()
}

/// A run.
pub(super) async fn show(
    State(app): State<App>,
    Visitor(caller): Visitor,
    Segment(run): Segment,
) -> Response {
    shown(&app, &caller, &run, None).await
}

async fn shown(app: &App, caller: &Caller, run: &str, problem: Option<&Problem>) -> Response {
    let run = match app.run_named(run).await {
        Ok(run) => run,
        Err(problem) => return refused(&problem, Some(caller)),
    };
    let (live, checkpoints) = match (parts(app, &run).await, checkpoints(app, &run).await) {
        (Ok(live), Ok(checkpoints)) => (live, checkpoints),
        (Err(problem), _) | (_, Err(problem)) => return refused(&problem, Some(caller)),
    };
    let view = RunView::of(&run, app.now());
    let title = view.goal.clone().unwrap_or_else(|| view.thread_id.clone());
    let directs = Right::Direct.is_of(caller.actor.role) && !run.state.is_final();
    let body = html! {
        p.crumbs { a href="/runs" { "Runs" } " / " (run.id) }
        h1 { (visible(&title)) }
        @if let Some(problem) = problem { (banner(problem)) }
        div hx-ext="sse" sse-connect=(format!("/v1/events?run_id={}&named=1", run.id)) {
            div id="live" aria-live="polite" hx-get=(format!("/runs/{}/live", run.id))
                hx-trigger="sse:agent.status_changed, sse:agent.finished, sse:interrupt.opened, sse:interrupt.resolved, sse:interrupt.rerouted, sse:interrupt.acknowledged, sse:run.running, sse:run.stopping, sse:run.paused, sse:run.waiting, sse:run.completed, sse:run.failed, sse:run.cancelled, sse:checkpoint.saved, htmx:sseOpen from:closest [sse-connect]" {
                (live)
            }
        }
        @if directs { (controls(&run)) }
        (saved(&run, &checkpoints, Right::Direct.is_of(caller.actor.role), app.now()))
    };
    let page = page(&title, Place::Runs, Some(caller), &body);
    match problem {
        Some(problem) => super::layout::again(problem, page),
        None => page.into_response(),
    }
}

/// What changes while one looks at it.
pub(super) async fn live(
    State(app): State<App>,
    Visitor(caller): Visitor,
    Segment(run): Segment,
) -> Response {
    let run = match app.run_named(&run).await {
        Ok(run) => run,
        Err(problem) => return refused(&problem, Some(&caller)),
    };
    match parts(&app, &run).await {
        Ok(parts) => Html(parts.into_string()).into_response(),
        Err(problem) => refused(&problem, Some(&caller)),
    }
}

async fn parts(app: &App, run: &Run) -> Result<Markup, Problem> {
    let view = RunView::of(run, app.now());
    let tree = tree_of(run.id, agents_in(app, run.id).await?);
    let query = InboxQuery {
        status: Some("open".to_owned()),
        run_id: Some(run.id.to_string()),
        ..InboxQuery::default()
    };
    let (open, _) = find_interrupts(app, &query).await?;
    let events = last_events(app, run).await?;
    let now = app.now();
    Ok(html! {
        p.facts data-testid="run" data-state=(view.status) {
            span.state { (label(&view.status)) }
            @if let Some(reason) = &view.reason { span { (visible(reason)) } }
            span { @if view.executing { "is executed now" } @else { "nobody executes it now" } }
            span { "created " (time(run.created_at, now)) }
        }
        @if !open.is_empty() {
            section aria-labelledby="waits" { h2 id="waits" { "Waits for a person" }
                ul { @for one in &open {
                    li { a href=(format!("/review/{}", one.id)) { (visible(&one.reason)) } " (" (label(kind_of(one))) ")" }
                } }
            }
        }
        section aria-labelledby="agents" { h2 id="agents" { "Agents" } (branch(&tree)) }
        section aria-labelledby="events" { h2 id="events" { "What happened" }
            ol.events { @for event in &events { (line(event, now)) } }
        }
    })
}

fn branch(nodes: &[TreeNode]) -> Markup {
    html! {
        ul.tree { @for node in nodes {
            li data-testid="agent" data-state=(node.agent.status) {
                strong { (label(&node.agent.agent_type)) } " " span.state { (label(&node.agent.status)) }
                " " span.hint { (visible(&node.agent.node_id)) ", step " (node.agent.current_step) }
                @if !node.children.is_empty() { (branch(&node.children)) }
            }
        } }
    }
}

/// The last events of a run, newest first.
async fn last_events(app: &App, run: &Run) -> Result<Vec<Value>, Problem> {
    let mut events: Vec<String> = Vec::new();
    let mut after = app.feed.latest().saturating_sub(4_000);
    loop {
        let (told, position) = told_of(app, run.id, after, 500).await?;
        let done = position == after || told.is_empty();
        events.extend(told);
        if done {
            break;
        }
        after = position;
    }
    Ok(events
        .iter()
        .rev()
        .take(SHOWN)
        .filter_map(|json| serde_json::from_str(json).ok())
        .collect())
}

fn line(event: &Value, now: jiff::Timestamp) -> Markup {
    let text = |pointer: &str| event.pointer(pointer).and_then(Value::as_str);
    let kind = text("/type").unwrap_or_default();
    let kind = kind.trim_start_matches("dev.irq.").trim_end_matches(".v1");
    let agent = text("/data/agent_id").and_then(|agent| agent.split_once('/'));
    html! {
        li {
            (time_text(text("/time").unwrap_or_default(), now)) " " code { (visible(kind)) }
            @if let Some((_, node)) = agent { " " (visible(node)) }
            @if let Some(tool) = text("/data/tool") { " " code { (visible(tool)) } }
            @if let Some(state) = text("/data/status").or(text("/data/state")).or(text("/data/outcome")) { " " span.state { (label(state)) } }
            @if let Some(said) = text("/data/message") { " " span.hint { (visible(said)) } }
            @if event.pointer("/data/left_behind").and_then(Value::as_bool) == Some(true) { " " strong { "Something of it may still run." } }
        }
    }
}

fn controls(run: &Run) -> Markup {
    html! {
        section aria-labelledby="stop" { h2 id="stop" { "Stop" }
            form.stack method="post" action=(format!("/runs/{}/stop", run.id)) {
                label for="node" { "Agent (its id in the run; empty for the whole run)" }
                input id="node" name="node" autocomplete="off";
                label for="reason" { "Why" }
                input id="reason" name="reason" autocomplete="off";
                fieldset { legend { "How" }
                    p.choice { input type="radio" id="graceful" name="mode" value="graceful" checked; label for="graceful" { "Finish the step, then stop" } }
                    p.choice { input type="radio" id="immediate" name="mode" value="immediate"; label for="immediate" { "Stop now" } }
                }
                p.hint { "A stop of an agent reaches all that it started; one of the run reaches everybody." }
                p.buttons {
                    button type="submit" name="type" value="PAUSE" { "Pause" }
                    button.danger type="submit" name="type" value="STOP" { "End the run" }
                }
            }
        }
        section aria-labelledby="steer" { h2 id="steer" { "Steer" }
            form.stack method="post" action=(format!("/runs/{}/message", run.id)) {
                label for="to" { "Agent (its id in the run; empty for the first)" }
                input id="to" name="node" autocomplete="off";
                label for="text" { "Message, read at the start of its next turn" }
                textarea id="text" name="text" rows="3" required {}
                p.buttons { button type="submit" { "Send" } }
            }
        }
    }
}

fn saved(run: &Run, checkpoints: &[Checkpoint], may: bool, now: jiff::Timestamp) -> Markup {
    html! {
        section aria-labelledby="checkpoints" { h2 id="checkpoints" { "Checkpoints" }
            @if checkpoints.is_empty() { p { "None yet." } }
            ul { @for checkpoint in checkpoints {
                li data-testid="checkpoint" {
                    "Number " (checkpoint.id.number) ", " (time(checkpoint.at, now))
                    @if may {
                        form.inline method="post" action=(format!("/runs/{}/resume", run.id)) {
                            input type="hidden" name="checkpoint" value=(checkpoint.id.number);
                            button type="submit" { "Go on from here as a run of its own" }
                        }
                    }
                }
            } }
            @if may && !run.state.is_final() {
                form.stack method="post" action=(format!("/runs/{}/resume", run.id)) {
                    label for="input" { "New input (may be empty)" }
                    input id="input" name="input" autocomplete="off";
                    p.buttons { button type="submit" { "Resume" } }
                }
            }
        }
    }
}

/// The last checkpoints of a run, newest first.
async fn checkpoints(app: &App, run: &Run) -> Result<Vec<Checkpoint>, Problem> {
    let part = Page {
        after: run.checkpoint.saturating_sub(20),
        limit: 20,
    };
    let mut checkpoints = app
        .store()
        .checkpoints(run.id, part)
        .await
        .map_err(|error| of_store(&error))?;
    checkpoints.reverse();
    Ok(checkpoints)
}

async fn agent_of(app: &App, run: &str, fields: &FormFields) -> Result<Found, Problem> {
    let run = app.run_named(run).await?;
    match fields.first("node") {
        None => first_of(app, run).await,
        Some(text) => {
            let node = NodeId::new(text).map_err(|error| wrong("node", error.to_string()))?;
            in_run(app, run, &node, text).await
        }
    }
}

/// Stops by the form.
pub(super) async fn stop(
    State(app): State<App>,
    Visitor(caller): Visitor,
    Segment(run): Segment,
    fields: FormFields,
) -> Response {
    let outcome = stopped(&app, &caller, &run, &fields).await;
    back(&app, &caller, &run, outcome).await
}

async fn stopped(
    app: &App,
    caller: &Caller,
    run: &str,
    fields: &FormFields,
) -> Result<String, Problem> {
    Right::Direct.demand(caller)?;
    let agent = agent_of(app, run, fields).await?;
    let order = StopOrder {
        interrupt_type: match fields.first("type") {
            Some("STOP") => InterruptType::Stop,
            _ => InterruptType::Pause,
        },
        mode: match fields.first("mode") {
            Some("immediate") => StopMode::Immediate,
            _ => StopMode::Graceful,
        },
        scope: match fields.first("node") {
            Some(_) => Scope::Agent,
            None => Scope::Run,
        },
        reason: fields
            .first("reason")
            .unwrap_or("asked for on the page")
            .to_owned(),
        message: None,
        limit_ms: None,
        metadata: None,
        key: None,
    };
    ask_to_stop(app, caller, &agent, order).await?;
    Ok(run.to_owned())
}

/// Goes on by the form.
pub(super) async fn resume(
    State(app): State<App>,
    Visitor(caller): Visitor,
    Segment(run): Segment,
    fields: FormFields,
) -> Response {
    let order = ResumeOrder {
        checkpoint: fields
            .first("checkpoint")
            .and_then(|text| text.parse().ok()),
        input: fields.first("input").map(str::to_owned),
        key: None,
    };
    let outcome = match app.run_named(&run).await {
        Ok(stored) => acting::resume(&app, &caller, &stored, order).await,
        Err(problem) => Err(problem),
    };
    let outcome = outcome.map(|resumed| resumed.to_string());
    back(&app, &caller, &run, outcome).await
}

/// Sends a message by the form.
pub(super) async fn message(
    State(app): State<App>,
    Visitor(caller): Visitor,
    Segment(run): Segment,
    fields: FormFields,
) -> Response {
    let outcome = sent(&app, &caller, &run, &fields).await;
    back(&app, &caller, &run, outcome).await
}

async fn sent(
    app: &App,
    caller: &Caller,
    run: &str,
    fields: &FormFields,
) -> Result<String, Problem> {
    Right::Direct.demand(caller)?;
    let agent = agent_of(app, run, fields).await?;
    let text = fields
        .first("text")
        .ok_or_else(|| wrong("text", "say something"))?;
    let message = NewMessage {
        run: agent.run.id,
        node: agent.node.node.clone(),
        text: text.to_owned(),
        from: caller.actor.clone(),
        key: message_key(caller, None)?,
    };
    let sent = app.store().send_message(message).await;
    sent.map_err(|error| Problem::new(Kind::NotInState, error.to_string(), "read the run again"))?;
    app.wake(&agent.run).await;
    Ok(run.to_owned())
}

/// Back to the run, or the run with what went wrong.
async fn back(app: &App, caller: &Caller, run: &str, outcome: Result<String, Problem>) -> Response {
    match outcome {
        Ok(run) => Redirect::to(&format!("/runs/{run}")).into_response(),
        Err(problem) => shown(app, caller, run, Some(&problem)).await,
    }
}
