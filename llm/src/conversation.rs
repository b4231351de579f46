//! A conversation with one model: messages are sent, runs answer them, and any of it can be paused or
//! interrupted from any thread at any moment, without a message lost or a history that no provider takes.

mod event;
mod history;
mod machine;
mod run;
mod tools;
mod validity;

use std::fmt::{self, Debug};
use std::future::Future;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use interrupt_router::model::{LanguageModel, ModelCaller};
use interrupt_router::{RunId, StopMode, StopReason, StopScope};
use interrupts::{Clock, SystemClock};
use tokio::sync::{mpsc, watch};

use machine::Machine;
use run::{ConversationInner, ConversationRun, ConversationState};

pub use event::{
    ConversationEvent, ConversationRunEnd, ConversationRunError, ConversationStatus, StopOutcome,
};
pub use history::{Completeness, History, HistoryEntry};
pub use tools::{ConversationTools, ToolProgress, ToolResult, ToolState};
pub use validity::{HistoryFault, check_history, repaired};

/// How often tools run in a row, where nothing else is said.
const TOOL_ROUNDS: u32 = 50;

/// What a conversation is made of.
#[derive(Clone)]
pub struct ConversationConfig {
    /// Who answers.
    pub model: Arc<dyn LanguageModel>,
    /// The instructions that come before everything.
    pub system: Option<String>,
    /// Runs the tools that the model asks for; where it is left out, none is offered.
    pub tools: Option<Arc<dyn ConversationTools>>,
    /// How often tools run in a row, without a message of the user in between, before the conversation is paused. The
    /// next run continues with the tools that were asked for.
    pub tool_rounds: u32,
    /// How long a pause may wait for the answer or the tools under way before it becomes an interrupt; for
    /// ever where it is left out.
    pub grace: Option<Duration>,
    /// Stops the run under way, and every later one. To stop one run alone, ask the conversation.
    pub scope: StopScope,
    /// Gives the time of stops that the conversation itself asks for.
    pub clock: Arc<dyn Clock>,
}

impl ConversationConfig {
    /// A conversation without instructions and without a limit to its pauses.
    pub fn new(model: Arc<dyn LanguageModel>) -> Self {
        Self {
            model,
            system: None,
            tools: None,
            tool_rounds: TOOL_ROUNDS,
            grace: None,
            scope: StopScope::new(),
            clock: Arc::new(SystemClock),
        }
    }
}

impl Debug for ConversationConfig {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("ConversationConfig")
            .field("model", &self.model.name())
            .field("system", &self.system)
            .field("grace", &self.grace)
            .finish_non_exhaustive()
    }
}

/// A message that says nothing: no provider takes one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the message is blank")]
pub struct BlankMessage;

/// A handle to a conversation; its clones are handles to the same one. Everything but a run itself
/// returns at once and may be called from any thread, inside or outside of a runtime.
#[derive(Clone)]
pub struct Conversation {
    shared: Arc<ConversationInner>,
}

impl Conversation {
    /// Prepares a conversation; nothing is sent.
    pub fn new(config: ConversationConfig) -> Self {
        let machine = Machine::new(config.system);
        let machine = match config.tools {
            Some(_) => machine.with_tools(config.tool_rounds),
            None => machine,
        };
        Self {
            shared: Arc::new(ConversationInner {
                status: watch::Sender::new(machine.status()),
                state: Mutex::new(ConversationState {
                    machine,
                    listeners: Vec::new(),
                    run_scope: config.scope.child(),
                }),
                model: config.model,
                caller: ModelCaller::conversation(RunId::generate()),
                scope: config.scope,
                grace: config.grace,
                clock: config.clock,
                tools: config.tools,
            }),
        }
    }

    /// Sends a message. It is kept, in its order, until a step takes it up: the next one of the run
    /// under way, or the first one of the next run.
    ///
    /// # Errors
    ///
    /// [`BlankMessage`] where there is nothing in it; it was not sent then.
    pub fn send_message(&self, text: impl Into<String>) -> Result<(), BlankMessage> {
        let text = text.into();
        if text.trim().is_empty() {
            return Err(BlankMessage);
        }
        self.shared.change(|state| state.machine.send(text));
        Ok(())
    }

    /// Answers everything that is unanswered. Each step answers all messages that wait for it.
    ///
    /// The run has begun when this returns, before its future is polled for the first time: an interrupt
    /// from then on ends it.
    ///
    /// # Errors
    ///
    /// [`ConversationRunError`], from the future. The conversation is as it was where another run is under way; what
    /// was not answered waits for the next run where the model failed.
    ///
    /// # Cancel safety
    ///
    /// Safe: a dropped future closes the connection to the model, and the conversation is paused with
    /// what had arrived, as if it had been interrupted.
    pub fn run(
        &self,
    ) -> impl Future<Output = Result<ConversationRunEnd, ConversationRunError>> + Send + use<> {
        let begun = ConversationRun::begin(&self.shared);
        async move { begun?.drive().await }
    }

    /// Lets the answer or the tools under way come to their end, then pauses until the next run. It becomes
    /// an interrupt where the configured grace is over first. Tools that were asked for and had not begun
    /// are what the next run begins with.
    pub fn pause(&self, reason: StopReason) -> StopOutcome {
        self.shared.ask(StopReason {
            mode: StopMode::Graceful,
            ..reason
        })
    }

    /// Ends everything under way at once, and pauses until the next run. What had arrived of the answer
    /// is kept and marked; tools are stopped, and what came of each is in the history before the run ends.
    /// A repetition changes nothing.
    pub fn interrupt(&self, reason: StopReason) -> StopOutcome {
        self.shared.ask(StopReason {
            mode: StopMode::Immediate,
            ..reason
        })
    }

    /// What it does.
    pub fn status(&self) -> ConversationStatus {
        *self.shared.status.borrow()
    }

    /// Waits until no run is under way, and says how it rests.
    ///
    /// # Cancel safety
    ///
    /// Safe: nothing is changed.
    pub async fn at_rest(&self) -> ConversationStatus {
        let mut statuses = self.shared.status.subscribe();
        let resting = statuses.wait_for(|status| !status.is_running()).await;
        // The sender lives in `self`, so the wait cannot end otherwise.
        resting.map_or(ConversationStatus::Idle, |status| *status)
    }

    /// What was said so far.
    pub fn history(&self) -> History {
        self.shared.change(|state| state.machine.history().clone())
    }

    /// How many messages wait for a step.
    pub fn waiting(&self) -> usize {
        self.shared.change(|state| state.machine.waiting())
    }

    /// Whether a run would call the model.
    pub fn has_work(&self) -> bool {
        self.shared.change(|state| state.machine.has_work())
    }

    /// What the model is called.
    pub fn model_name(&self) -> String {
        self.shared.model.name().to_owned()
    }

    /// What happens from now on, in order, none left out. To stop listening, drop the receiver.
    pub fn events(&self) -> mpsc::UnboundedReceiver<ConversationEvent> {
        let (listener, events) = mpsc::unbounded_channel();
        self.shared.change(|state| state.listeners.push(listener));
        events
    }
}

impl Debug for Conversation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Conversation")
            .field("status", &self.status())
            .finish_non_exhaustive()
    }
}
