//! The calls of a round in the run's journal: intent before the start, result after the end.

mod unknown;

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use interrupt_router::StopScope;
use interrupts::Digest;
use interrupts::store::Repeating;
use journal::tool::ToolIntent;
use tools::{
    BegunCall, CallEnd, CallLog, CallLogError, CallPosition, RequestedCall, ToolCall, ToolMessage,
};

use super::asking::AskingNode;
use super::round::RoundState;
use super::tooling::{RunningCall, Tooling};
use crate::run::RunEvent;
use journal::error::KeepError;
use journal::kind::TOOL_CALL;
use journal::place;

/// The tool journal of one round.
pub(super) struct ToolJournal {
    pub(super) tooling: Arc<Tooling>,
    pub(super) state: Arc<RoundState>,
    pub(super) asker: AskingNode,
    /// The place of the model's answer that asked for the calls.
    pub(super) asked_at: String,
    /// The calls as they were asked for.
    pub(super) calls: Vec<RequestedCall>,
    /// Stops with the agent.
    pub(super) scope: StopScope,
    /// The calls of this round that were recorded as begun by this process.
    pub(super) begun: Mutex<BTreeSet<usize>>,
}

impl ToolJournal {
    fn place(&self, place: &CallPosition) -> String {
        place::tool_call(&self.asked_at, place.index)
    }

    /// The recorded message of the call, if the call has ended.
    fn recorded(&self, at: &str) -> Result<Option<ToolMessage>, KeepError> {
        self.tooling.journal.result(at, &self.asker.node)
    }

    fn has_begun(&self, place: &CallPosition) -> bool {
        let begun = self.begun.lock().unwrap_or_else(PoisonError::into_inner);
        begun.contains(&place.index)
    }

    async fn begin_with(&self, place: &CallPosition, intent: &ToolIntent) -> Result<(), KeepError> {
        let content = serde_json::to_string(intent)?;
        let (journal, at) = (&self.tooling.journal, self.place(place));
        journal
            .begin_once(&self.asker.node, TOOL_CALL, &at, &content, intent.repeating)
            .await?;
        let mut begun = self.begun.lock().unwrap_or_else(PoisonError::into_inner);
        begun.insert(place.index);
        Ok(())
    }

    async fn record(&self, place: &CallPosition, message: &ToolMessage) -> Result<(), KeepError> {
        let content = serde_json::to_string(message)?;
        let (journal, at) = (&self.tooling.journal, self.place(place));
        journal.finish(&self.asker.node, &at, content).await?;
        if self.tooling.settings.elicitor.is_some() {
            self.tooling.questions.end_inputs(&self.asker, &at).await?;
        }
        self.told_end(message);
        Ok(())
    }

    fn told_start(&self, intent: &ToolIntent) {
        self.tooling.recorder.record(RunEvent::ToolStarted {
            node: self.asker.node.clone(),
            call: intent.call.id.as_str().to_owned(),
            tool: intent.call.tool.clone(),
            arguments: intent.arguments.clone().unwrap_or_default(),
        });
    }

    fn told_end(&self, message: &ToolMessage) {
        self.tooling.recorder.record(RunEvent::ToolEnded {
            node: self.asker.node.clone(),
            message: Box::new(message.clone()),
        });
    }
}

/// The end of a call that has begun and whose agent is left out, for the journal.
///
/// # Errors
///
/// If the intent is not of the form that this version knows.
pub fn left_out_call(intent: &str, reason: &str) -> serde_json::Result<String> {
    let ToolIntent { call, .. } = serde_json::from_str(intent)?;
    serde_json::to_string(&ToolMessage {
        call: call.id,
        tool: call.tool,
        edited: None,
        words: None,
        said: None,
        end: CallEnd::not_seen(reason),
    })
}

#[async_trait]
impl CallLog for ToolJournal {
    async fn begun(
        &self,
        place: &CallPosition,
        call: &RequestedCall,
    ) -> Result<Option<BegunCall>, CallLogError> {
        let (at, journal) = (self.place(place), &self.tooling.journal);
        let failed = |error| self.state.fail(error);
        if journal.is_answered(&at).map_err(failed)? {
            return Ok(None);
        }
        let intent = journal.intent::<ToolIntent>(&at).map_err(failed)?;
        let begun = intent.filter(|intent| intent.call == *call).and_then(|it| {
            let (arguments, leaves) = (it.arguments?, it.leaves?);
            Some(BegunCall { arguments, leaves })
        });
        Ok(begun)
    }

