//! What a run needs.

use std::sync::Arc;

use engine::run::{RunLimits, RunObserver, RunStore};
use engine::tools::AgentTools;
use llm::SupervisorStep;
use routing_core::answer::ConstraintCheck;
use routing_core::handler::HandlerPolicy;
use routing_core::model::LanguageModel;
use routing_core::review::Reviewer;
use routing_core::{Clock, RunId};

use super::goal::Goal;
use crate::workspace::Workspace;

/// What a run needs.
pub struct RunConfig {
    /// The run's id.
    pub run: RunId,
    /// What it shall do.
    pub goal: Goal,
    /// The folder that it speaks about.
    pub workspace: Workspace,
    /// Plays the agents.
    pub model: Arc<dyn LanguageModel>,
    /// Checks what types alone do not.
    pub constraints: Arc<dyn ConstraintCheck>,
    /// Decides questions and resumes paused runs.
    pub reviewer: Arc<dyn Reviewer>,
    /// Receives the run's events.
    pub observer: Arc<dyn RunObserver>,
    /// What a scripted supervisor publishes, and when.
    pub supervisor_steps: Vec<SupervisorStep>,
    /// The run's limits.
    pub limits: RunLimits,
    /// How interrupts are decided.
    pub policy: HandlerPolicy,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// What its agents may use, if they may use tools at all.
    pub tools: Option<AgentTools>,
    /// Where it is kept. A run that is there already continues from its last state.
    pub store: RunStore,
}
