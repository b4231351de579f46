//! The spans of a run, for OpenTelemetry: the run, below it its agents as they are below each other, below each agent
//! its turns. Calls to models and tools are made within a turn, so their spans are below it.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};

use interrupt_router::{NodeId, RunId};
use tracing::field::Empty;
use tracing::{Span, info_span};

use super::RunStatus;

/// The spans of a run and its agents, while they are open.
#[derive(Debug)]
pub struct RunSpans {
    run: RunId,
    whole: Mutex<Option<Span>>,
    agents: Mutex<HashMap<NodeId, Span>>,
}

impl RunSpans {
    /// Spans below the current one. Nothing is opened before a turn is made.
    pub fn new(run: RunId) -> Self {
        Self {
            run,
            whole: Mutex::default(),
            agents: Mutex::default(),
        }
    }

    /// Opens the span of the run, below the current one.
    pub fn begin(&self, workflow: &'static str) -> Span {
        let span = info_span!(
            "run",
            run.id = %self.run,
            run.workflow = workflow,
            run.status = Empty,
            otel.status_code = Empty,
            otel.status_description = Empty,
        );
        *lock(&self.whole) = Some(span.clone());
        span
    }

    /// The run has come to its end, or rests: every span of it ends.
    pub fn end(&self, status: &RunStatus) {
        lock(&self.agents).clear();
        let Some(span) = lock(&self.whole).take() else {
            return;
        };
        let (word, error) = match status {
            RunStatus::Completed { .. } => ("completed", None),
            RunStatus::Waiting { .. } => ("waiting", None),
            RunStatus::Paused { .. } => ("paused", None),
            RunStatus::Cancelled { .. } => ("cancelled", None),
            RunStatus::Failed { error, .. } => ("failed", Some(error)),
        };
        span.record("run.status", word);
        if let Some(error) = error {
            failed(&span, error);
        }
    }

    /// A turn of an agent, below the span of the agent.
    pub fn turn(&self, node: &NodeId, name: &'static str, turn: u32) -> Span {
        let agent = self.agent(node, Some(name));
        info_span!(
            parent: &agent,
            "turn",
            run.id = %self.run,
            agent.id = %node,
            agent.name = name,
            turn = turn,
            otel.status_code = Empty,
            otel.status_description = Empty,
        )
    }

    /// An agent has ended, and whether it failed.
    pub fn agent_ended(&self, node: &NodeId, has_failed: bool) {
        let span = lock(&self.agents).remove(node);
        if let Some(span) = span
            && has_failed
        {
            failed(&span, &"the agent failed");
        }
    }

    /// The span of an agent, below that of the agent above it or of the run.
    fn agent(&self, node: &NodeId, name: Option<&'static str>) -> Span {
        if let Some(span) = lock(&self.agents).get(node) {
            if let Some(name) = name {
                span.record("agent.name", name);
            }
            return span.clone();
        }
        let above = match node.parent() {
            Some(parent) => Some(self.agent(&parent, None)),
            None => lock(&self.whole).clone(),
        };
        let span = info_span!(
            parent: above.as_ref().and_then(Span::id),
            "agent",
            run.id = %self.run,
            agent.id = %node,
            agent.name = Empty,
            otel.status_code = Empty,
            otel.status_description = Empty,
        );
        if let Some(name) = name {
            span.record("agent.name", name);
        }
        lock(&self.agents).insert(node.clone(), span.clone());
        span
    }
}

/// What a span is about has failed.
pub fn failed(span: &Span, error: &dyn fmt::Display) {
    span.record("otel.status_code", "ERROR");
    span.record("otel.status_description", error.to_string().as_str());
}

fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    // Each change is complete before the lock is released.
    of.lock().unwrap_or_else(PoisonError::into_inner)
}
