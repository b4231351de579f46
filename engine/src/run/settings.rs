//! What an execution of a run needs beside its workflow.

use std::sync::Arc;

use interrupt_router::RunId;
use interrupt_router::answer::ConstraintCheck;
use interrupt_router::handler::HandlerPolicy;
use interrupt_router::model::LanguageModel;
use interrupt_router::review::{NoReviewer, Reviewer};
use interrupts::{Clock, SystemClock};

use super::event::RunObserver;
use super::limits::RunLimits;
use crate::durable::record::RunStore;
use crate::tools::AgentTools;

/// What an execution of a run needs beside its workflow.
#[non_exhaustive]
pub struct RunSettings {
    /// The run's id. A run that is in the store goes on from where it was.
    pub run: RunId,
    /// Plays the agents.
    pub model: Arc<dyn LanguageModel>,
    /// Checks what types alone do not.
    pub constraints: Arc<dyn ConstraintCheck>,
    /// Answers questions.
    pub reviewer: Arc<dyn Reviewer>,
    /// Gets the run's events.
    pub observer: Arc<dyn RunObserver>,
    /// How far the run may go.
    pub limits: RunLimits,
    /// How interrupts are decided.
    pub policy: HandlerPolicy,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// What its agents may use, if they may use tools at all.
    pub tools: Option<AgentTools>,
    /// Where it is kept.
    pub store: RunStore,
}

impl RunSettings {
    /// What most runs need: their models answer for types alone, no one answers questions or observes events, and
    /// agents have no tools. Set what you have.
    pub fn new(run: RunId, model: Arc<dyn LanguageModel>, store: RunStore) -> Self {
        Self {
            run,
            model,
            constraints: Arc::new(()),
            reviewer: Arc::new(NoReviewer),
            observer: Arc::new(()),
            limits: RunLimits::default(),
            policy: HandlerPolicy::default(),
            clock: Arc::new(SystemClock),
            tools: None,
            store,
        }
    }
}
