//! A message to an agent as callers see it.

use control::AgentAddress;
use interrupts::store::{MessageState, StoredMessage};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// What became of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum MessageStateName {
    /// Nobody has read it: it can be taken back.
    Waiting,
    /// The agent's turn that began then has read it.
    Read,
    /// Nobody had read it when its agent or its run ended.
    Unread,
    /// It was taken back before anybody read it.
    Withdrawn,
}

/// A message to an agent as callers see it.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct MessageView {
    /// Its number among all messages.
    pub(crate) message: u64,
    /// The agent.
    pub(crate) agent_id: String,
    /// What it says.
    pub(crate) text: String,
    /// Who said it.
    pub(crate) from: String,
    /// When it was accepted.
    pub(crate) at: String,
    /// What became of it.
    pub(crate) state: MessageStateName,
    /// Since when, where nobody waits for it any more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) since: Option<String>,
    /// Who took it back.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) withdrawn_by: Option<String>,
}

/// A part of the list of messages.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct MessagePage {
    /// The messages.
    pub(crate) messages: Vec<MessageView>,
    /// Where the next part begins; absent at the end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) next_cursor: Option<String>,
}

impl MessageView {
    /// A message as the store keeps it.
    pub(crate) fn of(stored: &StoredMessage) -> Self {
        let (state, since, by) = match &stored.state {
            MessageState::Waiting => (MessageStateName::Waiting, None, None),
            MessageState::Read { at } => (MessageStateName::Read, Some(at), None),
            MessageState::Unread { at } => (MessageStateName::Unread, Some(at), None),
            MessageState::Withdrawn { at, by } => (MessageStateName::Withdrawn, Some(at), Some(by)),
        };
        let address = AgentAddress {
            run: stored.message.run,
            node: stored.message.node.clone(),
        };
        Self {
            message: stored.position,
            agent_id: address.to_string(),
            text: stored.message.text.clone(),
            from: stored.message.from.name.as_str().to_owned(),
            at: stored.at.to_string(),
            state,
            since: since.map(ToString::to_string),
            withdrawn_by: by.map(|by| by.name.as_str().to_owned()),
        }
    }
}
