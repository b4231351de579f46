//! How to stop, steer and continue a run.

use axum::extract::State;
use axum::response::{IntoResponse, Redirect, Response};
use control::{
    Caller, FoundAgent, RequestStop, ResumeOrder, Right, SendMessage, StopOrder, first_agent,
    in_run,
};
use interrupt_router::{InterruptType, NodeId, RunId, StopMode};
use interrupts::life::Scope;
use interrupts::store::{Checkpoint, Run};
use journal::Workflow;
use maud::{Markup, html};

use super::run_page;
use crate::acting::{self, KeyedResume};
use crate::app::App;
use crate::body::FormFields;
use crate::page::layout::{refused, time};
use crate::page::visitor::Visitor;
use crate::parameters::{Segment, wrong};
use crate::problem::{Code, Problem};
use crate::visible::visible;
use crate::wire::{AgentView, label};

/// What a list says of an agent that can no longer be stopped.
const ENDED: &str = "which has ended";
/// What a list says of an agent that reads no messages.
const READS_NOTHING: &str = "which reads nothing now";

/// A form of the page of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RunForm {
    Stop,
    Resume,
    Message,
    /// A form without fields.
    Button,
}

/// A refused form: it is shown again as it was filled in.
#[derive(Debug, Clone, Copy)]
pub(super) struct Tried<'form> {
    pub(super) form: RunForm,
    pub(super) fields: &'form FormFields,
    pub(super) problem: &'form Problem,
}

/// What was filled in, if this form was refused.
fn filled<'form>(tried: Option<Tried<'form>>, form: RunForm) -> Option<&'form FormFields> {
    tried
        .filter(|tried| tried.form == form)
        .map(|tried| tried.fields)
}

fn text<'form>(filled: Option<&'form FormFields>, name: &str) -> &'form str {
    filled
        .and_then(|fields| fields.first(name))
        .unwrap_or_default()
}

/// The controls to stop and steer a run that has not ended. Its parts have ids, so that what is open and written in
/// them stays when it is reloaded.
pub(super) fn controls(run: &Run, agents: &[AgentView], tried: Option<Tried<'_>>) -> Markup {
    let live: Vec<&AgentView> = agents.iter().filter(|agent| is_live(agent)).collect();
    html! {
        (stopping(run, (agents, &live), filled(tried, RunForm::Stop)))
        (sending(run, (agents, &live), filled(tried, RunForm::Message)))
    }
}

fn stopping(
    run: &Run,
    (agents, live): (&[AgentView], &[&AgentView]),
    filled: Option<&FormFields>,
) -> Markup {
    let (whom, at_once) = (text(filled, "node"), text(filled, "mode") == "immediate");
    let gone = gone(whom, agents, live);
    html! {
        details.panel id="stopping" open[filled.is_some()] { summary { "Stop or pause" }
            form.stack method="post" action=(format!("/runs/{}/stop", run.id)) {
                label for="node" { "Whom" }
                select id="node" name="node" data-gone=(ENDED) {
                    option value="" { "The whole run: " (counted(live.len())) }
                    @for agent in live {
                        option data-name=(named(agent)) value=(agent.node_id) selected[agent.node_id == whom] { (named(agent)) ": " (counted(reached(agent, live))) }
                    }
                    (chosen_still(gone.as_deref(), whom, ENDED))
                }
                p.banner id="node-gone" role="alert" hidden[gone.is_none()] { "The agent you chose has ended. Choose another one; nothing is stopped until you do." }
                p.hint { "A stop of an agent reaches all that it has started, too." }
                label for="reason" { "Why" }
                input id="reason" name="reason" autocomplete="off" value=(text(filled, "reason"));
                fieldset { legend { "How" }
                    p.choice { input type="radio" id="graceful" name="mode" value="graceful" checked[!at_once]; label for="graceful" { "Finish the step, then stop" } }
                    p.choice { input type="radio" id="immediate" name="mode" value="immediate" checked[at_once]; label for="immediate" { "Stop now" } }
                }
                p.buttons {
                    button type="submit" name="type" value="PAUSE" { "Pause" }
                    button.danger type="submit" name="type" value="STOP" { "End for good" }
                }
                p.hint { "What is paused can be resumed. What is ended cannot; only a checkpoint of it can be gone on from." }
            }
        }
    }
}

