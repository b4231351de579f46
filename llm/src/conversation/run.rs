//! One run: calls the model until nothing is left to answer, or until it is stopped.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use interrupt_router::model::{
    CallNote, ChunkSink, LanguageModel, Message, ModelCall, ModelCaller, ToolRequest,
};
use interrupt_router::{Outcome, StopMode, StopReason, StopScope, StopSource};
use interrupts::Clock;
use tokio::sync::{mpsc, watch};

use super::event::{
    ConversationEvent, ConversationRunEnd, ConversationRunError, ConversationStatus, StopOutcome,
};
use super::machine::{Machine, NextAction, RunNumber, StepEnd};
use super::tools::{ConversationTools, ToolProgress, ToolResult};

/// How long a model may take to end after an interrupt before its call is dropped.
const FORCED_AFTER: Duration = Duration::from_millis(500);

/// How long tools may take to end after an interrupt before they are dropped. What runs them has a shorter limit of its
/// own.
const TOOLS_FORCED_AFTER: Duration = Duration::from_secs(30);

/// What all handles of a conversation share.
pub(super) struct ConversationInner {
    pub(super) state: Mutex<ConversationState>,
    pub(super) model: Arc<dyn LanguageModel>,
    pub(super) caller: ModelCaller,
    pub(super) status: watch::Sender<ConversationStatus>,
    pub(super) scope: StopScope,
    pub(super) grace: Option<Duration>,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) tools: Option<Arc<dyn ConversationTools>>,
}

pub(super) struct ConversationState {
    pub(super) machine: Machine,
    pub(super) listeners: Vec<mpsc::UnboundedSender<ConversationEvent>>,
    /// Of the run under way.
    pub(super) run_scope: StopScope,
}

impl ConversationInner {
    /// Changes the state, and tells all listeners what that did. Nothing that may block is done inside.
    pub(super) fn change<T>(&self, change: impl FnOnce(&mut ConversationState) -> T) -> T {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let result = change(&mut state);
        // Sent under the lock, so that all listeners get events in the order in which they happened.
        for event in state.machine.take_events() {
            state
                .listeners
                .retain(|listener| listener.send(event.clone()).is_ok());
        }
        let status = state.machine.status();
        self.status
            .send_if_modified(|known| std::mem::replace(known, status) != status);
        result
    }

    /// Asks for a stop, and passes it on to the call under way.
    pub(super) fn ask(&self, reason: StopReason) -> StopOutcome {
        let (asked, scope) = self.change(|state| {
            let asked = state.machine.ask(reason.clone());
            (asked, state.run_scope.clone())
        });
        if asked == StopOutcome::StopsRun {
            scope.stop(reason);
        }
        asked
    }

    fn reason(&self, mode: StopMode, source: StopSource, message: String) -> StopReason {
        StopReason {
            source,
            mode,
            message,
            timestamp: self.clock.now(),
        }
    }
}

/// A run under way. Dropped before its end, the conversation is paused with what there is.
pub(super) struct ConversationRun {
    shared: Arc<ConversationInner>,
    number: RunNumber,
    scope: StopScope,
}

impl ConversationRun {
    /// From now on the run can be stopped.
    pub(super) fn begin(shared: &Arc<ConversationInner>) -> Result<Self, ConversationRunError> {
        let scope = shared.scope.child();
        let number = shared.change(|state| {
            let number = state.machine.begin()?;
            state.run_scope = scope.clone();
            Ok::<_, ConversationRunError>(number)
        })?;
        Ok(Self {
            shared: Arc::clone(shared),
            number,
            scope,
        })
    }

    pub(super) async fn drive(self) -> Result<ConversationRunEnd, ConversationRunError> {
        loop {
            if let Some(reason) = self.scope.reason() {
                // Stopped from outside, or by us, which changes nothing.
                self.shared.ask(reason);
            }
            let next = self.shared.change(|state| state.machine.next(self.number));
            let ended = match next {
                NextAction::Over(end) => return Ok(end),
                NextAction::Step(messages) => self.step(messages).await,
                NextAction::Tools(requests) => {
                    self.run_tools(&requests).await;
                    continue;
                }
                NextAction::RoundsUsedUp(rounds) => {
                    self.pause_after(rounds);
                    continue;
                }
            };
            let number = self.number;
            let over = self
                .shared
                .change(|state| state.machine.step_ended(number, ended))?;
            if let Some(end) = over {
                return Ok(end);
            }
        }
    }

