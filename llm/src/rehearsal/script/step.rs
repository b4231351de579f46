//! The steps of a script.

use interrupt_router::model::{ModelCaller, Purpose};
use interrupt_router::review::Answer;
use interrupt_router::{AnswerForm, Choice, ConfirmationItem, InterruptType};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// Which calls a step is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StepSelector {
    /// The agent type, by its name on the wire.
    pub agent: String,
    /// The turn of the node, from 1.
    pub turn: u32,
    /// The end of the node's id; every node of the type where it is left out.
    pub node: Option<String>,
    /// How many corrections came before; every try where it is left out.
    pub correction: Option<u32>,
    /// What the call is for.
    pub purpose: Purpose,
}

impl StepSelector {
    /// Whether the step is for this caller.
    pub fn fits(&self, caller: &ModelCaller) -> bool {
        self.agent == caller.agent_type
            && self.turn == caller.turn
            && self.purpose == caller.purpose
            && self
                .correction
                .is_none_or(|correction| correction == caller.correction)
            && self
                .node
                .as_ref()
                .is_none_or(|node| caller.node.as_str().ends_with(node.as_str()))
    }
}

/// An agent raises an interrupt in place of working.
#[derive(Debug, Clone, PartialEq)]
pub struct InterruptStep {
    /// When.
    pub when: StepSelector,
    /// What every interrupt has.
    pub interrupt: ScriptedInterrupt,
    /// Fields of the agent's own kind of interrupt.
    pub own: Map<String, Value>,
}

/// The fields that every interrupt has; what is left out is made up.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ScriptedInterrupt {
    /// What the interrupt does.
    pub r#type: InterruptType,
    /// Why it is raised.
    pub reason: String,
    /// The answers that it offers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub choices: Option<Vec<Choice>>,
    /// What must be confirmed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub confirmation_items: Option<Vec<ConfirmationItem>>,
    /// What one needs to know to decide.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context_for_decision: Option<String>,
    /// What an answer is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answer_form: Option<AnswerForm>,
}

impl InterruptStep {
    /// The fields of the interrupt that are given.
    pub(crate) fn fields(&self) -> Map<String, Value> {
        let interrupt = json!(self.interrupt);
        let mut fields = interrupt.as_object().cloned().unwrap_or_default();
        fields.extend(self.own.clone());
        fields
    }
}

/// An agent answers exactly this.
#[derive(Debug, Clone, PartialEq)]
pub struct AnswerStep {
    /// When.
    pub when: StepSelector,
    /// The answer: JSON, or the very text where it is a string.
    pub answer: Value,
}

impl AnswerStep {
    /// The answer as the model gives it.
    pub fn text(&self) -> String {
        self.answer
            .as_str()
            .map_or_else(|| self.answer.to_string(), str::to_owned)
    }
}

/// A supervisor publishes an event when an agent is about to take a turn.
#[derive(Debug, Clone, PartialEq)]
pub struct SupervisorStep {
    /// The agent whose turn it is, by its name on the wire.
    pub agent: String,
    /// The turn, from 1.
    pub turn: u32,
    /// The end of the node's id; the first such node where it is left out.
    pub node: Option<String>,
    /// What is published.
    pub event: ScriptedEvent,
}

/// An event without what only a run knows: its id, the node and the time.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ScriptedEvent {
    /// The agent type that the event is for; that of the agent where it is left out.
    pub source_agent_type: Option<String>,
    /// Where the agent is sent; back where it is left out.
    pub reroute_to_agent_type: Option<String>,
    /// What the interrupt does.
    pub interrupt_type: InterruptType,
    /// Why it is raised.
    pub reason: String,
    /// The answers that it offers.
    #[serde(default)]
    pub choices: Vec<Choice>,
    /// What must be confirmed.
    #[serde(default)]
    pub confirmation_items: Vec<ConfirmationItem>,
    /// What one needs to know to decide.
    #[serde(default)]
    pub context_for_decision: String,
    /// What an answer is.
    pub answer_form: Option<AnswerForm>,
}

/// What a person answers to an interrupt.
#[derive(Debug, Clone, PartialEq)]
pub struct PersonAnswer {
    /// The agent type that raised the interrupt, by its name on the wire.
    pub agent: String,
    /// Which interrupt of agents of that type, from 1.
    pub nth: u32,
    /// The answer.
    pub answer: Answer,
}
