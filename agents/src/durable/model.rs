//! The run's model, journalled: an answer that was recorded is read, all others are recorded.

use std::sync::Arc;

use async_trait::async_trait;
use interrupts::Digest;
use jiff::Timestamp;
use routing_core::model::{
    Dialect, LanguageModel, ModelCall, ModelError, ModelReply, PartialReply,
};
use routing_core::{Outcome, StopMode, StopReason, StopScope, StopSource};

use super::entry::{CallIntent, CallResult};
use super::error::KeepError;
use super::journal::{MODEL_CALL, RunJournal};
use super::place;

use crate::run::metered_model::MeteredModel;

/// A model whose calls are journalled.
pub(crate) struct JournalledModel {
    pub(crate) inner: Arc<MeteredModel>,
    pub(crate) journal: Arc<RunJournal>,
}

fn unrecorded(error: KeepError) -> ModelError {
    ModelError::Unrecorded(Box::new(error))
}

/// What ends a run that is only shown, where nothing more is recorded of it.
pub(crate) fn end_of_what_was_recorded() -> StopReason {
    StopReason {
        source: StopSource::Programmatic,
        mode: StopMode::Immediate,
        message: "here the journal ends".to_owned(),
        timestamp: Timestamp::UNIX_EPOCH,
    }
}

impl JournalledModel {
    /// Whether an answer that was given before was given for another version of the schema: it was taken
    /// then, for nothing was asked after it, and it does not fit now.
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
            schema: call.schema.name().to_owned(),
            digest: digest(call),
            start,
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
        reply: &ModelReply,
    ) -> Result<(), KeepError> {
        let result = CallResult {
            text: reply.text.clone(),
            tool_requests: reply.tool_requests.clone(),
            usage: reply.usage,
            cut_off: reply.cut_off,
        };
        let content = serde_json::to_string(&result)?;
        self.journal
            .finish(&call.caller.node, place, content)
            .await?;
        Ok(())
    }
}

fn digest(call: &ModelCall) -> Digest {
    Digest::of(call.schema.text().as_bytes())
}

#[async_trait]
impl LanguageModel for JournalledModel {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn dialect(&self) -> Dialect {
        self.inner.dialect()
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
    pub(crate) async fn call_in_round(
        &self,
        round: u32,
        call: ModelCall,
        scope: &StopScope,
    ) -> Result<Outcome<ModelReply, PartialReply>, ModelError> {
        let place = place::in_round(&self.journal.call_place(&call.caller), round);
        let recorded: Option<CallResult> = self
            .journal
            .result(&place, &call.caller.node)
            .map_err(unrecorded)?;
        if let Some(CallResult {
            text,
            tool_requests,
            usage,
            cut_off,
        }) = recorded
        {
            self.journal.take_start(&call.caller.node);
            return Ok(Outcome::Completed(ModelReply {
                text,
                tool_requests,
                usage,
                cut_off,
            }));
        }
        if self.journal.record.is_watched_only() {
            return Ok(Outcome::Interrupted {
                reason: end_of_what_was_recorded(),
                partial: PartialReply::default(),
            });
        }
        self.begin(&place, &call).await.map_err(unrecorded)?;
        let outcome = self.inner.call(call.clone(), scope).await?;
        if let Outcome::Completed(reply) = &outcome {
            // Recorded before anything follows from it. An answer that was cut short stays unrecorded:
            // the call is made again when the run goes on.
            self.finish(&place, &call, reply)
                .await
                .map_err(unrecorded)?;
        }
        Ok(outcome)
    }
}
