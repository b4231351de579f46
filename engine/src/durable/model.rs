//! The run's model, journalled: an answer that was recorded is read, all others are recorded.

use std::sync::Arc;

use async_trait::async_trait;
use interrupt_router::ask::is_rejected_early;
use interrupt_router::model::{
    Dialect, LanguageModel, ModelCall, ModelCaller, ModelError, ModelReply, PartialReply, TurnForm,
};
use interrupt_router::{Outcome, StopMode, StopReason, StopScope, StopSource};
use interrupts::Digest;
use interrupts::money::Usage;
use jiff::Timestamp;

use super::journal::RunJournal;
use journal::attempts::AttemptEnd;
use journal::entry::{CallIntent, CallResult, Prompt};
use journal::error::KeepError;
use journal::kind::MODEL_CALL;
use journal::place;

use crate::run::RunEvent;
use crate::run::metered_model::MeteredModel;
use crate::run::recorder::Recorder;

/// A model whose calls are journalled.
pub struct JournalledModel {
    pub inner: Arc<MeteredModel>,
    pub journal: Arc<RunJournal>,
    /// Notified of each call once its outcome is recorded; `None` if no one watches the run.
    recorder: Option<Arc<Recorder>>,
}

pub fn unrecorded(error: KeepError) -> ModelError {
    ModelError::Unrecorded(Box::new(error))
}

/// Ends a flow that may do nothing new, where nothing more of it is recorded.
pub fn end_of_what_was_recorded() -> StopReason {
    StopReason {
        source: StopSource::Programmatic,
        mode: StopMode::Immediate,
        message: "here the journal ends".to_owned(),
        timestamp: Timestamp::UNIX_EPOCH,
    }
}

impl JournalledModel {
    pub fn new(inner: &Arc<MeteredModel>, journal: &Arc<RunJournal>) -> Self {
        Self {
            inner: Arc::clone(inner),
            journal: Arc::clone(journal),
            recorder: None,
        }
    }

    /// The same, and this recorder is notified of each call once its outcome is recorded.
    #[must_use]
    pub fn told(self, recorder: &Arc<Recorder>) -> Self {
        Self {
            recorder: Some(Arc::clone(recorder)),
            ..self
        }
    }

    /// Checks whether an earlier answer was given for another version of the schema: it was accepted then, since
    /// nothing was asked after it, and it does not fit now.
    fn check_schema(&self, call: &ModelCall) -> Result<(), KeepError> {
        let Some(before) = call.caller.correction.checked_sub(1) else {
            return Ok(());
        };
        let mut caller = call.caller.clone();
        caller.correction = before;
        let place = self.journal.call_place(&caller);
        let recorded = self.journal.intent::<CallIntent>(&place)?;
        match recorded {
            Some(intent) if intent.digest != digest(call) => Err(KeepError::OtherSchema {
                place,
                schema: intent.schema,
            }),
            Some(_) | None => Ok(()),
        }
    }

    async fn begin(&self, place: &str, call: &ModelCall) -> Result<(), KeepError> {
        let caller = &call.caller;
        let start = self.journal.take_start(&caller.node);
        if self.journal.at(place)?.is_none() {
            self.check_schema(call)?;
        }
        let intent = CallIntent {
            purpose: caller.purpose,
            turn: caller.turn,
            correction: caller.correction,
            schema: call
                .schema
                .as_ref()
                .map_or("", |schema| schema.name())
                .to_owned(),
            digest: digest(call),
            start,
            prompt: prompt(call),
        };
        let content = serde_json::to_string(&intent)?;
        self.journal
            .begin(&caller.node, MODEL_CALL, place, &content)
            .await
    }

    async fn finish(
        &self,
        place: &str,
        call: &ModelCall,
        result: &CallResult,
    ) -> Result<(), KeepError> {
        let content = serde_json::to_string(result)?;
        self.journal
            .finish(&call.caller.node, place, content)
            .await?;
        Ok(())
    }
}

