//! A model whose calls are told, and whose trouble is remembered for the exit code.

use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use engine::run::{RunEvent, RunObserver, RunOccurrence};
use jiff::Timestamp;
use llm::ChatUsage;
use routing_core::ask::is_rejected_early;
use routing_core::model::{
    LanguageModel, ModelCall, ModelCaller, ModelError, ModelReply, PartialReply, TokenUsage,
    TurnForm,
};
use routing_core::schema::Dialect;
use routing_core::{Outcome, StopScope};

use crate::exit::{Exit, causes};
use crate::stage::Stage;

/// A call to a model has begun or ended.
#[derive(Debug, Clone)]
pub(crate) struct CallMoment {
    /// On whose behalf.
    pub(crate) caller: ModelCaller,
    /// The model.
    pub(crate) model: String,
    /// The name of the schema that the answer must fit.
    pub(crate) schema: String,
    /// When.
    pub(crate) at: Timestamp,
    /// What has happened.
    pub(crate) phase: CallPhase,
}

/// Where a call is.
#[derive(Debug, Clone)]
pub(crate) enum CallPhase {
    /// It has begun.
    Started,
    /// It has ended.
    Ended(CallOutcome),
}

/// How a call ended.
#[derive(Debug, Clone)]
pub(crate) enum CallOutcome {
    /// With an answer.
    Answered {
        /// What it cost.
        usage: TokenUsage,
        /// Whether it was cut off at its length limit.
        cut_off: bool,
    },
    /// By an interruption: the connection was closed.
    Cancelled {
        /// What is known of its cost, and how.
        usage: ChatUsage,
        /// What had arrived by then.
        text: String,
    },
    /// Because its answer was wrong already: the rest would have been paid for in vain. It is asked for again.
    GivenUp {
        /// What is known of its cost, and how.
        usage: ChatUsage,
        /// What was wrong with it.
        why: String,
    },
    /// Without an answer.
    Failed {
        /// Why.
        error: String,
    },
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
    /// The trouble of a failed call, where it has an exit code of its own.
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

    /// How the program ends by it.
    pub(crate) const fn exit(self) -> Exit {
        match self {
            Self::Unreachable => Exit::Unreachable,
            Self::Unauthorised | Self::Unpaid => Exit::NotAuthorised,
        }
    }
}

/// Watches another model. How a call ended is told once that is recorded: nothing is told that its store does not have.
pub(crate) struct WatchedModel {
    inner: Arc<dyn LanguageModel>,
    stage: Stage,
    trouble: Mutex<Option<ModelTrouble>>,
    /// The calls that have ended, until that is recorded.
    ended: Mutex<Vec<CallMoment>>,
}

impl WatchedModel {
    /// Tells the stage of each call.
    pub(crate) fn new(inner: Arc<dyn LanguageModel>, stage: Stage) -> Self {
        Self {
            inner,
            stage,
            trouble: Mutex::new(None),
            ended: Mutex::default(),
        }
    }

    /// The trouble of the last call that ended, where it had some.
    pub(crate) fn trouble(&self) -> Option<ModelTrouble> {
        *self.trouble.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn remember(&self, trouble: Option<ModelTrouble>) {
        *self.trouble.lock().unwrap_or_else(PoisonError::into_inner) = trouble;
    }
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
        let moment = CallMoment {
            caller: call.caller.clone(),
            model: self.inner.name().to_owned(),
            schema: call.schema.name().to_owned(),
            at: Timestamp::now(),
            phase: CallPhase::Started,
        };
        self.stage.model_call(moment.clone());
        let result = self.inner.call(call.clone(), scope).await;
        let (end, trouble) = end_of(&call, &result);
        // An interrupted call says nothing about its model.
        if !matches!(
            end,
            CallOutcome::Cancelled { .. } | CallOutcome::GivenUp { .. }
        ) {
            self.remember(trouble);
        }
        let mut ended = self.ended.lock().unwrap_or_else(PoisonError::into_inner);
        ended.push(CallMoment {
            at: Timestamp::now(),
            phase: CallPhase::Ended(end),
            ..moment
        });
        drop(ended);
        result
    }
}

impl RunObserver for WatchedModel {
    fn observe(&self, occurrence: &RunOccurrence) {
        let RunEvent::ModelCallRecorded { caller } = &occurrence.event else {
            return;
        };
        let mut ended = self.ended.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(at) = ended.iter().position(|moment| moment.caller == *caller) {
            self.stage.model_call(ended.remove(at));
        }
    }
}

fn end_of(
    call: &ModelCall,
    result: &Result<Outcome<ModelReply, PartialReply>, ModelError>,
) -> (CallOutcome, Option<ModelTrouble>) {
    match result {
        Ok(Outcome::Completed(reply)) => {
            let end = CallOutcome::Answered {
                usage: reply.usage,
                cut_off: reply.cut_off,
            };
            (end, None)
        }
        Ok(Outcome::Interrupted { reason, partial }) => {
            let usage = ChatUsage::of_partial(call, partial);
            let end = if is_rejected_early(reason) {
                let why = reason.message.clone();
                CallOutcome::GivenUp { usage, why }
            } else {
                let text = partial.text.clone();
                CallOutcome::Cancelled { usage, text }
            };
            (end, None)
        }
        Err(error) => {
            let trouble = ModelTrouble::of(error);
            let error = causes(error);
            (CallOutcome::Failed { error }, trouble)
        }
    }
}
