//! The steps of a script, as they are written.

use std::collections::BTreeMap;
use std::num::NonZeroU32;

use interrupt_router::model::{ModelCaller, Purpose};
use interrupt_router::review::Answer;
use interrupt_router::{AnswerForm, Choice, ConfirmationItem, InterruptType, Verdict};
use serde::Deserialize;
use serde_json::Value;

/// An agent's model says this in place of its own answer.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct AgentStep {
    pub(super) agent: String,
    turn: NonZeroU32,
    node: Option<String>,
    correction: Option<u32>,
    #[serde(default = "AgentStep::usual_purpose")]
    pub(super) purpose: Purpose,
    /// The answer: JSON, or the very text of a string; or the fields of an interrupt.
    #[serde(alias = "interrupt")]
    pub(super) answer: Value,
}

impl AgentStep {
    fn usual_purpose() -> Purpose {
        Purpose::Step
    }

    /// Whether the step is for this caller.
    pub(super) fn fits(&self, caller: &ModelCaller) -> bool {
        let (node, correction) = (self.node.as_ref(), self.correction);
        self.agent == caller.agent_type
            && self.turn.get() == caller.turn
            && self.purpose == caller.purpose
            && correction.is_none_or(|correction| correction == caller.correction)
            && node.is_none_or(|end| caller.node.as_str().ends_with(end))
    }
}

/// A supervisor publishes an event when an agent is about to take a turn.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SupervisorStep {
    /// When.
    pub when: SupervisedTurn,
    /// What is published.
    pub event: ScriptedEvent,
}

/// The turn before which a supervisor speaks.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SupervisedTurn {
    /// The agent whose turn it is, by its name on the wire.
    pub agent: String,
    /// The turn, from 1.
    pub turn: NonZeroU32,
    /// The end of the node's id; the first such node if it is left out.
    pub node: Option<String>,
}

/// An event without what only a run knows: its id, the node and the time.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ScriptedEvent {
    /// The agent type that the event is for; that of the agent if it is left out.
    pub source_agent_type: Option<String>,
    /// Where the agent is sent; back if it is left out.
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
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PersonAnswer {
    /// Which one.
    pub interrupt: AnsweredInterrupt,
    /// The answer.
    #[serde(deserialize_with = "ScriptedAnswer::deserialize")]
    pub answer: Answer,
}

/// The interrupt that a person answers.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AnsweredInterrupt {
    /// The agent type that raised the interrupt, by its name on the wire.
    pub agent: String,
    /// Which interrupt of agents of that type, from 1.
    pub nth: NonZeroU32,
}

/// An [`Answer`] with the verdict beside it, which is not part of what is stored.
#[derive(Deserialize)]
#[serde(remote = "Answer", rename_all = "camelCase", deny_unknown_fields)]
struct ScriptedAnswer {
    #[serde(default)]
    selected_choices: Vec<String>,
    text: Option<String>,
    #[serde(default)]
    confirmations: BTreeMap<String, bool>,
    edited_request: Option<Value>,
    reroute_to: Option<String>,
    verdict: Option<Verdict>,
}
