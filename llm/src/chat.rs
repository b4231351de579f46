//! The chat port: answers in free text that arrive piece by piece and can be stopped at any moment.
//!
//! Where [`LanguageModel`] asks for a JSON value that fits a schema, a [`ChatModel`] talks. What the two
//! share, from the messages to the errors, is the model port's.
//!
//! [`LanguageModel`]: interrupt_router::model::LanguageModel

pub(crate) mod characters;
mod reply;
mod usage;

use std::fmt::{self, Debug};
use std::sync::Arc;

use async_trait::async_trait;
use interrupt_router::model::{ChunkSink, Message, ModelError, ToolOffer};
use interrupt_router::{Outcome, StopScope};

pub use reply::{AtProvider, ChatPartial, ChatReply, Discarded};
pub use usage::{ChatUsage, EstimationMethod, TokenCount};

/// How a chat call ended; a failed one is an error.
pub type ChatOutcome = Outcome<ChatReply, ChatPartial>;

/// One call: a conversation that waits for its next answer.
#[derive(Clone)]
pub struct ChatCall {
    /// The conversation, in order.
    pub messages: Vec<Message>,
    /// The tools that the model may ask for. Mostly none.
    pub tools: Arc<[ToolOffer]>,
    /// Told of each piece of the answer as it arrives. Must not block.
    pub chunks: Option<Arc<dyn ChunkSink>>,
}

impl ChatCall {
    /// A call whose pieces no one wants to see.
    pub fn new(messages: Vec<Message>) -> Self {
        Self {
            messages,
            tools: Arc::default(),
            chunks: None,
        }
    }
}

impl Debug for ChatCall {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("ChatCall")
            .field("messages", &self.messages.len())
            .finish_non_exhaustive()
    }
}

/// A model that talks.
#[async_trait]
pub trait ChatModel: Send + Sync {
    /// What to call it in logs and on screen.
    fn name(&self) -> &str;

    /// Runs one call; ends early, with what has arrived, when `scope` is stopped immediately.
    ///
    /// The text of a partial answer is exactly what the call's sink received since its last restart. Once this returns,
    /// nothing of the call continues and no further request leaves.
    ///
    /// # Errors
    ///
    /// [`ModelError`] where there is no whole answer. An interrupted call is not an error.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future closes the connection to the provider; the partial answer is lost. Stop
    /// `scope` instead to keep it.
    async fn chat(&self, call: ChatCall, scope: &StopScope) -> Result<ChatOutcome, ModelError>;
}

#[async_trait]
impl<M: ChatModel + ?Sized> ChatModel for Arc<M> {
    fn name(&self) -> &str {
        (**self).name()
    }

    async fn chat(&self, call: ChatCall, scope: &StopScope) -> Result<ChatOutcome, ModelError> {
        (**self).chat(call, scope).await
    }
}