/// Only an agent that will have another turn reads a message; which ones do changes while the run works.
fn sending(
    run: &Run,
    (agents, live): (&[AgentView], &[&AgentView]),
    filled: Option<&FormFields>,
) -> Markup {
    let readers = live.iter().filter(|agent| agent.takes_messages);
    let readers: Vec<&AgentView> = readers.copied().collect();
    let (whom, said) = (text(filled, "node"), text(filled, "text"));
    let gone = gone(whom, agents, &readers);
    html! {
        details.panel id="sending" open[filled.is_some()] { summary { "Send a message" }
            form.stack method="post" action=(format!("/runs/{}/message", run.id)) {
                @if readers.is_empty() && gone.is_none() {
                    p id="to" { "No agent reads messages now: none of them will have another turn." }
                } @else {
                    label for="to" { "To" }
                    select id="to" name="node" data-gone=(READS_NOTHING) {
                        @for agent in &readers {
                            option data-name=(named(agent)) value=(agent.node_id) selected[agent.node_id == whom] { (named(agent)) }
                        }
                        (chosen_still(gone.as_deref(), whom, READS_NOTHING))
                    }
                    p.banner id="to-gone" role="alert" hidden[gone.is_none()] { "The agent you chose reads no messages now: it has ended, or has no further turn. Choose another one; what you have written is not sent until you do." }
                }
                label for="text" { "Message, read at the start of its next turn" }
                textarea id="text" name="text" rows="3" required { (said) }
                p.buttons { button type="submit" disabled[readers.is_empty()] { "Send" } }
            }
        }
    }
}

/// The label of the chosen agent, if it can no longer be chosen; `None` otherwise.
fn gone(whom: &str, agents: &[AgentView], offered: &[&AgentView]) -> Option<String> {
    if whom.is_empty() || offered.iter().any(|agent| agent.node_id == whom) {
        return None;
    }
    let known = agents.iter().find(|agent| agent.node_id == whom);
    Some(known.map_or_else(|| visible(whom).to_string(), named))
}

/// The choice stays, even if it is no longer possible: only a person chooses another target.
fn chosen_still(gone: Option<&str>, whom: &str, why: &str) -> Markup {
    html! {
        @if let Some(name) = gone {
            option value=(whom) data-name=(name) data-gone selected { (name) ", " (why) }
        }
    }
}

fn is_live(agent: &AgentView) -> bool {
    !matches!(
        &*agent.status,
        "completed" | "failed" | "cancelled" | "pruned"
    )
}

fn named(agent: &AgentView) -> String {
    format!("{} ({})", label(&agent.agent_type), visible(&agent.node_id))
}

/// How many agents a stop of this one reaches.
fn reached(agent: &AgentView, live: &[&AgentView]) -> usize {
    let below = format!("{}/", agent.node_id);
    let is_reached =
        |other: &&&AgentView| other.node_id == agent.node_id || other.node_id.starts_with(&below);
    live.iter().filter(is_reached).count()
}

fn counted(agents: usize) -> String {
    match agents {
        1 => "1 agent".to_owned(),
        many => format!("{many} agents"),
    }
}

/// The checkpoints, with the possible actions from them.
pub(super) fn saved(
    run: &Run,
    checkpoints: &[Checkpoint],
    (may_resume, may_fork): (bool, bool),
    tried: Option<Tried<'_>>,
    now: jiff::Timestamp,
) -> Markup {
    let input = text(filled(tried, RunForm::Resume), "input");
    // Code is executed from its start: it reads no new input, and cannot be forked.
    let is_code = matches!(Workflow::in_content(&run.content), Workflow::Embedded(_));
    html! {
        @if may_resume && !run.state.is_final() {
            section aria-labelledby="resume" { h2 id="resume" { "Go on" }
                form.stack method="post" action=(format!("/runs/{}/resume", run.id)) {
                    @if !is_code {
                        label for="input" { "New input for the agent that has the turn (may be empty)" }
                        input id="input" name="input" autocomplete="off" value=(input);
                    }
                    p.buttons { button type="submit" { "Resume" } }
                }
            }
        }
        section aria-labelledby="checkpoints" { h2 id="checkpoints" { "Checkpoints" }
            @if checkpoints.is_empty() { p { "None yet. One is saved when the run pauses, and when it ends." } }
            ul.checkpoints { @for checkpoint in checkpoints {
                li data-testid="checkpoint" {
                    span { "Number " (checkpoint.id.number) ", " (time(checkpoint.at, now)) }
                    @if !checkpoint.is_whole() { span.hint { "damaged: nothing goes on from it" } }
                    @else if may_fork && !is_code {
                        form method="post" action=(format!("/runs/{}/resume", run.id)) {
                            input type="hidden" name="checkpoint" value=(checkpoint.id.number);
                            button.quiet type="submit" aria-label=(format!("Resume from here, as a new run: checkpoint {}", checkpoint.id.number)) { "Resume from here, as a new run" }
                        }
                    }
                }
            } }
        }
    }
}

