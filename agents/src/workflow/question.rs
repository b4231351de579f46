//! The question that a node's step asks its model, and the answer: asked for, or read from the journal.

use std::sync::Arc;

use interrupt_router::answer::AnswerError;
use interrupt_router::ask::{AskError, ModelRouting};
use interrupt_router::context::{
    Decorator as _, FilterPropertiesDecorator, LlmCallContext, RouteSnapshot,
};
use interrupt_router::model::{Message, ModelCaller, PartialReply, Purpose, TurnForm};
use interrupt_router::{AgentType, Outcome, RouteId, RouteSet, Routing, StopScope};
use tracing::Instrument as _;

use super::flow::Flow;
use super::kinds::{INTERRUPT_FIELD, comes_back};
use super::node::Node;
use engine::run::recorder::AnswerChunks;
use engine::run::spans::failed;
use journal::error::KeepError;

/// After so many calls in a row to nodes that come back, a node is offered none.
const MOST_CALLS: u32 = 2;

/// The node's recorded answer to this turn, if it was accepted at once and asks for no tools: then the question is not
/// built. In all other cases the model is asked as usual, which reads what else was recorded.
pub(super) fn recalled<R: Routing>(
    flow: &Flow,
    node: &Node,
) -> Result<Option<ModelRouting<R>>, KeepError> {
    let journal = &flow.engine.journal;
    let mut caller = caller(flow, node);
    if journal.form_of(&caller)? == Some(TurnForm::RouteFirst) {
        // What was chosen says what may have been filled in: both are read.
        return Ok(None);
    }
    let first = journal.call_place(&caller);
    caller.correction = 1;
    if !journal.is_answered(&first)? || journal.at(&journal.call_place(&caller))?.is_some() {
        return Ok(None);
    }
    let Some(result) = journal.answer(&first, &node.id)? else {
        return Ok(None);
    };
    if result.cut_off || !result.tool_requests.is_empty() {
        return Ok(None);
    }
    let context = context::<R>(flow, node, Vec::new());
    let Ok(routing) = flow.engine.asker.read(&context, &result.text, false) else {
        // It fits another version of the schema: the usual call reports that.
        return Ok(None);
    };
    journal.take_start(&node.id);
    Ok(Some(ModelRouting {
        routing,
        text: result.text,
        corrections: 0,
        usage: result.usage,
    }))
}

/// Asks the node's model until its answer fits.
pub(super) async fn ask<R: Routing>(
    flow: &Flow,
    node: &Node,
    messages: Vec<Message>,
    scope: &StopScope,
) -> Result<Outcome<ModelRouting<R>, PartialReply>, AskError> {
    let recorder = &flow.engine.recorder;
    let corrected = |correction, error: &AnswerError| {
        recorder.corrected(&node.id, correction, error);
    };
    let context = context::<R>(flow, node, messages);
    let engine = &flow.engine;
    let span = engine.spans.turn(&node.id, node.kind.name(), node.turn);
    let asked = engine.asker.ask(&context, &corrected, scope);
    let asked = asked.instrument(span.clone()).await;
    if let Err(error) = &asked {
        failed(&span, error);
    }
    asked
}

fn caller(flow: &Flow, node: &Node) -> ModelCaller {
    ModelCaller {
        run: flow.engine.run,
        node: node.id.clone(),
        agent_type: node.kind.name(),
        purpose: Purpose::Step,
        turn: node.turn,
        correction: 0,
    }
}

/// The call of a node's step, narrowed if the node has return routes.
fn context<R: Routing>(flow: &Flow, node: &Node, messages: Vec<Message>) -> LlmCallContext<R> {
    let snapshot = RouteSnapshot {
        caller: home(node),
        ..RouteSnapshot::default()
    };
    let mut context = LlmCallContext::new(caller(flow, node), messages, snapshot);
    context.form = flow.engine.asker.model.turn_form(&context.caller);
    context.withheld = withheld(node);
    context.forward = RouteId::from_field(flow.forward_field(node.kind));
    context.chunks = Some(Arc::new(AnswerChunks {
        recorder: Arc::clone(&flow.engine.recorder),
        node: node.id.clone(),
    }));
    FilterPropertiesDecorator.decorate(context)
}

/// The routes that a node naming its route first is not offered: it has gone round in a circle by them.
fn withheld<R: Routing>(node: &Node) -> RouteSet<R> {
    let is_told_to_go_on = node.streak.is_some_and(|streak| streak.told);
    let circles = |field: &str| {
        (field == INTERRUPT_FIELD && is_told_to_go_on && !node.asked_to_interrupt)
            || (comes_back(field) && node.calls_in_a_row >= MOST_CALLS)
    };
    RouteSet::ALL
        .iter()
        .filter(|route: &RouteId<R>| circles(route.field()))
        .collect()
}

/// The route back to the node's caller.
pub(super) fn home<R: Routing>(node: &Node) -> Option<RouteId<R>> {
    node.home
        .and_then(|home| RouteId::<R>::from_agent_type(home.origin_route().name()))
}
