//! Requests for a stop.

use std::time::Duration;

use interrupt_router::{InterruptType, NodeId, RunId, StopMode, StopSource};
use serde::{Deserialize, Serialize};

use super::tree::Reach;
use crate::life::{Actor, Interrupt, NewAsking, Scope};
use crate::names::{IdempotencyKey, KindName, RouteName};

/// What is to stop.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Target {
    /// Every run of this process: those that it owns now, and those that are taken later in this turn.
    Everything,
    /// A run, of this process or of another one.
    Run(RunId),
    /// A node of a run, and all that it started.
    Node(RunId, NodeId),
}

impl Target {
    /// The run and how far the stop reaches in it; `None` for everything.
    pub(crate) fn in_run(&self) -> Option<(RunId, Reach)> {
        match self {
            Self::Everything => None,
            Self::Run(run) => Some((*run, Reach::Run)),
            Self::Node(run, node) => Some((*run, Reach::Node(node.clone()))),
        }
    }
}

/// What a stop does once it has taken effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum StopKind {
    /// The run or node waits until it is resumed.
    Pause,
    /// The run ends as cancelled; if the target is a node, the node ends.
    Stop,
    /// The node and all below it end; the run continues without them.
    Prune,
    /// The run stops at a checkpoint, and another run is forked there. Either can be resumed.
    Branch,
}

impl From<StopKind> for InterruptType {
    fn from(kind: StopKind) -> Self {
        match kind {
            StopKind::Pause => Self::Pause,
            StopKind::Stop => Self::Stop,
            StopKind::Prune => Self::Prune,
            StopKind::Branch => Self::Branch,
        }
    }
}

impl StopKind {
    /// The kind of a type; `None` if the type is a question.
    pub const fn of(interrupt_type: InterruptType) -> Option<Self> {
        match interrupt_type {
            InterruptType::Pause => Some(Self::Pause),
            InterruptType::Stop => Some(Self::Stop),
            InterruptType::Prune => Some(Self::Prune),
            InterruptType::Branch => Some(Self::Branch),
            InterruptType::HumanReview | InterruptType::AgentReview => None,
        }
    }
}

/// What led to a stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopCause {
    /// A person: a key, a command, a request over the network.
    UserEscape,
    /// A permission was denied.
    Permission,
    /// Money or another budget is exhausted.
    Budget,
    /// The time or the steps are exhausted.
    Timeout,
    /// Memory or processor time is short.
    Resource,
    /// An unrecoverable error.
    SystemError,
    /// A rule says so.
    Policy,
    /// A hook.
    Hook,
    /// Code of the embedder.
    Code,
    /// The process shuts down.
    Shutdown,
}

/// What a stop's interrupt keeps beside its reason, as the JSON of its content.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StopNote {
    /// What led to it.
    pub cause: StopCause,
    /// After how many milliseconds a graceful stop becomes immediate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit_ms: Option<u64>,
    /// What else is known: the context of an error, the limit that was hit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<serde_json::Value>,
}

impl StopNote {
    /// The notes of all requests that still ask for a stop, not only the first: a limit that joined a person's pause has
    /// its own.
    pub fn in_force(stop: &Interrupt) -> Vec<Self> {
        let contents = stop.contents_in_force().into_iter();
        contents
            .filter_map(|content| serde_json::from_str(content).ok())
            .collect()
    }
}

/// A request for a stop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StopRequest {
    /// What is to stop.
    pub target: Target,
    /// What happens once it has.
    pub kind: StopKind,
    /// How.
    pub mode: StopMode,
    /// Who is behind it.
    pub source: StopSource,
    /// What led to it.
    pub cause: StopCause,
    /// Why, in words.
    pub message: String,
    /// Who asks.
    pub by: Actor,
    /// Identifies the request when it is sent again. Without a key, a request for a stop that is under way joins it;
    /// with a key it is a request of its own.
    pub key: Option<IdempotencyKey>,
    /// After how long a graceful stop becomes immediate; if absent, never.
    pub limit: Option<Duration>,
    /// What else is known, as JSON.
    pub metadata: Option<serde_json::Value>,
}

impl StopRequest {
    /// A pause of a target, gracefully, by code.
    pub fn pause(target: Target, by: Actor, message: impl Into<String>) -> Self {
        Self {
            target,
            kind: StopKind::Pause,
            mode: StopMode::Graceful,
            source: StopSource::Programmatic,
            cause: StopCause::Code,
            message: message.into(),
            by,
            key: None,
            limit: None,
            metadata: None,
        }
    }

    /// A pause because a person asks for it.
    pub fn by_user(target: Target, mode: StopMode, by: Actor, message: impl Into<String>) -> Self {
        Self {
            mode,
            source: StopSource::User,
            cause: StopCause::UserEscape,
            ..Self::pause(target, by, message)
        }
    }

    /// An immediate pause of a run because of an unrecoverable error. The context is kept.
    pub fn unrecoverable(
        run: RunId,
        by: Actor,
        error: &dyn std::error::Error,
        context: serde_json::Value,
    ) -> Self {
        Self {
            mode: StopMode::Immediate,
            source: StopSource::System,
            cause: StopCause::SystemError,
            metadata: Some(context),
            ..Self::pause(Target::Run(run), by, error_in_words(error))
        }
    }

    /// The asking that it adds to a stop that is under way.
    pub(crate) fn asking(&self) -> NewAsking {
        NewAsking {
            by: self.by.clone(),
            source: self.source,
            mode: self.mode,
            reason: self.message.clone(),
            // A note that cannot be written as JSON is refused when a stop is admitted, not when one is joined.
            content: serde_json::to_string(&self.note()).unwrap_or_default(),
        }
    }

    /// What its interrupt keeps beside the reason.
    pub(crate) fn note(&self) -> StopNote {
        StopNote {
            cause: self.cause,
            limit_ms: self
                .limit
                .map(|limit| u64::try_from(limit.as_millis()).unwrap_or(u64::MAX)),
            metadata: self.metadata.clone(),
        }
    }
}

/// An error with all its causes.
pub(crate) fn error_in_words(error: &dyn std::error::Error) -> String {
    let mut words = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        words.push_str(": ");
        words.push_str(&cause.to_string());
        source = cause.source();
    }
    words
}

/// What an interrupt says of the agent that it concerns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentRoutes {
    /// The kind of the agent.
    pub kind: KindName,
    /// Where answers go unless they are rerouted: one of the routes.
    pub origin: RouteName,
    /// Where answers may go.
    pub routes: Vec<RouteName>,
}

impl AgentRoutes {
    /// The routes of an agent whose answers go back to it alone.
    pub fn alone(kind: &KindName) -> Self {
        let origin = RouteName::from(kind);
        Self {
            kind: kind.clone(),
            routes: vec![origin.clone()],
            origin,
        }
    }
}

/// Knows the agents of runs: what a stop's interrupt says of kind and routes.
pub trait KindRoutes: Send + Sync {
    /// The routes of a node; `kind` is given if the store knows the node.
    fn agent_routes(&self, run: RunId, node: &NodeId, kind: Option<&KindName>) -> AgentRoutes;
}

/// The same routes for every node.
impl KindRoutes for AgentRoutes {
    fn agent_routes(&self, _run: RunId, _node: &NodeId, kind: Option<&KindName>) -> AgentRoutes {
        Self {
            kind: kind.unwrap_or(&self.kind).clone(),
            ..self.clone()
        }
    }
}

impl From<&Reach> for Scope {
    fn from(reach: &Reach) -> Self {
        match reach {
            Reach::Run => Self::Run,
            Reach::Node(_) => Self::Agent,
        }
    }
}
