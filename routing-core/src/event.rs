//! Events with which supervisors ask a running agent to interrupt itself, and say where to go then.

use jiff::Timestamp;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::agent_type::AgentType;
use crate::answer::{AnswerError, read_strictly};
use crate::answer_form::AnswerForm;
use crate::ids::{EventId, NodeId};
use crate::interrupt::{Choice, ConfirmationItem, InterruptType};
use crate::model::Message;

/// The first line of a message that asks an agent to raise an interrupt.
pub const INTERRUPT_REQUEST_MARK: &str = "[interrupt request]";

/// A [`RequestEvent`] to an agent of an enumeration.
pub type InterruptRequestEvent<K> = RequestEvent<K, <K as AgentType>::Route>;

/// A supervisor's request: that a running agent raises an interrupt, and where its answer shall go. It names the kind
/// of the agent by a `K` and where to go by an `R`: agents of an enumeration, or names of those of any workflow.
///
/// Its JSON is fixed. An absent or null `rerouteToAgentType` means: back to the source.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(
    rename_all = "camelCase",
    deny_unknown_fields,
    bound(deserialize = "K: Deserialize<'de>, R: Deserialize<'de>")
)]
pub struct RequestEvent<K, R> {
    /// Names the event; the same id with the same content is the same event.
    pub event_id: EventId,
    /// When it was published, by the publisher's clock.
    pub timestamp: Timestamp,
    /// The node that shall interrupt itself.
    pub node_id: NodeId,
    /// The kind of that node.
    pub source_agent_type: K,
    /// Where to go after the interrupt; back to the source where it is absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reroute_to_agent_type: Option<R>,
    /// What the interrupt shall do.
    pub interrupt_type: InterruptType,
    /// Why, in words for the agent and for people.
    pub reason: String,
    /// The answers that shall be offered.
    #[serde(default)]
    pub choices: Vec<Choice>,
    /// What shall be confirmed.
    #[serde(default)]
    pub confirmation_items: Vec<ConfirmationItem>,
    /// What one needs to know to decide.
    #[serde(default)]
    pub context_for_decision: String,
    /// What an answer shall be; anything where it is absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer_form: Option<AnswerForm>,
}

impl<K: AgentType> InterruptRequestEvent<K> {
    /// Where the interrupt's answer shall go.
    pub fn target(&self) -> K::Route {
        self.reroute_to_agent_type
            .unwrap_or_else(|| self.source_agent_type.origin_route())
    }
}

impl<K: DeserializeOwned, R: DeserializeOwned> RequestEvent<K, R> {
    /// Reads an event from JSON, strictly.
    ///
    /// # Errors
    ///
    /// [`AnswerError`] names the field and what is wrong with it: an unknown field, an unknown agent or
    /// interrupt type, a timestamp that is none.
    pub fn from_json(json: &[u8]) -> Result<Self, AnswerError> {
        read_strictly(json)
    }
}

impl<K, R> RequestEvent<K, R> {
    /// The same event with its kind and its target renamed.
    ///
    /// # Errors
    ///
    /// If one of the two has no other name.
    pub fn renamed<L, S, E>(
        self,
        kind: impl FnOnce(K) -> Result<L, E>,
        target: impl FnOnce(R) -> Result<S, E>,
    ) -> Result<RequestEvent<L, S>, E> {
        Ok(RequestEvent {
            event_id: self.event_id,
            timestamp: self.timestamp,
            node_id: self.node_id,
            source_agent_type: kind(self.source_agent_type)?,
            reroute_to_agent_type: self.reroute_to_agent_type.map(target).transpose()?,
            interrupt_type: self.interrupt_type,
            reason: self.reason,
            choices: self.choices,
            confirmation_items: self.confirmation_items,
            context_for_decision: self.context_for_decision,
            answer_form: self.answer_form,
        })
    }

    /// What the agent is told: a user message that asks it to raise the interrupt.
    pub fn message(&self) -> Message {
        let mut lines = vec![
            INTERRUPT_REQUEST_MARK.to_owned(),
            format!("type: {}", self.interrupt_type),
            format!("reason: {}", one_line(&self.reason)),
        ];
        if !self.context_for_decision.is_empty() {
            lines.push(format!("context: {}", one_line(&self.context_for_decision)));
        }
        if let Some(form) = self.answer_form {
            lines.push(format!("answerForm: {}", form.name()));
        }
        for choice in &self.choices {
            lines.push(format!(
                "choice: {} | {} | {}",
                one_line(&choice.value),
                one_line(&choice.label),
                one_line(&choice.description)
            ));
        }
        for item in &self.confirmation_items {
            lines.push(format!(
                "confirm: {} | {}",
                one_line(&item.id),
                one_line(&item.prompt)
            ));
        }
        lines.push(
            // Each record names that field as it likes.
            "Answer with the field that raises an interrupt, built from the lines above and from what you know."
                .to_owned(),
        );
        Message::user(lines.join("\n"))
    }
}

/// The text with its line breaks turned into spaces, so that it cannot pose as another line.
fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