/// How much a call asks.
fn prompt(call: &ModelCall) -> Prompt {
    Prompt {
        messages: u32::try_from(call.messages.len() + 1).unwrap_or(u32::MAX),
        bytes: u64::try_from(call.bytes()).unwrap_or(u64::MAX),
    }
}

/// How a try of a call ended.
fn end_of(outcome: &Result<Outcome<ModelReply, PartialReply>, ModelError>) -> AttemptEnd {
    match outcome {
        Ok(Outcome::Completed(_)) => AttemptEnd::Answered,
        Ok(Outcome::Interrupted { reason, .. }) if is_rejected_early(reason) => {
            AttemptEnd::Answered
        }
        Ok(Outcome::Interrupted { partial, .. }) => AttemptEnd::CutShort {
            text: partial.text.clone(),
            usage: partial.usage,
        },
        Err(error) => AttemptEnd::Failed {
            error: in_words(error),
            may_cost: Usage::of_failure(error) != Usage::NOT_BILLED,
        },
    }
}

fn in_words(error: &ModelError) -> String {
    let mut text = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(error) = cause {
        text.push_str(": ");
        text.push_str(&error.to_string());
        cause = error.source();
    }
    text
}

fn digest(call: &ModelCall) -> Digest {
    Digest::of(call.schema_text().as_bytes())
}

#[async_trait]
impl LanguageModel for JournalledModel {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn dialect(&self) -> Dialect {
        self.inner.dialect()
    }

    fn turn_form(&self, caller: &ModelCaller) -> TurnForm {
        // If the journal cannot be read, the call itself reports it.
        let begun = self.journal.form_of(caller).unwrap_or_default();
        begun.unwrap_or_else(|| self.inner.turn_form(caller))
    }

    async fn call(
        &self,
        call: ModelCall,
        scope: &StopScope,
    ) -> Result<Outcome<ModelReply, PartialReply>, ModelError> {
        self.call_in_round(0, call, scope).await
    }
}

impl JournalledModel {
    /// A call after so many rounds of tools: its answer has a place of its own.
    pub async fn call_in_round(
        &self,
        round: u32,
        call: ModelCall,
        scope: &StopScope,
    ) -> Result<Outcome<ModelReply, PartialReply>, ModelError> {
        let place = place::in_round(&self.journal.call_place(&call.caller), round);
        let recorded = self
            .journal
            .answer(&place, &call.caller.node)
            .map_err(unrecorded)?;
        if let Some(result) = recorded {
            self.journal.take_start(&call.caller.node);
            return Ok(Outcome::Completed(result.into()));
        }
        if self
            .journal
            .went_on_without(&call.caller)
            .map_err(unrecorded)?
        {
            self.journal.take_start(&call.caller.node);
            return Ok(Outcome::Completed(ModelReply::rejected_early(
                PartialReply::default(),
            )));
        }
        self.begin(&place, &call).await.map_err(unrecorded)?;
        let (node, prompt) = (call.caller.node.clone(), prompt(&call));
        let begins = self.journal.attempt_begins(&node, &place, prompt).await;
        begins.map_err(unrecorded)?;
        let outcome = self.inner.call(call.clone(), scope).await;
        if let Some(result) = outcome.as_ref().ok().and_then(CallResult::of) {
            // Recorded before anything follows from it. An answer that a stop cut short does not count: what has
            // arrived is kept for its cost, and the call is made again when the run goes on.
            self.finish(&place, &call, &result)
                .await
                .map_err(unrecorded)?;
        }
        let ended = self
            .journal
            .attempt_ended(&node, &place, prompt, &end_of(&outcome))
            .await;
        ended.map_err(unrecorded)?;
        if let Some(recorder) = &self.recorder {
            let caller = call.caller;
            recorder.record(RunEvent::ModelCallRecorded { caller });
        }
        outcome
    }
}
