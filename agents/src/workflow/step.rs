//! A node's turn: it reads its letters, asks its model, and decides where to go.

use std::sync::Arc;

use routing_core::answer::AnswerError;
use routing_core::ask::{AskError, Asked, CorrectionObserver};
use routing_core::bus::EventBus;
use routing_core::context::{DecoratorChain, LlmCallContext, RouteSnapshot};
use routing_core::event::{INTERRUPT_REQUEST_MARK, InterruptRequestEvent};
use routing_core::model::{Caller, Message, Purpose};
use routing_core::{AgentType, EventId, NodeId, Outcome, RouteId, Routing};

use super::failure::FlowError;
use super::flow::{Flow, FlowEnd, Next};
use super::interrupts;
use super::kinds::{INTERRUPT_FIELD, comes_back, forward_field};
use super::node::{Node, Path};
use crate::agent_kind::{AgentKind, RouteType};
use crate::prompts;
use crate::run::recorder::{AnswerChunks, Recorder};
use crate::run::{NodeState, RunEvent};

/// After so many interrupts of one type in a row a node is told to go on instead.
const LONGEST_STREAK: u32 = 2;

/// How one step ended.
enum Step<R> {
    /// With an answer that fits.
    Answered { routing: R, field: &'static str },
    /// The flow ends here.
    Ended(FlowEnd),
    /// No answer fitted, and the corrections are spent.
    Stuck(String),
}

/// The node that has the turn takes it: a step, and another one where it was told something meanwhile.
pub(super) async fn turn<R: Routing>(flow: &Flow, path: &mut Path) -> Result<Next, FlowError> {
    loop {
        let node = path.top()?;
        let (routing, field) = match step::<R>(flow, node).await? {
            Step::Answered { routing, field } => (routing, field),
            Step::Ended(end) => return Ok(Next::Finished(end)),
            Step::Stuck(problem) => {
                let interrupt = interrupts::of_a_stuck_node(node.kind, problem);
                return Box::pin(interrupts::handle(flow, path, interrupt)).await;
            }
        };
        if field == INTERRUPT_FIELD {
            node.asked_to_interrupt = false;
            return Ok(Next::routing(routing));
        }
        node.streak = None;
        if reminded(flow, node).await? {
            continue;
        }
        // Whoever comes back keeps its box. All others hand over, unless a letter has come meanwhile.
        if comes_back(field) || flow.engine.nodes.close_if_empty(&node.id) {
            return Ok(Next::routing(routing));
        }
    }
}

/// Whether the node has ignored a supervisor's event that still waits; it is then told again.
async fn reminded(flow: &Flow, node: &mut Node) -> Result<bool, FlowError> {
    if !node.asked_to_interrupt {
        return Ok(false);
    }
    let engine = &flow.engine;
    if let Some(given_up) = engine.reroutes.turn_ignored(engine.run, &node.id).await? {
        engine.tell_ended(vec![given_up]).await?;
    } else if let Some(event) = engine.reroute_log.pending(&node.id).await? {
        flow.tell(node, event.message());
        return Ok(true);
    }
    node.asked_to_interrupt = false;
    Ok(false)
}

async fn step<R: Routing>(flow: &Flow, node: &mut Node) -> Result<Step<R>, FlowError> {
    let engine = &flow.engine;
    if flow.scope.is_stopping()
        && let Some(reason) = flow.scope.reason()
    {
        return Ok(Step::Ended(FlowEnd::Interrupted(reason)));
    }
    if engine.is_halting() {
        return Ok(Step::Ended(FlowEnd::Halted));
    }
    engine.expire().await?;
    let step = engine.next_step()?;
    node.turn += 1;
    if node.turn == 1 {
        let opening = [
            Message::system(prompts::instructions::<R>(node.kind, home(node))),
            Message::user(prompts::opening(engine, node)),
        ];
        node.conversation.splice(0..0, opening);
    }
    publish_scripted(flow, node).await;
    read_letters(flow, node).await;
    break_loop::<R>(flow, node);
    flow.set_state(node, NodeState::Running);
    engine.recorder.record(RunEvent::StepStarted {
        node: node.id.clone(),
        kind: node.kind,
        step,
        turn: node.turn,
    });
    let corrections = Corrections {
        recorder: Arc::clone(&engine.recorder),
        node: node.id.clone(),
    };
    let asked = engine
        .asker
        .ask(&context::<R>(flow, node), &corrections, &flow.scope)
        .await;
    match asked {
        Ok(Outcome::Completed(asked)) => answered(flow, node, step, asked),
        Ok(Outcome::Interrupted { reason, partial }) => {
            if !partial.text.is_empty() {
                node.conversation.push(Message::assistant(partial.text));
            }
            Ok(Step::Ended(FlowEnd::Interrupted(reason)))
        }
        Err(spent @ AskError::Spent { .. }) => Ok(Step::Stuck(spent.to_string())),
        Err(source) => Err(FlowError::Model {
            node: node.id.to_string(),
            source,
        }),
    }
}

/// The call of a node's step, narrowed where it has return routes.
fn context<R: Routing>(flow: &Flow, node: &Node) -> LlmCallContext<R> {
    let caller = Caller {
        run: flow.engine.run,
        node: node.id.clone(),
        agent_type: node.kind.name(),
        purpose: Purpose::Step,
        turn: node.turn,
        correction: 0,
    };
    let snapshot = RouteSnapshot {
        caller: home(node),
        ..RouteSnapshot::default()
    };
    let mut context = LlmCallContext::new(caller, node.conversation.clone(), snapshot);
    context.chunks = Some(Arc::new(AnswerChunks {
        recorder: Arc::clone(&flow.engine.recorder),
        node: node.id.clone(),
    }));
    DecoratorChain::default().decorate(context)
}

/// The route back to whoever called the node.
fn home<R: Routing>(node: &Node) -> Option<RouteId<R>> {
    node.home
        .and_then(|home| RouteId::<R>::from_agent_type(home.origin_route().name()))
}

fn answered<R: Routing>(
    flow: &Flow,
    node: &mut Node,
    step: u32,
    asked: Asked<R>,
) -> Result<Step<R>, FlowError> {
    let field = asked
        .routing
        .set_routes()
        .single()
        .map(RouteId::field)
        .ok_or(FlowError::Lost {
            detail: "an answer was read that has not exactly one route",
        })?;
    node.conversation.push(Message::assistant(asked.text));
    flow.engine.recorder.record(RunEvent::StepFinished {
        node: node.id.clone(),
        kind: node.kind,
        step,
        field,
        summary: prompts::gist(&serde_json::to_value(&asked.routing)?),
        usage: asked.usage,
        corrections: asked.corrections,
    });
    Ok(Step::Answered {
        routing: asked.routing,
        field,
    })
}

/// Publishes what the script's supervisor says before this turn.
async fn publish_scripted(flow: &Flow, node: &Node) {
    let engine = &flow.engine;
    while let Some(scripted) = engine.take_scripted(|step| {
        step.agent == node.kind.name()
            && step.turn == node.turn
            && step
                .node
                .as_ref()
                .is_none_or(|end| node.id.as_str().ends_with(end.as_str()))
    }) {
        let event = scripted.event;
        let event_id = EventId::generate();
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
        };
        // A refusal is told to the observer by the bus's admission.
        let _refused = engine.bus.publish(published).await;
    }
}