    async fn known(
        &self,
        place: &CallPosition,
        call: &RequestedCall,
    ) -> Result<Option<ToolMessage>, CallLogError> {
        let at = self.place(place);
        let journal = &self.tooling.journal;
        let intent = journal.intent::<ToolIntent>(&at);
        let Some(intent) = intent.map_err(|error| self.state.fail(error))? else {
            return Ok(None);
        };
        if intent.call != *call {
            return Err(self.state.fail(KeepError::Diverged {
                place: at,
                what: "tool call",
            }));
        }
        let recorded = self.recorded(&at);
        match recorded.map_err(|error| self.state.fail(error))? {
            Some(message) => {
                if intent.arguments.is_some() {
                    self.told_start(&intent);
                }
                self.told_end(&message);
                Ok(Some(message))
            }
            None => self.unknown(place, call, &intent).await,
        }
    }

    async fn begin(
        &self,
        place: &CallPosition,
        call: &ToolCall,
        repeating: Repeating,
        leaves: Option<Digest>,
    ) -> Result<(), CallLogError> {
        let asked_for = self.calls.get(place.index).cloned();
        let intent = ToolIntent {
            call: asked_for.unwrap_or_else(|| {
                RequestedCall::new(
                    call.id.as_str(),
                    call.tool.as_str(),
                    call.arguments.to_string(),
                )
            }),
            arguments: Some(call.arguments.clone()),
            repeating,
            leaves,
        };
        let begun = self.begin_with(place, &intent).await;
        begun.map_err(|error| self.state.fail(error))?;
        self.tooling.runs(RunningCall {
            call: call.clone(),
            asker: self.asker.clone(),
            place: self.place(place),
            state: Arc::clone(&self.state),
        });
        Ok(())
    }

    async fn said(&self, place: &CallPosition) -> Result<Option<String>, CallLogError> {
        let at = self.place(place);
        let said = self.tooling.questions.said(&self.asker, &at).await;
        said.map_err(|error| self.state.fail(error))
    }

    async fn end(
        &self,
        place: &CallPosition,
        call: &RequestedCall,
        message: &ToolMessage,
    ) -> Result<(), CallLogError> {
        self.tooling.has_ended(&self.place(place));
        if self.state.is_parked(call.id.as_str()) {
            // It goes on with the run, and gets its message then.
            let reason = "the call waits, and goes on with its run".to_owned();
            return Err(CallLogError { reason });
        }
        let ended = async {
            if !self.has_begun(place) {
                let intent = ToolIntent {
                    call: call.clone(),
                    arguments: None,
                    // It never ran.
                    repeating: Repeating::Idempotent,
                    leaves: None,
                };
                self.begin_with(place, &intent).await?;
            }
            self.record(place, message).await
        };
        ended.await.map_err(|error| self.state.fail(error))
    }
}

#[cfg(test)]
mod tests {
    use interrupts::store::Repeating;
    use tools::{CallEnd, ToolMessage};

    use super::ToolIntent;

    /// What runs that exist have in their journals.
    const INTENT: &str = r#"{"call":{"id":"a","tool":"shell","arguments":"{\"command\":\"ls\"}"},"arguments":{"command":"ls"},"repeating":"ask_person"}"#;
    const RESULT: &str = r#"{"call":"a","tool":"shell","end":"interrupted","reason":{"source":"user","mode":"immediate","message":"enough","timestamp":"2026-11-22T05:00:00Z"},"partial":{"text":"half","stopped":{"verified":{"mechanism":"sweep","took":{"secs":1,"nanos":5}}}}}"#;

    #[test]
    fn what_earlier_versions_have_recorded_of_calls_is_read_and_written_alike() {
        let intent: ToolIntent = serde_json::from_str(INTENT).unwrap();
        assert_eq!(intent.repeating, Repeating::AskPerson);
        assert_eq!(serde_json::to_string(&intent).unwrap(), INTENT);
        let message: ToolMessage = serde_json::from_str(RESULT).unwrap();
        assert!(matches!(message.end, CallEnd::Interrupted { .. }));
        assert_eq!(serde_json::to_string(&message).unwrap(), RESULT);
    }
}