async fn agent_of(
    app: &App,
    caller: &Caller,
    run: &str,
    fields: &FormFields,
) -> Result<FoundAgent, Problem> {
    let run = caller.reach.run(app.store(), run).await?;
    match fields.first("node") {
        None => Ok(first_agent(app.store(), run).await?),
        Some(text) => {
            let node = NodeId::new(text).map_err(|error| wrong("node", error.to_string()))?;
            Ok(in_run(app.store(), run, &node, text).await?)
        }
    }
}

/// Stops by the form.
pub(in crate::page) async fn stop(
    State(app): State<App>,
    Visitor(caller): Visitor,
    Segment(run): Segment,
    fields: FormFields,
) -> Response {
    let outcome = stopped(&app, &caller, &run, &fields).await;
    back(&app, &caller, &run, (RunForm::Stop, &fields), outcome).await
}

async fn stopped(
    app: &App,
    caller: &Caller,
    run: &str,
    fields: &FormFields,
) -> Result<RunId, Problem> {
    Right::Direct.demand(caller)?;
    let agent = agent_of(app, caller, run, fields).await?;
    if fields.first("node").is_some() && agent.node.activity.is_final() {
        return Err(ended(&agent));
    }
    let interrupt_type = match fields.first("type") {
        Some("STOP") => InterruptType::Stop,
        _ => InterruptType::Pause,
    };
    let mode = match fields.first("mode") {
        Some("immediate") => StopMode::Immediate,
        _ => StopMode::Graceful,
    };
    let scope = match fields.first("node") {
        Some(_) => Scope::Agent,
        None => Scope::Run,
    };
    let reason = fields.first("reason").unwrap_or("asked for on the page");
    let order = StopOrder::new(interrupt_type, mode, scope, reason);
    let stop = RequestStop::of(&agent, order, None);
    app.carry_out(caller, stop).await?;
    Ok(agent.run.id)
}

/// An agent that has ended cannot be stopped; no other agent is stopped instead.
fn ended(agent: &FoundAgent) -> Problem {
    let detail = format!("{} has ended: nothing was stopped", agent.address());
    let hint = "choose the agent that you mean, or the whole run";
    Problem::new(Code::RunFinished, detail, hint)
}

/// Goes on by the form.
pub(in crate::page) async fn resume(
    State(app): State<App>,
    Visitor(caller): Visitor,
    Segment(run): Segment,
    fields: FormFields,
) -> Response {
    let checkpoint = fields.first("checkpoint");
    let order = ResumeOrder {
        checkpoint: checkpoint.and_then(|text| text.parse().ok()),
        input: fields.first("input").map(str::to_owned),
        accept_catalogue: false,
        drop_pending: false,
    };
    let how = KeyedResume { order, key: None };
    let outcome = match caller.reach.run(app.store(), &run).await {
        Ok(stored) => acting::resume(&app, &caller, &stored, how).await,
        Err(error) => Err(error.into()),
    };
    back(&app, &caller, &run, (RunForm::Resume, &fields), outcome).await
}

/// Sends a message by the form.
pub(in crate::page) async fn message(
    State(app): State<App>,
    Visitor(caller): Visitor,
    Segment(run): Segment,
    fields: FormFields,
) -> Response {
    let outcome = sent(&app, &caller, &run, &fields).await;
    back(&app, &caller, &run, (RunForm::Message, &fields), outcome).await
}

async fn sent(
    app: &App,
    caller: &Caller,
    run: &str,
    fields: &FormFields,
) -> Result<RunId, Problem> {
    let agent = agent_of(app, caller, run, fields).await?;
    let text = fields
        .first("text")
        .ok_or_else(|| wrong("text", "say something"))?;
    let message = SendMessage {
        run: agent.run.id,
        node: agent.node.node.clone(),
        text: text.to_owned(),
        key: None,
    };
    app.carry_out(caller, message).await?;
    Ok(agent.run.id)
}

/// Back to the run, or the run with the problem and what was filled in.
pub(super) async fn back(
    app: &App,
    caller: &Caller,
    run: &str,
    (form, fields): (RunForm, &FormFields),
    outcome: Result<RunId, Problem>,
) -> Response {
    let problem = match outcome {
        Ok(run) => return Redirect::to(&format!("/runs/{run}")).into_response(),
        Err(problem) => problem,
    };
    let tried = Tried {
        form,
        fields,
        problem: &problem,
    };
    run_page(app, caller, run, Some(tried)).await
}

/// Back to the run, from the address of one of its forms that was opened as a page.
pub(in crate::page) async fn look(
    State(app): State<App>,
    Visitor(caller): Visitor,
    Segment(run): Segment,
) -> Response {
    to_run(&app, &caller, &run).await
}

pub(super) async fn to_run(app: &App, caller: &Caller, run: &str) -> Response {
    match caller.reach.run(app.store(), run).await {
        Ok(run) => Redirect::to(&format!("/runs/{}", run.id)).into_response(),
        Err(error) => refused(&error.into(), Some(caller)),
    }
}
