//! The same conversation for callers without a runtime: run in one thread, interrupt from another.

use std::io;
use std::sync::{Arc, mpsc as thread_channel};

use routing_core::StopReason;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::mpsc;

use super::{
    BlankMessage, Conversation, ConversationConfig, ConversationEvent, ConversationRunEnd,
    ConversationRunError, ConversationStatus, History, StopOutcome,
};
use crate::chat::ChatUsage;

/// A conversation that blocks. Its clones are handles to the same one, for other threads.
#[derive(Debug, Clone)]
pub struct BlockingConversation {
    conversation: Conversation,
    runtime: Arc<OwnRuntime>,
}

/// A runtime that may be dropped anywhere, inside of another runtime too.
#[derive(Debug)]
struct OwnRuntime(Option<Runtime>);

impl Drop for OwnRuntime {
    fn drop(&mut self) {
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}

/// What happens in a conversation, for a thread to wait for.
#[derive(Debug)]
pub struct BlockingEvents {
    events: mpsc::UnboundedReceiver<ConversationEvent>,
    runtime: Arc<OwnRuntime>,
}

impl BlockingConversation {
    /// Prepares a conversation with a thread of its own for its connections; nothing is sent.
    ///
    /// # Errors
    ///
    /// Where the system gives no thread.
    pub fn new(config: ConversationConfig) -> io::Result<Self> {
        let runtime = Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("conversation")
            .enable_all()
            .build()?;
        Ok(Self {
            conversation: Conversation::new(config),
            runtime: Arc::new(OwnRuntime(Some(runtime))),
        })
    }

    /// As [`Conversation::send_message`].
    ///
    /// # Errors
    ///
    /// [`BlankMessage`] where there is nothing in it; it was not sent then.
    pub fn send_message(&self, text: impl Into<String>) -> Result<(), BlankMessage> {
        self.conversation.send_message(text)
    }

    /// As [`Conversation::run`]: blocks this thread until everything is answered, or until another
    /// thread pauses or interrupts.
    ///
    /// # Errors
    ///
    /// [`ConversationRunError`].
    pub fn run(&self) -> Result<ConversationRunEnd, ConversationRunError> {
        self.block_on(self.conversation.run())
            .unwrap_or(Err(ConversationRunError::RuntimeGone))
    }

    /// As [`Conversation::pause`]: returns at once.
    pub fn pause(&self, reason: StopReason) -> StopOutcome {
        self.conversation.pause(reason)
    }

    /// As [`Conversation::interrupt`]: returns at once.
    pub fn interrupt(&self, reason: StopReason) -> StopOutcome {
        self.conversation.interrupt(reason)
    }

    /// As [`Conversation::take_back_answer`].
    pub fn take_back_answer(&self) -> bool {
        self.conversation.take_back_answer()
    }

    /// What it does.
    pub fn status(&self) -> ConversationStatus {
        self.conversation.status()
    }

    /// Blocks until no run is under way, and says how it rests.
    pub fn at_rest(&self) -> ConversationStatus {
        let conversation = self.conversation.clone();
        self.block_on(async move { conversation.at_rest().await })
            .unwrap_or_else(|| self.status())
    }

    /// What was said so far.
    pub fn history(&self) -> History {
        self.conversation.history()
    }

    /// What all calls cost together.
    pub fn usage(&self) -> ChatUsage {
        self.conversation.usage()
    }

    /// What happens from now on, in order, none left out.
    pub fn events(&self) -> BlockingEvents {
        BlockingEvents {
            events: self.conversation.events(),
            runtime: Arc::clone(&self.runtime),
        }
    }

    /// The same conversation for asynchronous callers.
    pub fn conversation(&self) -> &Conversation {
        &self.conversation
    }

    fn block_on<T: Send + 'static>(
        &self,
        future: impl Future<Output = T> + Send + 'static,
    ) -> Option<T> {
        self.runtime.block_on(future)
    }
}

impl OwnRuntime {
    /// Runs a future on the runtime's own thread, so that blocking here is no fault wherever the caller
    /// is; `None` where that thread is gone.
    fn block_on<T: Send + 'static>(
        &self,
        future: impl Future<Output = T> + Send + 'static,
    ) -> Option<T> {
        let (send, receive) = thread_channel::sync_channel(1);
        self.0.as_ref()?.spawn(async move {
            // The caller waits for it below.
            let _received = send.send(future.await);
        });
        receive.recv().ok()
    }
}

impl Iterator for BlockingEvents {
    type Item = ConversationEvent;

    /// Blocks until something happens; `None` when the conversation is gone.
    fn next(&mut self) -> Option<ConversationEvent> {
        let (_nobody, empty) = mpsc::unbounded_channel();
        let mut events = std::mem::replace(&mut self.events, empty);
        let (event, events) = self
            .runtime
            .block_on(async move { (events.recv().await, events) })?;
        self.events = events;
        event
    }
}
