//! A model whose calls are reported, and whose trouble is remembered for the exit code.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use engine::run::{RunEvent, RunObserver, RunOccurrence};
use interrupt_router::ask::is_rejected_early;
use interrupt_router::model::{
    LanguageModel, ModelCall, ModelCaller, ModelError, ModelReply, PartialReply, TurnForm,
};
use interrupt_router::schema::Dialect;
use interrupt_router::{Outcome, StopScope};
use jiff::Timestamp;

use crate::exit::Exit;
use crate::terminal_output::TerminalOutput;

/// A call to a model that ended without a whole answer.
#[derive(Debug, Clone)]
pub(crate) struct UnansweredCall {
    /// On whose behalf.
    pub(crate) caller: ModelCaller,
    /// When it ended.
    pub(crate) at: Timestamp,
    /// Why.
    pub(crate) why: Unanswered,
}

/// Why a call has no whole answer.
#[derive(Debug, Clone)]
pub(crate) enum Unanswered {
    /// It was interrupted: the connection was closed. This had arrived by then.
    Interrupted(String),
    /// Its answer was wrong already, in these words: the rest would have been paid for in vain. It is asked for again.
    GivenUp(String),
}

/// Trouble with a model that has an exit code of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ModelTrouble {
    /// Its server cannot be reached.
    Unreachable,
    /// It refuses the key.
    Unauthorised,
    /// Its provider wants to be paid first.
    Unpaid,
}

impl ModelTrouble {
    /// The trouble of a failed call, if it has an exit code of its own.
    pub(crate) const fn of(error: &ModelError) -> Option<Self> {
        if let ModelError::Unreachable { .. } = error {
            Some(Self::Unreachable)
        } else if let ModelError::Unauthorized { .. } = error {
            Some(Self::Unauthorised)
        } else if let ModelError::Unpaid { .. } = error {
            Some(Self::Unpaid)
        } else {
            None
        }
    }

    /// The exit code that it leads to.
    pub(crate) const fn exit(self) -> Exit {
        match self {
            Self::Unreachable => Exit::Unreachable,
            Self::Unauthorised | Self::Unpaid => Exit::NotAuthorised,
        }
    }
}

/// Watches the calls to a model. One without an answer is reported only once that is recorded: no report goes beyond
/// the store.
pub(crate) struct ModelWatch {
    output: TerminalOutput,
    trouble: Mutex<Option<ModelTrouble>>,
    /// The calls that ended without an answer, until that is recorded.
    unanswered: Mutex<Vec<UnansweredCall>>,
}

impl ModelWatch {
    /// Reports each call to the terminal output.
    pub(crate) fn new(output: TerminalOutput) -> Self {
        Self {
            output,
            trouble: Mutex::new(None),
            unanswered: Mutex::default(),
        }
    }

    /// The model, its calls watched.
    pub(crate) fn over(self: Arc<Self>, inner: Arc<dyn LanguageModel>) -> Arc<dyn LanguageModel> {
        Arc::new(WatchedModel { inner, watch: self })
    }

    /// The trouble of the last call that ended, if it had any.
    pub(crate) fn trouble(&self) -> Option<ModelTrouble> {
        *self.trouble.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn unanswered(&self) -> MutexGuard<'_, Vec<UnansweredCall>> {
        self.unanswered
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn remember(&self, trouble: Option<ModelTrouble>) {
        *self.trouble.lock().unwrap_or_else(PoisonError::into_inner) = trouble;
    }
}

struct WatchedModel {
    inner: Arc<dyn LanguageModel>,
    watch: Arc<ModelWatch>,
}

#[async_trait]
impl LanguageModel for WatchedModel {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn dialect(&self) -> Dialect {
        self.inner.dialect()
    }

    fn turn_form(&self, caller: &ModelCaller) -> TurnForm {
        self.inner.turn_form(caller)
    }

    async fn call(
        &self,
        call: ModelCall,
        scope: &StopScope,
    ) -> Result<Outcome<ModelReply, PartialReply>, ModelError> {
        let result = self.inner.call(call.clone(), scope).await;
        match &result {
            Ok(Outcome::Completed(_)) => self.watch.remember(None),
            Err(error) => self.watch.remember(ModelTrouble::of(error)),
            // An interrupted call says nothing about its model.
            Ok(Outcome::Interrupted { reason, partial }) => {
                let why = if is_rejected_early(reason) {
                    Unanswered::GivenUp(reason.message.clone())
                } else {
                    Unanswered::Interrupted(partial.text.clone())
                };
                self.watch.unanswered().push(UnansweredCall {
                    caller: call.caller,
                    at: Timestamp::now(),
                    why,
                });
            }
        }
        result
    }
}

impl RunObserver for ModelWatch {
    fn observe(&self, occurrence: &RunOccurrence) {
        let RunEvent::ModelCallRecorded { caller } = &occurrence.event else {
            return;
        };
        let mut unanswered = self.unanswered();
        if let Some(at) = unanswered.iter().position(|call| call.caller == *caller) {
            self.output.unanswered(unanswered.remove(at));
        }
    }
}
