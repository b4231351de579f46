//! `launch_agent`: starts another agent and waits for its answer.

use std::fmt::{self, Debug};
use std::sync::Arc;

use async_trait::async_trait;
use interrupt_router::{NodeId, Outcome};
use interrupts::store::Repeating;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{Ended, arguments, spec_of};
use crate::tool::{
    CallId, Interruption, PartialOutput, Stopped, Tool, ToolCall, ToolContext, ToolError,
    ToolOutput, ToolSpec,
};

/// What an agent is launched for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LaunchRequest {
    /// Which one.
    pub agent: String,
    /// Everything that the agent needs to know.
    #[schemars(length(min = 1))]
    pub task: String,
    /// The call that launches it.
    #[serde(skip)]
    pub call: Option<CallId>,
}

/// An agent that has ended, or was stopped.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LaunchedAgent {
    /// The node that it was.
    pub node: Option<NodeId>,
    /// What it answered, as far as it came.
    pub answer: String,
}

/// An agent that could not be launched, or failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct LauncherError {
    /// Why.
    pub reason: String,
}

/// Launches agents. A program that has agents implements it.
#[async_trait]
pub trait Launcher: Send + Sync {
    /// The names of the agents that can be launched.
    fn agents(&self) -> Vec<String>;

    /// Launches an agent under `context.scope`, waits for its end, and returns only when it and all that it launched
    /// have ended. While a person is asked, `context.limit` is to be paused.
    ///
    /// # Errors
    ///
    /// [`LauncherError`]. An agent that was stopped is not an error.
    ///
    /// # Cancel safety
    ///
    /// Dropped, the agent must end all the same, without being waited for.
    async fn launch(
        &self,
        request: LaunchRequest,
        context: &ToolContext,
    ) -> Result<Outcome<LaunchedAgent, LaunchedAgent>, LauncherError>;
}

/// Starts another agent and waits for its answer. An interrupt of the call interrupts the agent.
#[derive(Clone)]
pub struct LaunchAgent {
    launcher: Arc<dyn Launcher>,
    spec: ToolSpec,
}

impl LaunchAgent {
    /// The tool.
    pub fn new(launcher: Arc<dyn Launcher>) -> Self {
        let description =
            "Starts another agent on a task of its own, waits for it, and returns its answer.";
        let (interruption, repeating) = (Interruption::Stops, Repeating::AskPerson);
        let description = description.to_owned();
        let mut spec =
            spec_of::<LaunchRequest>("launch_agent", description, interruption, repeating);
        spec.arguments["properties"]["agent"]["enum"] = json!(launcher.agents());
        Self { launcher, spec }
    }

    /// The tool, over a launcher whose agents resume where they stopped when the same call launches them again, and
    /// which stops them by itself: an interrupt waits until it has.
    pub fn resumable(launcher: Arc<dyn Launcher>) -> Self {
        let mut tool = Self::new(launcher);
        tool.spec.repeating = Repeating::Idempotent;
        tool.spec.interruption = Interruption::Waits;
        tool
    }
}

impl Debug for LaunchAgent {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("LaunchAgent")
            .finish_non_exhaustive()
    }
}

#[async_trait]
impl Tool for LaunchAgent {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn keeps_to_paths(&self) -> bool {
        // What it launches has tools of its own, and they are listed by themselves.
        true
    }

    async fn call(&self, call: &ToolCall, context: &ToolContext) -> Ended {
        let request = LaunchRequest {
            call: Some(call.id.clone()),
            ..arguments(call)?
        };
        let service = format!("agent `{}`", request.agent);
        let launched = self.launcher.launch(request, context).await;
        let outcome = launched.map_err(|error| ToolError::Service {
            service,
            reason: error.reason,
        })?;
        Ok(match outcome {
            Outcome::Completed(agent) => Outcome::Completed(ToolOutput::done(agent.answer)),
            Outcome::Interrupted { reason, partial } => Outcome::Interrupted {
                reason,
                partial: PartialOutput {
                    text: partial.answer,
                    stopped: Stopped::Returned,
                    containment: None,
                },
            },
        })
    }
}
