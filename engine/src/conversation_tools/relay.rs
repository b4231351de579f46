//! Reports the executor's events about calls to a conversation; the executor knows calls only by their ids.

use std::sync::Arc;

use ::tools::{ToolCall, ToolCallbacks, ToolMessage, ToolOutput};
use async_trait::async_trait;
use interrupt_router::model::ToolRequest;
use llm::ToolProgress;
use tokio::sync::mpsc::UnboundedSender;

/// Something that happened to a call.
pub(super) enum CallEvent {
    Started { id: String, tool: String },
    Ended(Box<ToolMessage>),
}

/// Passes on what happens, and still calls the previous callbacks.
pub(super) struct Relay {
    pub(super) told: UnboundedSender<CallEvent>,
    pub(super) inner: Arc<dyn ToolCallbacks>,
}

impl Relay {
    fn ended(&self, message: &ToolMessage) {
        // If the run was dropped, there is no receiver.
        let _nobody = self.told.send(CallEvent::Ended(Box::new(message.clone())));
    }
}

#[async_trait]
impl ToolCallbacks for Relay {
    async fn before_tool(&self, call: &ToolCall) -> Option<ToolOutput> {
        self.inner.before_tool(call).await
    }

    fn on_tool_start(&self, call: &ToolCall) {
        let _nobody = self.told.send(CallEvent::Started {
            id: call.id.as_str().to_owned(),
            tool: call.tool.as_str().to_owned(),
        });
        self.inner.on_tool_start(call);
    }

    fn on_tool_result(&self, message: &ToolMessage) {
        self.ended(message);
        self.inner.on_tool_result(message);
    }

    fn on_tool_error(&self, message: &ToolMessage) {
        self.ended(message);
        self.inner.on_tool_error(message);
    }

    fn on_tool_interrupted(&self, message: &ToolMessage) {
        self.ended(message);
        self.inner.on_tool_interrupted(message);
    }
}

/// Which of the requests a call is.
pub(super) struct Places {
    requests: Vec<(String, String)>,
    started: Vec<bool>,
}

impl Places {
    pub(super) fn of(requests: &[ToolRequest]) -> Self {
        let named = requests
            .iter()
            .map(|request| (request.id.clone(), request.name.clone()));
        Self {
            requests: named.collect(),
            started: vec![false; requests.len()],
        }
    }

    pub(super) fn tell(&mut self, moment: CallEvent, progress: &dyn ToolProgress) {
        match moment {
            CallEvent::Started { id, tool } => {
                let next = self.alike(&id, &tool).find(|index| !self.started[*index]);
                if let Some(index) = next {
                    self.started[index] = true;
                    progress.started(index);
                }
            }
            CallEvent::Ended(message) => {
                let mut alike = self.alike(message.call.as_str(), &message.tool);
                // If several calls share an id, it is unknown which has ended; the final results say it.
                if let (Some(index), None) = (alike.next(), alike.next()) {
                    progress.ended(index, super::result(&message));
                }
            }
        }
    }

    fn alike(&self, id: &str, tool: &str) -> impl Iterator<Item = usize> {
        let named = self.requests.iter().enumerate();
        named
            .filter(move |(_, (known, name))| known == id && name == tool)
            .map(|(index, _)| index)
    }
}
