//! What has come for a worker's run.

use interrupts::life::Interrupt;
use serde::Serialize;
use utoipa::ToSchema;
use workers::{InterruptSignal, Signals, WorkerMessage};

use super::named::{ModeName, ScopeName};
use super::names::StopTypeName;

/// A stop that is to take hold.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct StopView {
    /// The interrupt.
    interrupt_id: String,
    /// What it does.
    #[schema(value_type = StopTypeName)]
    r#type: String,
    /// How to stop.
    #[schema(value_type = ModeName)]
    mode: String,
    /// How far it reaches.
    #[schema(value_type = ScopeName)]
    scope: String,
    /// The agent that it concerns.
    agent_id: String,
    /// Why.
    reason: String,
}

impl StopView {
    fn of(stop: &Interrupt) -> Self {
        Self {
            interrupt_id: stop.id.to_string(),
            r#type: stop.interrupt_type.name().to_owned(),
            mode: stop.mode.name().to_owned(),
            scope: stop.scope.name().to_owned(),
            agent_id: stop.node.to_string(),
            reason: stop.reason.clone(),
        }
    }
}

/// An agent that a supervisor wants to interrupt itself.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct AskedAgentView {
    /// The interrupt of the supervisor's event: it ends once the agent has asked.
    interrupt_id: String,
    /// The agent.
    agent_id: String,
    /// Why.
    reason: String,
    /// Where the answer shall go.
    reroute_to: Option<String>,
}

impl AskedAgentView {
    fn of(asked: InterruptSignal) -> Self {
        Self {
            interrupt_id: asked.interrupt.to_string(),
            agent_id: asked.node.to_string(),
            reason: asked.reason,
            reroute_to: asked.reroute_to,
        }
    }
}

/// A message for an agent.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct WorkMessageView {
    /// Its place among all messages.
    position: u64,
    /// The agent.
    agent_id: String,
    /// What it says.
    text: String,
    /// Who sends it.
    from: String,
}

impl WorkMessageView {
    fn of(message: WorkerMessage) -> Self {
        Self {
            position: message.position,
            agent_id: message.node.to_string(),
            text: message.text,
            from: message.from,
        }
    }
}

/// What an agent has read under a key.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ReadingView {
    /// The messages, in the order in which they came.
    messages: Vec<WorkMessageView>,
}

impl ReadingView {
    pub(crate) fn of(messages: Vec<WorkerMessage>) -> Self {
        let messages = messages.into_iter().map(WorkMessageView::of).collect();
        Self { messages }
    }
}

/// What has come for a run.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct SignalsView {
    /// Whether anything of the run is to stop.
    stopping: bool,
    /// The stops that are to take hold.
    stops: Vec<StopView>,
    /// Agents that are to interrupt themselves.
    asked: Vec<AskedAgentView>,
    /// Messages that were not read.
    messages: Vec<WorkMessageView>,
    /// The keys of questions that are over, decided or not, and whose outcome the worker has not taken.
    decided: Vec<String>,
    /// Give it as `after` to wait for what comes next.
    cursor: u64,
}

impl SignalsView {
    pub(crate) fn of(signals: Signals) -> Self {
        Self {
            stopping: !signals.stops.is_empty(),
            stops: signals.stops.iter().map(StopView::of).collect(),
            asked: signals.asked.into_iter().map(AskedAgentView::of).collect(),
            messages: signals
                .messages
                .into_iter()
                .map(WorkMessageView::of)
                .collect(),
            decided: signals.decided.iter().map(ToString::to_string).collect(),
            cursor: signals.cursor,
        }
    }
}
