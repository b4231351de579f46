//! The state of a plan, as its checkpoints keep it.

use interrupt_router::{InterruptId, NodeId};
use interrupts::EffectId;
use interrupts::store::CheckpointId;
use serde::{Deserialize, Serialize};

use crate::effect::Fact;
use crate::plan::PlanStep;
use crate::state::{Phase, PlanExecute};
use journal::KeepError;

/// A question that is open, or waits behind a person's interrupt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpenQuestion {
    /// Its interrupt.
    pub interrupt: InterruptId,
    /// Who asks.
    pub node: NodeId,
    /// How many answers the run had asked for then.
    pub turn: u32,
}

/// A step of the plan that was stopped among its tools.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unfinished {
    /// How many answers the run had asked for then.
    pub turn: u32,
    /// The step.
    pub step: PlanStep,
}

/// Which inputs and decisions a plan has taken in.
#[derive(Debug, Default)]
pub struct Taken {
    /// The inputs that came with resumes.
    pub inputs: Vec<EffectId>,
    /// The interrupts whose decisions were carried out.
    pub applied: Vec<InterruptId>,
    /// The decisions that are carried out.
    pub dispatched: Vec<EffectId>,
}

/// The state of a plan: the content of its checkpoints, in the form [`PlanExecute::FORM`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanSnapshot {
    /// Why it was saved.
    pub reason: String,
    /// How many answers the run has asked for.
    #[serde(rename = "steps")]
    pub asked: u32,
    /// The open interrupts.
    pub interrupts: Vec<InterruptId>,
    /// The workflow.
    pub state: PlanExecute,
    /// The question that is open.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub question: Option<OpenQuestion>,
    /// The facts that the observer got since the checkpoint before.
    pub facts: Vec<Fact>,
    /// The step that was stopped among its tools: when it continues, it reads what they had done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unfinished: Option<Unfinished>,
    /// The person's interrupts whose decisions have been carried out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub applied: Vec<InterruptId>,
    /// The inputs that came with resumes and were taken in.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub inputs: Vec<EffectId>,
    /// The decisions that this checkpoint carries out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dispatched: Vec<EffectId>,
    /// The place of the last message that was read, among all messages of the store.
    #[serde(default, skip_serializing_if = "is_none_read")]
    pub read: u64,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde gives a reference to the field"
)]
const fn is_none_read(read: &u64) -> bool {
    *read == 0
}

impl PlanSnapshot {
    /// For a workflow that has asked for nothing.
    pub const fn new(state: PlanExecute) -> Self {
        Self {
            reason: String::new(),
            asked: 0,
            interrupts: Vec::new(),
            state,
            question: None,
            unfinished: None,
            facts: Vec::new(),
            applied: Vec::new(),
            inputs: Vec::new(),
            dispatched: Vec::new(),
            read: 0,
        }
    }

    /// Notes what was taken in, for the next checkpoint.
    pub fn has_taken(&mut self, taken: Taken) {
        self.inputs.extend(taken.inputs);
        self.applied.extend(taken.applied);
        self.dispatched.extend(taken.dispatched);
    }

    /// Reads the content of a checkpoint.
    ///
    /// # Errors
    ///
    /// [`KeepError`] if it is of another form.
    pub fn read(checkpoint: CheckpointId, form: u32, content: &str) -> Result<Self, KeepError> {
        if form != PlanExecute::FORM {
            return Err(KeepError::OtherForm {
                checkpoint,
                found: form,
                known: PlanExecute::FORM,
            });
        }
        serde_json::from_str(content).map_err(|source| KeepError::Unreadable {
            place: format!("checkpoint {checkpoint}"),
            source,
        })
    }

    /// The content for a checkpoint.
    pub fn for_checkpoint(&self) -> Self {
        let question = self.question.as_ref().map(|question| question.interrupt);
        Self {
            interrupts: question.into_iter().collect(),
            ..self.clone()
        }
    }

    /// The reason for saving it when it rests on a question.
    pub const fn rests_because(&self) -> &'static str {
        match self.state.phase() {
            Phase::Held(_) => "held",
            Phase::Created
            | Phase::Working { .. }
            | Phase::Asking { .. }
            | Phase::BackingOff { .. }
            | Phase::Ended(_) => "asking",
        }
    }

    /// Whether the workflow has a question that is open, or waits behind a person's interrupt.
    pub fn wants_question(&self) -> bool {
        match self.state.phase() {
            Phase::Asking { .. } => true,
            Phase::Held(held) => held.cause.is_question() || held.question.is_some(),
            Phase::Created | Phase::Working { .. } | Phase::BackingOff { .. } | Phase::Ended(_) => {
                false
            }
        }
    }
}
