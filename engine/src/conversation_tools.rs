//! Runs the tools of a conversation: the tool executor behind the conversations' port.

mod relay;

use std::fmt::{self, Debug};
use std::sync::Arc;

use ::tools::{
    CallEnd, Executor, ExecutorConfig, InterruptController, McpServers, RequestedCall, ToolMessage,
    ToolRegistry, ToolSpec, wording,
};
use async_trait::async_trait;
use interrupt_router::StopScope;
use interrupt_router::model::{ToolOffer, ToolRequest};
use llm::{ConversationTools, ToolProgress, ToolResult, ToolState};
use tokio::sync::mpsc;

use relay::{Places, Relay};

/// A conversation's tools, run by an executor under its controller.
///
/// An immediate stop of the conversation becomes an interrupt of the controller: running calls are stopped, except
/// those that cannot be interrupted, which are waited for. The controller may be shared with others.
#[derive(Clone)]
pub struct ExecutorTools {
    config: ExecutorConfig,
    servers: Option<Arc<McpServers>>,
}

impl ExecutorTools {
    /// The tools of this configuration.
    pub fn new(config: ExecutorConfig) -> Self {
        let servers = None;
        Self { config, servers }
    }

    /// These tools and those of these servers too, as the servers list them at the time.
    pub fn with_servers(self, servers: Arc<McpServers>) -> Self {
        let servers = Some(servers);
        Self { servers, ..self }
    }

    /// What controls its calls.
    pub fn controller(&self) -> &InterruptController {
        &self.config.controller
    }

    /// The tools that there are now.
    fn registry(&self) -> ToolRegistry {
        let mut registry = self.config.registry.clone();
        if let Some(servers) = &self.servers
            && let Err(error) = servers.put_into(&mut registry)
        {
            tracing::warn!(%error, "not all tools of servers are offered");
        }
        registry
    }
}

impl Debug for ExecutorTools {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("ExecutorDesk")
            .field("config", &self.config)
            .finish_non_exhaustive()
    }
}

#[async_trait]
impl ConversationTools for ExecutorTools {
    fn offers(&self) -> Arc<[ToolOffer]> {
        let offer = |spec: &ToolSpec| ToolOffer {
            name: spec.name.as_str().to_owned(),
            description: spec.description.clone(),
            arguments: spec.arguments.clone(),
        };
        self.registry().specs().into_iter().map(offer).collect()
    }

    async fn interruptible(&self) {
        self.controller().interruptible().await;
    }

    async fn run(
        &self,
        requests: &[ToolRequest],
        scope: &StopScope,
        progress: &dyn ToolProgress,
    ) -> Vec<ToolResult> {
        let controller = self.controller();
        // An interrupt that was not consumed would make the next one a repetition.
        let _before = controller.consume_interrupts();
        let (told, mut heard) = mpsc::unbounded_channel();
        let mut config = self.config.clone();
        config.registry = self.registry();
        if let Some(servers) = &self.servers {
            servers.limit(&mut config.limits);
        }
        config.callbacks = Arc::new(Relay {
            told,
            inner: Arc::clone(&self.config.callbacks),
        });
        let executor = Executor::new(config);
        let calls = requests.iter().map(|request| {
            let (id, name) = (request.id.as_str(), request.name.as_str());
            RequestedCall::new(id, name, request.arguments.as_str())
        });
        let mut places = Places::of(requests);
        let execution = executor.execute(calls.collect());
        tokio::pin!(execution);
        let mut is_stopping = false;
        let ended = loop {
            tokio::select! {
                biased; // The turn begins before anything can stop it.
                ended = &mut execution => break ended,
                Some(moment) = heard.recv() => places.tell(moment, progress),
                reason = scope.stopped_now(), if !is_stopping => {
                    is_stopping = true;
                    controller.request(reason);
                }
            }
        };
        while let Ok(moment) = heard.try_recv() {
            places.tell(moment, progress);
        }
        let _noted = controller.consume_interrupts();
        match ended {
            Ok(turn) => turn.messages.iter().map(result).collect(),
            Err(error) => {
                let failed = ToolResult {
                    text: format!("The tool failed: the call cannot be recorded: {error}"),
                    state: ToolState::Failed,
                    summary: "cannot be recorded".to_owned(),
                    may_still_run: None,
                };
                vec![failed; requests.len()]
            }
        }
    }
}

/// What a message of the executor is to a conversation.
fn result(message: &ToolMessage) -> ToolResult {
    let line = wording::line(message);
    let name = format!("{} ({}): ", message.tool, message.call);
    let state = match &message.end {
        CallEnd::Finished { .. } => ToolState::Finished,
        CallEnd::Failed { .. } => ToolState::Failed,
        CallEnd::Denied { .. } => ToolState::Denied,
        CallEnd::Interrupted { .. }
        | CallEnd::FinishedAnyway { .. }
        | CallEnd::FailedAnyway { .. } => ToolState::Interrupted,
        CallEnd::Skipped { .. } => ToolState::NeverRan,
        CallEnd::TimedOut { .. } => ToolState::TimedOut,
        CallEnd::Unknown { .. } => ToolState::Unknown,
    };
    ToolResult {
        text: message.text(),
        state,
        summary: line.strip_prefix(&name).unwrap_or(&line).to_owned(),
        may_still_run: wording::may_still_run(&message.end),
    }
}
