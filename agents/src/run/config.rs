//! What a run needs.

use std::num::NonZeroUsize;
use std::sync::Arc;

use llm::SupervisorStep;
use routing_core::answer::ConstraintCheck;
use routing_core::ask::DEFAULT_CORRECTIONS;
use routing_core::handler::HandlerPolicy;
use routing_core::model::LanguageModel;
use routing_core::review::Reviewer;
use routing_core::{Clock, RunId};
use serde::{Deserialize, Serialize};

use super::event::RunObserver;
use super::goal::Goal;
use crate::durable::record::RunStore;
use crate::tools::AgentTools;
use crate::workspace::Workspace;

/// How far a run may go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunLimits {
    /// How many steps the run may take; the run fails where it needs more.
    pub max_steps: u32,
    /// How many workers of a dispatch node work at the same time.
    pub parallel_workers: NonZeroUsize,
    /// How many times a wrong answer is explained to the model and asked for again.
    pub corrections: u32,
}

impl Default for RunLimits {
    /// 200 steps, 4 workers at a time, 3 corrections.
    fn default() -> Self {
        Self {
            max_steps: 200,
            parallel_workers: const { NonZeroUsize::new(4).expect("four is not zero") },
            corrections: DEFAULT_CORRECTIONS,
        }
    }
}

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
    /// Answers questions and resumes paused runs.
    pub reviewer: Arc<dyn Reviewer>,
    /// Told what happens.
    pub observer: Arc<dyn RunObserver>,
    /// What a scripted supervisor publishes, and when.
    pub supervisor_steps: Vec<SupervisorStep>,
    /// How far the run may go.
    pub limits: RunLimits,
    /// How interrupts are decided.
    pub policy: HandlerPolicy,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// What its agents may use, where they may use tools at all.
    pub tools: Option<AgentTools>,
    /// Where it is kept. A run that is there already goes on where it stood.
    pub store: RunStore,
}
