//! A chain of models: where one fails, the next is asked.

use std::sync::Arc;

use async_trait::async_trait;
use routing_core::StopScope;
use routing_core::model::{ChunkSink, ModelError};

use crate::chat::{ChatCall, ChatModel, ChatOutcome, ChatPartial};
use crate::retrying::RestartingSink;

/// Asks one model after the other until one answers. An interrupt ends the chain whole: no later model
/// is asked. The error of the last model is that of the chain.
///
/// Where a model broke off in the midst of its answer, the sink is told by [`ChunkSink::restarted`] before
/// the first piece of the next one.
#[derive(Clone)]
pub struct Fallback {
    first: Arc<dyn ChatModel>,
    others: Vec<Arc<dyn ChatModel>>,
    name: String,
}

impl Fallback {
    /// A chain of `first` and, where it fails, `others` in their order.
    pub fn new(first: Arc<dyn ChatModel>, others: Vec<Arc<dyn ChatModel>>) -> Self {
        let names: Vec<&str> = std::iter::once(&first)
            .chain(&others)
            .map(|model| model.name())
            .collect();
        Self {
            name: names.join(", else "),
            first,
            others,
        }
    }
}

#[async_trait]
impl ChatModel for Fallback {
    fn name(&self) -> &str {
        &self.name
    }

    async fn chat(&self, call: ChatCall, scope: &StopScope) -> Result<ChatOutcome, ModelError> {
        let ChatCall { messages, chunks } = call;
        let sink = RestartingSink::around(chunks);
        let attempt = || ChatCall {
            messages: messages.clone(),
            chunks: Some(Arc::clone(&sink) as Arc<dyn ChunkSink>),
        };
        let mut ended = self.first.chat(attempt(), scope).await;
        for model in &self.others {
            let Err(error) = &ended else {
                break;
            };
            if scope.is_stopped_now() {
                let partial = ChatPartial {
                    text: sink.said(),
                    ..ChatPartial::default()
                };
                return Ok(partial.interrupted(scope.stopped_now().await));
            }
            tracing::info!(model = model.name(), %error, "falling back");
            sink.restart();
            ended = model.chat(attempt(), scope).await;
        }
        ended.map(|outcome| sink.kept_in(outcome))
    }
}
