//! A call that had begun and has no message: a person decides about it, unless it may be made again.

use interrupts::life::{Interrupt, Recurrence, Verdict};
use interrupts::store::Repeating;
use tools::{CallEnd, CallLogError, CallPosition, RequestedCall, ToolMessage, ToolOutput};

use super::{ToolIntent, ToolJournal};
use crate::tools::asking::{CallAnswer, CallQuestion};
use crate::tools::excerpt;
use journal::error::KeepError;
use journal::tool::{ToolQuestion, ToolQuestionContent, ToolQuestionKind};

/// The name of the question about a call whose outcome is unknown, below the call's place.
const UNKNOWN: &str = "unknown";

/// The same for a call that had asked questions, followed by how many it had asked by then.
const AGAIN: &str = "again";

impl ToolJournal {
    /// How many questions the call had asked while it ran. Waits for those that are still open: before that the call
    /// would only ask the same again.
    async fn answered_inputs(&self, at: &str) -> Result<usize, CallLogError> {
        let questions = &self.tooling.questions;
        let failed = |error| self.state.fail(error);
        let inputs = questions.inputs_of(&self.asker, at).await.map_err(failed)?;
        let count = inputs.len();
        for input in inputs {
            if let Some(matter) =
                ToolQuestionContent::of(&input.content).filter(|_| input.state.is_live())
            {
                let answered = questions.answered(&self.asker, &matter, input, &self.scope);
                self.heard(answered.await)?;
            }
        }
        Ok(count)
    }

    /// The end of a question; an error if it has none now, and the call goes on with the run.
    fn heard(&self, heard: Result<CallAnswer, KeepError>) -> Result<Box<Interrupt>, CallLogError> {
        match heard.map_err(|error| self.state.fail(error))? {
            CallAnswer::Ended(row) => Ok(row),
            CallAnswer::Stopped(reason) => {
                let reason = reason.message;
                Err(CallLogError { reason })
            }
            CallAnswer::NoReviewer(question) => {
                self.state.nobody_answers(*question);
                let reason = "a person has to say what came of a call".to_owned();
                Err(CallLogError { reason })
            }
        }
    }

    /// The call had begun, and its outcome is unknown: a person decides about it, unless it may be made again.
    pub(super) async fn unknown(
        &self,
        place: &CallPosition,
        call: &RequestedCall,
        intent: &ToolIntent,
    ) -> Result<Option<ToolMessage>, CallLogError> {
        if intent.repeating == Repeating::Idempotent {
            return Ok(None);
        }
        let id = call.id.as_str();
        self.state.park(id);
        let at = self.place(place);
        let inputs = self.answered_inputs(&at).await?;
        let (name, matter) = if inputs == 0 {
            (UNKNOWN.to_owned(), unknown_outcome(call, intent, at))
        } else {
            // Each interruption needs its own consent.
            let name = format!("{AGAIN}/{inputs}");
            (name, cut_off_after_asking(call, intent, at))
        };
        let asking = CallQuestion {
            name: &name,
            matter: &matter,
            recurrence: Recurrence::Once,
        };
        let questions = &self.tooling.questions;
        let row = self.heard(questions.ask(&self.asker, asking, &self.scope).await)?;
        self.state.unpark(id);
        let done = self.tooling.questions.carried_out(&row).await;
        done.map_err(|error| self.state.fail(error))?;
        let Some(end) = end_by(&row).map_err(|error| self.state.fail(error))? else {
            return Ok(None);
        };
        let message = ToolMessage {
            call: call.id.clone(),
            tool: call.tool.clone(),
            edited: None,
            words: None,
            said: None,
            end,
        };
        let recorded = self.record(place, &message).await;
        recorded.map_err(|error| self.state.fail(error))?;
        Ok(Some(message))
    }
}

fn unknown_outcome(
    call: &RequestedCall,
    intent: &ToolIntent,
    place: String,
) -> ToolQuestionContent {
    let reason = format!(
        "The outcome of a call of `{}` is unknown: it ran when its process died",
        call.tool
    );
    whether_again(reason, call, intent, place)
}

fn cut_off_after_asking(
    call: &RequestedCall,
    intent: &ToolIntent,
    place: String,
) -> ToolQuestionContent {
    let reason = format!(
        "A call of `{}` was cut off after it had asked something. Run it again?",
        call.tool
    );
    whether_again(reason, call, intent, place)
}

/// Whether a call is made again whose outcome is not known.
fn whether_again(
    reason: String,
    call: &RequestedCall,
    intent: &ToolIntent,
    place: String,
) -> ToolQuestionContent {
    let arguments = excerpt::arguments(&intent.arguments.clone().unwrap_or_default());
    let context = format!(
        "The call:\n{:#}\nIt may have had its effect, in part or whole. Nothing of it runs any more. Run it \
         again, leave it, or say in words what came of it.",
        arguments.value
    );
    ToolQuestionContent::new(
        reason,
        context,
        ToolQuestion {
            asks: ToolQuestionKind::UnknownOutcome,
            tool: call.tool.clone(),
            description: String::new(),
            call: call.id.clone(),
            is_excerpt: !arguments.is_whole,
            arguments: arguments.value,
            digest: None,
            folder: None,
            preview: None,
            allowed_before: None,
            schema: serde_json::json!({"type": "object", "maxProperties": 0}),
            place,
        },
    )
}

/// How the call ends by a person's decision; `None` if it is run again.
fn end_by(row: &Interrupt) -> Result<Option<CallEnd>, KeepError> {
    let Some(decision) = &row.decision else {
        return Ok(Some(not_known(
            "the question about it ended without an answer",
        )));
    };
    let unreadable = |source| KeepError::Unreadable {
        place: format!("the decision of {}", row.id),
        source,
    };
    let (answer, _confidence) = decision.answer().map_err(unreadable)?;
    Ok(match (decision.verdict, answer.text) {
        (Verdict::Approve, _) => None,
        (Verdict::Respond, Some(said)) => Some(CallEnd::Finished {
            output: ToolOutput::done(format!(
                "Its process died before the outcome was recorded. A person says of it: {said}"
            )),
        }),
        (_, Some(said)) => Some(not_known(&format!("a person says: {said}"))),
        (_, None) => Some(not_known("a person decided not to run it again")),
    })
}

fn not_known(why: &str) -> CallEnd {
    CallEnd::not_seen(format!("the process that ran it died; {why}"))
}