    async fn run_tools(&self, requests: &[ToolRequest]) {
        let progress = ProgressRelay {
            shared: Arc::clone(&self.shared),
            run: self.number,
        };
        let results = match &self.shared.tools {
            Some(tools) => tokio::select! {
                biased;
                results = tools.run(requests, &self.scope, &progress) => results,
                () = self.given_up(&**tools) => Vec::new(),
            },
            // The machine asks for none then.
            None => Vec::new(),
        };
        let number = self.number;
        self.shared
            .change(|state| state.machine.tools_ended(number, results));
    }

    /// Ends if the tools do not heed an interrupt. What must not be interrupted has all the time that it needs.
    async fn given_up(&self, tools: &dyn ConversationTools) {
        let _reason = self.forced(Duration::ZERO).await;
        tools.interruptible().await;
        tokio::time::sleep(TOOLS_FORCED_AFTER).await;
    }

    /// Pauses before the next round of tools, which the next run begins with.
    fn pause_after(&self, rounds: u32) {
        let message = format!("tools were run in {rounds} rounds, which is the limit");
        let (mode, source) = (StopMode::Graceful, StopSource::System);
        self.shared.ask(self.shared.reason(mode, source, message));
    }

    async fn step(&self, messages: Vec<Message>) -> StepEnd {
        let call = ModelCall {
            tools: self
                .shared
                .tools
                .as_ref()
                .map_or_else(Arc::default, |tools| tools.offers()),
            chunks: Some(Arc::new(Pieces {
                shared: Arc::clone(&self.shared),
                run: self.number,
            })),
            ..ModelCall::new(self.shared.caller.clone(), messages)
        };
        let call = self.shared.model.call(call, &self.scope);
        let outcome = tokio::select! {
            biased; // A call that has ended counts as ended, even if a stop was asked for meanwhile.
            outcome = call => outcome,
            reason = self.forced(FORCED_AFTER) => {
                let partial = self.shared.change(|state| state.machine.left_behind());
                return StepEnd::Interrupted { reason, partial };
            }
        };
        match outcome {
            Ok(Outcome::Completed(reply)) => StepEnd::Answered(reply),
            Ok(Outcome::Interrupted { reason, partial }) => {
                StepEnd::Interrupted { reason, partial }
            }
            Err(error) => StepEnd::Failed(Arc::new(error)),
        }
    }

    /// Turns a pause that takes too long into an interrupt; ends where even that is not heeded.
    async fn forced(&self, after: Duration) -> StopReason {
        if let Some(grace) = self.shared.grace {
            self.scope.stopping().await;
            let in_time = tokio::time::timeout(grace, self.scope.stopped_now()).await;
            if in_time.is_err() {
                let message = format!("the step was not over within {grace:?} of the pause");
                let (mode, source) = (StopMode::Immediate, StopSource::System);
                let reason = self.shared.reason(mode, source, message);
                self.shared.ask(reason.clone());
                // Also where the pause came from outside, and the conversation was not asked itself.
                self.scope.stop(reason);
            }
        }
        let reason = self.scope.stopped_now().await;
        tokio::time::sleep(after).await;
        reason
    }
}

impl Drop for ConversationRun {
    fn drop(&mut self) {
        let message = "the run was dropped".to_owned();
        let (mode, source) = (StopMode::Immediate, StopSource::Programmatic);
        let reason = self.shared.reason(mode, source, message);
        let number = self.number;
        self.shared
            .change(|state| state.machine.abandoned(number, reason));
    }
}

/// Passes the pieces of an answer on to those who listen.
struct Pieces {
    shared: Arc<ConversationInner>,
    run: RunNumber,
}

impl ChunkSink for Pieces {
    fn chunk(&self, text: &str) {
        self.shared
            .change(|state| state.machine.piece(self.run, text));
    }

    fn restarted(&self) {
        self.shared
            .change(|state| state.machine.restarted(self.run));
    }

    fn noted(&self, note: &CallNote) {
        self.shared
            .change(|state| state.machine.noted(self.run, note));
    }
}

/// Passes what becomes of tools on to those who listen.
struct ProgressRelay {
    shared: Arc<ConversationInner>,
    run: RunNumber,
}

impl ToolProgress for ProgressRelay {
    fn started(&self, index: usize) {
        self.shared
            .change(|state| state.machine.tool_started(self.run, index));
    }

    fn ended(&self, index: usize, result: ToolResult) {
        self.shared
            .change(|state| state.machine.tool_ended(self.run, index, result));
    }
}