/// Reads what was put into the node's box since its last turn.
async fn read_letters(flow: &Flow, node: &mut Node) {
    let letters = {
        let _held = flow.engine.reroute_log.hold().await;
        flow.engine.nodes.take_letters(&node.id)
    };
    for letter in letters {
        if letter.text.starts_with(INTERRUPT_REQUEST_MARK) {
            node.asked_to_interrupt = true;
        }
        flow.tell(node, letter);
    }
}

/// Tells a node that raises one interrupt after the other which field it should fill instead.
fn break_loop<R: Routing>(flow: &Flow, node: &mut Node) {
    let Some(streak) = &mut node.streak else {
        return;
    };
    if streak.count < LONGEST_STREAK || streak.told || node.asked_to_interrupt {
        return;
    }
    streak.told = true;
    let (count, interrupt_type) = (streak.count, streak.interrupt_type);
    let field = forward_field(node.kind);
    let meaning = RouteId::<R>::from_field(field).map_or("", |route| route.info().description);
    flow.tell(
        node,
        Message::user(format!(
            "[note]\nYou have raised {count} interrupts of type {interrupt_type} in a row, and each was \
             decided. Do not raise another one. Fill `{field}` instead. {meaning}"
        )),
    );
}

struct Corrections {
    recorder: Arc<Recorder>,
    node: NodeId,
}

impl CorrectionObserver for Corrections {
    fn corrected(&self, correction: u32, error: &AnswerError) {
        self.recorder.record(RunEvent::AnswerCorrected {
            node: self.node.clone(),
            correction,
            path: error.path().to_owned(),
            reason: error.reason().to_owned(),
        });
    }
}
