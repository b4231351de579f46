//! The script of a rehearsal: who raises which interrupt when, who answers what, and when a supervisor
//! speaks. A JSON file:
//!
//! ```json
//! {
//!   "version": 1,
//!   "steps": [
//!     { "agent": "DISCOVERY_ORCHESTRATOR", "turn": 1,
//!       "interrupt": { "type": "HUMAN_REVIEW", "reason": "two ways to split the work" } },
//!     { "agent": "TICKET_AGENT", "turn": 1, "correction": 0, "node": "worker-2",
//!       "answer": "no JSON at all" },
//!     { "supervisor": { "when": { "agent": "PLANNING_ORCHESTRATOR", "turn": 1 },
//!       "event": { "interruptType": "AGENT_REVIEW", "reason": "over budget",
//!                  "rerouteToAgentType": "TICKET_ORCHESTRATOR" } } },
//!     { "person": { "interrupt": { "agent": "DISCOVERY_ORCHESTRATOR", "nth": 1 },
//!       "answer": { "selectedChoices": ["by-folder"], "text": "by folder" } } }
//!   ]
//! }
//! ```
//!
//! A step of an agent is identified by `agent` and `turn`; `node` (the end of the node's id), `correction` (0 is the
//! first try) and `purpose` (`step` if left out) narrow it further. The first step that fits is taken.

mod parse;
mod raw;
mod step;

use interrupt_router::model::ModelCaller;

pub use parse::{ScriptError, ScriptVocabulary};
pub use step::{
    AnswerStep, InterruptStep, PersonAnswer, ScriptedEvent, ScriptedInterrupt, StepSelector,
    SupervisorStep,
};

/// A script that was checked.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Script {
    interrupts: Vec<InterruptStep>,
    answers: Vec<AnswerStep>,
    supervisor: Vec<SupervisorStep>,
    people: Vec<PersonAnswer>,
}

impl Script {
    /// Reads a script.
    ///
    /// # Errors
    ///
    /// [`ScriptError`] names the path and what is known there: for text that is no JSON, another
    /// version, an unknown field, agent type or interrupt type, or a step that is none.
    pub fn parse(text: &str, vocabulary: &ScriptVocabulary) -> Result<Self, ScriptError> {
        parse::script(text, vocabulary)
    }

    /// The interrupts that agents raise, in the order of the file.
    pub fn interrupts(&self) -> &[InterruptStep] {
        &self.interrupts
    }

    /// The answers that agents give, in the order of the file.
    pub fn answers(&self) -> &[AnswerStep] {
        &self.answers
    }

    /// What a supervisor publishes, in the order of the file.
    pub fn supervisor_steps(&self) -> &[SupervisorStep] {
        &self.supervisor
    }

    /// What people answer, in the order of the file.
    pub fn person_answers(&self) -> &[PersonAnswer] {
        &self.people
    }

    /// The interrupt that this caller is to raise.
    pub(crate) fn interrupt_for(&self, caller: &ModelCaller) -> Option<&InterruptStep> {
        self.interrupts.iter().find(|step| step.when.fits(caller))
    }

    /// The answer that this caller is to give.
    pub(crate) fn answer_for(&self, caller: &ModelCaller) -> Option<&AnswerStep> {
        self.answers.iter().find(|step| step.when.fits(caller))
    }
}
