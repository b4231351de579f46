//! A node's turn: it reads its messages, asks its model, and decides where to go.

use std::sync::Arc;

use engine::run::NodeActivity;
use interrupt_router::ask::{AskError, ModelRouting};
use interrupt_router::event::{INTERRUPT_REQUEST_MARK, InterruptRequestEvent};
use interrupt_router::model::Message;
use interrupt_router::{
    AgentType, EventId, NodeId, Outcome, RouteId, Routing, StopReason, StopScope,
};
use llm::SupervisorStep;

use super::agents_run::AgentsRun;
use super::failure::FlowError;
use super::flow::{Flow, FlowEnd, Next};
use super::interrupts;
use super::kinds::{INTERRUPT_FIELD, comes_back};
use super::launcher::LaunchContext;
use super::node::{Node, Path};
use super::pruning;
use super::question;
use crate::agent_kind::{AgentKind, RouteType};
use crate::prompts;
use engine::run::RunEvent;
use engine::tools::Parked;
use journal::entry::{CutOff, TurnStart};
use journal::error::KeepError;
use journal::message::AgentMessage;
use journal::place;

/// After so many interrupts of one type in a row, a node is told to do something else.
const LONGEST_STREAK: u32 = 2;

/// How one step ended.
enum StepResult<R> {
    /// With an answer that fits.
    Answered { routing: R, field: &'static str },
    /// The flow ends here.
    Ended(FlowEnd),
    /// No answer fitted, and the corrections are exhausted.
    Stuck(String),
    /// The node, or one above it, was cut off from outside.
    CutOff(CutOff),
}

/// Why a node takes a turn.
#[derive(Default)]
struct Cause {
    /// Something came after its last answer.
    again: bool,
    /// The supervisor's words, repeated to the node.
    reminder: Option<String>,
}

/// Gives the node its turn: a step, and another one if something came for it meanwhile.
pub(super) async fn turn<R: Routing>(flow: &Flow, path: &mut Path) -> Result<Next, FlowError> {
    let mut cause = Cause::default();
    loop {
        let (routing, field) = match step::<R>(flow, path, cause).await? {
            StepResult::Answered { routing, field } => (routing, field),
            StepResult::Ended(end) => return Ok(Next::Finished(end)),
            StepResult::Stuck(problem) => {
                let interrupt = interrupts::of_a_stuck_node(path.top()?.kind, problem);
                return Box::pin(interrupts::handle(flow, path, interrupt)).await;
            }
            StepResult::CutOff(CutOff { node, reason, .. }) => {
                return Box::pin(pruning::end(flow, path, node, reason)).await;
            }
        };
        let node = path.top()?;
        node.calls_in_a_row = if comes_back(field) {
            node.calls_in_a_row + 1
        } else {
            0
        };
        if field == INTERRUPT_FIELD {
            node.asked_to_interrupt = false;
            return Ok(Next::routing(routing));
        }
        node.streak = None;
        match again(flow, node, field).await? {
            Some(next) => cause = next,
            None => return Ok(Next::routing(routing)),
        }
    }
}

/// Whether the node takes another turn before it hands over, and why.
async fn again(flow: &Flow, node: &mut Node, field: &str) -> Result<Option<Cause>, FlowError> {
    if flow.goes_on() {
        return Ok(again_as_recorded(flow, node, field)?);
    }
    let engine = &flow.engine;
    if engine.given_up().is_some() {
        return Ok(None);
    }
    engine.journal.go_live();
    if let Some(reminder) = reminded(flow, node).await? {
        return Ok(Some(Cause {
            again: true,
            reminder: Some(reminder),
        }));
    }
    engine.nodes.restore_messages(&node.id);
    // A caller that comes back keeps its mailbox. All others hand over, unless a message has come meanwhile.
    if comes_back(field) {
        return Ok(None);
    }
    engine.drop_withdrawn(&node.id).await?;
    if engine.nodes.close_if_empty(&node.id) {
        return Ok(None);
    }
    Ok(Some(Cause {
        again: true,
        reminder: None,
    }))
}

/// What the node did here before: the flow has continued since, and its next recorded turn says whether that was this
/// node's.
fn again_as_recorded(
    flow: &Flow,
    node: &mut Node,
    field: &str,
) -> Result<Option<Cause>, KeepError> {
    let journal = &flow.engine.journal;
    let turn = node.turn + 1;
    let start = journal.start_of(&node.id, turn).filter(|it| it.again);
    let reminder = start.as_ref().and_then(|start| start.reminder.clone());
    match &reminder {
        Some(text) => flow.tell(node, Message::user(text.clone())),
        None => node.asked_to_interrupt = false,
    }
    let next = flow.place().own + 1;
    let cut_off = journal.cut_off(&node.id, turn)?;
    let is_cut_off =
        cut_off.is_some_and(|it| it.place.worker == flow.worker && it.place.own == next);
    if start.is_some() || is_cut_off {
        return Ok(Some(Cause {
            again: true,
            reminder,
        }));
    }
    if !comes_back(field) {
        flow.engine.nodes.close(&node.id);
    }
    Ok(None)
}

/// The words of a supervisor's event that the node has ignored and that still waits; they are repeated.
async fn reminded(flow: &Flow, node: &mut Node) -> Result<Option<String>, FlowError> {
    if !node.asked_to_interrupt {
        return Ok(None);
    }
    let engine = &flow.engine;
    if let Some(given_up) = engine.reroute_log.turn_ignored(&node.id, node.turn).await? {
        engine.tell_ended(vec![given_up]).await?;
    } else if let Some(event) = engine.reroute_log.pending(&node.id).await? {
        let message = event.message();
        let text = message.text.to_string();
        flow.tell(node, message);
        return Ok(Some(text));
    }
    node.asked_to_interrupt = false;
    Ok(None)
}

async fn step<R: Routing>(
    flow: &Flow,
    path: &mut Path,
    cause: Cause,
) -> Result<StepResult<R>, FlowError> {
    let engine = &flow.engine;
    let node = path.top()?;
    let (id, turn) = (node.id.clone(), node.turn + 1);
    if let Some(cut_off) = engine.journal.cut_off(&id, turn)? {
        flow.advance();
        return Ok(StepResult::CutOff(cut_off));
    }
    let recorded = engine.journal.start_of(&id, turn);
    let is_answered = engine.journal.is_answered(&place::turn(&id, turn))?;
    if !is_answered && let Some(end) = stopped(flow, path, turn, &engine.scope_of(&id)).await? {
        return Ok(end);
    }
    let node = path.top()?;
    let start = begin(flow, node, cause, recorded).await?;
    open_conversation::<R>(flow, node);
    read_messages(flow, node, &start.letters);
    break_loop::<R>(flow, node);
    flow.set_state(node, NodeActivity::Running);
    engine.nodes.takes_turn(&node.id, node.turn, start.step);
    let number = start.step;
    node.step = number;
    engine.journal.turn_begins(&node.id, start);
    if !is_answered {
        engine.keep_nodes().await?;
    }
    engine.recorder.record(RunEvent::StepStarted {
        node: node.id.clone(),
        kind: node.kind.name(),
        step: number,
        turn: node.turn,
    });
    may_launch(flow, &node.id);
    let asked = match question::recalled::<R>(flow, node)? {
        Some(asked) => Ok(Outcome::Completed(asked)),
        None => {
            let messages = node.conversation.messages()?;
            question::ask::<R>(flow, node, messages, &engine.scope_of(&id)).await
        }
    };
    match asked {
        Ok(Outcome::Completed(asked)) => answered(flow, node, number, asked),
        Ok(Outcome::Interrupted { reason, .. }) => {
            let (id, turn) = (node.id.clone(), node.turn);
            Ok(match pruning::wanted(flow, path, turn).await? {
                Some(cut_off) => StepResult::CutOff(cut_off),
                None => StepResult::Ended(within_tools(engine, &id, reason)),
            })
        }
        Err(spent @ AskError::Spent { .. }) => Ok(StepResult::Stuck(spent.to_string())),
        Err(source) => Err(FlowError::Model {
            node: node.id.to_string(),
            source,
        }),
    }
}

/// Allows the node to launch agents, if agents have tools.
fn may_launch(flow: &Flow, node: &NodeId) {
    if let Some(tooling) = &flow.engine.tooling {
        let ground = LaunchContext {
            engine: Arc::downgrade(&flow.engine),
            planner: Arc::clone(&flow.planner),
            main: flow.place().main,
        };
        tooling.stand(node, Arc::new(ground));
    }
}

/// How the flow ends whose step was interrupted: as its tools say, if it ended within them.
fn within_tools(engine: &AgentsRun, node: &NodeId, reason: StopReason) -> FlowEnd {
    let parked = engine
        .tooling
        .as_ref()
        .and_then(|tooling| tooling.take_parked(node));
    match parked {
        Some(Parked::Waiting(questions)) => {
            for question in questions {
                engine.open_interrupts.unanswered(question);
            }
            FlowEnd::Waiting
        }
        Some(Parked::Launched) => engine.take_launched(node).unwrap_or(FlowEnd::Halted),
        None => FlowEnd::Interrupted(reason),
    }
}

/// Why a turn that has no answer yet is not taken, if it is not.
async fn stopped<R>(
    flow: &Flow,
    path: &mut Path,
    turn: u32,
    scope: &StopScope,
) -> Result<Option<StepResult<R>>, FlowError> {
    let engine = &flow.engine;
    if let Some(reason) = engine.given_up() {
        return Ok(Some(StepResult::Ended(FlowEnd::Stopped(reason.to_owned()))));
    }
    if scope.is_stopping()
        && let Some(reason) = scope.reason()
    {
        if let Some(cut_off) = pruning::wanted(flow, path, turn).await? {
            flow.advance();
            return Ok(Some(StepResult::CutOff(cut_off)));
        }
        return Ok(Some(StepResult::Ended(FlowEnd::Interrupted(reason))));
    }
    if engine.is_halting() {
        return Ok(Some(StepResult::Ended(FlowEnd::Halted)));
    }
    Ok(None)
}

/// How the turn begins: as recorded, if it has begun before, else with what has come for the node.
async fn begin(
    flow: &Flow,
    node: &mut Node,
    cause: Cause,
    recorded: Option<TurnStart>,
) -> Result<TurnStart, FlowError> {
    let engine = &flow.engine;
    let place = flow.advance();
    if let Some(start) = recorded {
        if start.place != place {
            return Err(KeepError::Diverged {
                place: place::turn(&node.id, node.turn + 1),
                what: "turn",
            }
            .into());
        }
        node.turn += 1;
        // What the script's supervisor says before this turn was published when the turn began.
        while take_scripted(flow, node).is_some() {}
        return Ok(start);
    }
    engine.journal.go_live();
    engine.expire().await?;
    let step = engine.next_step()?;
    node.turn += 1;
    publish_scripted(flow, node).await?;
    engine.nodes.restore_messages(&node.id);
    let mut letters = {
        let _held = engine.reroute_log.hold().await;
        engine.nodes.take_messages(&node.id)
    };
    engine.leave_out_withdrawn(&mut letters).await?;
    if flow.worker.is_none() {
        letters.extend(engine.take_inputs());
    }
    Ok(TurnStart {
        step,
        place,
        again: cause.again,
        reminder: cause.reminder,
        letters,
    })
}

/// A node's first turn begins with its instructions.
fn open_conversation<R: Routing>(flow: &Flow, node: &mut Node) {
    if node.turn == 1 {
        let (kind, home) = (node.kind, question::home::<R>(node));
        let (engine, part) = (Arc::clone(&flow.engine), node.part());
        node.conversation.open(
            move || prompts::instructions::<R>(kind, home),
            move || prompts::opening(&engine, &part),
        );
    }
}

fn answered<R: Routing>(
    flow: &Flow,
    node: &mut Node,
    step: u32,
    asked: ModelRouting<R>,
) -> Result<StepResult<R>, FlowError> {
    let field = asked
        .routing
        .set_routes()
        .single()
        .map(RouteId::field)
        .ok_or(FlowError::Lost {
            detail: "an answer was read that has not exactly one route",
        })?;
    if let Some(tooling) = &flow.engine.tooling {
        node.conversation.extend(tooling.take_exchanged(&node.id));
    }
    let summary = journal::gist(&asked.text);
    node.conversation.push(Message::assistant(asked.text));
    flow.engine.recorder.record(RunEvent::StepFinished {
        node: node.id.clone(),
        kind: node.kind.name(),
        step,
        field,
        summary,
        usage: asked.usage,
        corrections: asked.corrections,
    });
    Ok(StepResult::Answered {
        routing: asked.routing,
        field,
    })
}

/// What the script's supervisor says before this turn, removed from the script.
fn take_scripted(flow: &Flow, node: &Node) -> Option<(usize, SupervisorStep)> {
    flow.engine.take_scripted(|step| {
        let end = step.when.node.as_ref();
        step.when.agent == node.kind.name()
            && step.when.turn.get() == node.turn
            && end.is_none_or(|end| node.id.as_str().ends_with(end))
    })
}

/// Publishes what the script's supervisor says before this turn.
async fn publish_scripted(flow: &Flow, node: &Node) -> Result<(), FlowError> {
    let engine = &flow.engine;
    while let Some((place, scripted)) = take_scripted(flow, node) {
        let event = scripted.event;
        // The same step of the script is the same event, even if the run was cut off just after it.
        let text = format!("script/{}/{place}", engine.run);
        let event_id = EventId::try_from(text).unwrap_or_else(|_too_long| EventId::generate());
        if engine.reroute_log.knows(&event_id).await? {
            continue;
        }
        let source = match event.source_agent_type.as_deref() {
            Some(name) => name.parse::<AgentKind>(),
            None => Ok(node.kind),
        };
        let target = event
            .reroute_to_agent_type
            .as_deref()
            .map(str::parse::<RouteType>)
            .transpose();
        let (source_agent_type, reroute_to_agent_type) = match (source, target) {
            (Ok(source), Ok(target)) => (source, target),
            (Err(unknown), _) | (_, Err(unknown)) => {
                engine.recorder.record(RunEvent::EventRefused {
                    event: event_id,
                    reason: unknown.to_string(),
                });
                continue;
            }
        };
        let published = InterruptRequestEvent {
            event_id,
            timestamp: engine.clock.now(),
            node_id: node.id.clone(),
            source_agent_type,
            reroute_to_agent_type,
            interrupt_type: event.interrupt_type,
            reason: event.reason,
            choices: event.choices,
            confirmation_items: event.confirmation_items,
            context_for_decision: event.context_for_decision,
            answer_form: event.answer_form,
        };
        // The bus's admission reports a refusal to the observer.
        let _refused = engine.bus.publish(published).await;
    }
    Ok(())
}

/// The node reads what came for it since its last turn.
fn read_messages(flow: &Flow, node: &mut Node, letters: &[AgentMessage]) {
    for letter in letters {
        if letter.text.starts_with(INTERRUPT_REQUEST_MARK) {
            node.asked_to_interrupt = true;
        }
        flow.tell(node, letter.message());
    }
}

/// Tells a node that raises one interrupt after the other which field to fill instead.
fn break_loop<R: Routing>(flow: &Flow, node: &mut Node) {
    let Some(streak) = &mut node.streak else {
        return;
    };
    if streak.count < LONGEST_STREAK || streak.told || node.asked_to_interrupt {
        return;
    }
    streak.told = true;
    let (count, interrupt_type) = (streak.count, streak.interrupt_type);
    let field = flow.forward_field(node.kind);
    let meaning = RouteId::<R>::from_field(field).map_or("", |route| route.info().description);
    flow.tell(
        node,
        Message::user(format!(
            "[note]\nYou have raised {count} interrupts of type {interrupt_type} in a row, and each was \
             decided. Do not raise another one. Fill `{field}` instead. {meaning}"
        )),
    );
}
