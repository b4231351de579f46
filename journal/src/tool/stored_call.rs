//! A tool call as its run's journal keeps it, for readers that did not run it.

use interrupt_router::StopSource;
use interrupts::Digest;
use interrupts::store::{JournalEntry, Repeating};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::call::RequestedCall;
use super::end::{CallEnd, ToolMessage};
use super::wording::may_still_run;
use crate::kind::TOOL_CALL;

/// The most characters of what is said of an end.
const LONGEST_SAID: usize = 300;

/// A call, as the journal keeps it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolIntent {
    /// As the model asked for it.
    pub call: RequestedCall,
    /// The arguments that it runs with; absent if it never ran.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arguments: Option<Value>,
    /// What may be done if its outcome is unknown.
    pub repeating: Repeating,
    /// What it was to leave behind, if its tool could say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub leaves: Option<Digest>,
}

/// A tool call in the journal of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredCall {
    /// The call's id, as the model gave it.
    pub call: String,
    /// The tool's name, as the model gave it.
    pub tool: String,
    /// Whether it ever ran. One that was denied or skipped has an end all the same.
    pub has_run: bool,
    /// Its end, once it has one.
    pub end: Option<StoredCallEnd>,
}

/// How a call ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredCallEnd {
    /// In one word.
    pub outcome: &'static str,
    /// Whether it was stopped while it ran, and by whom.
    pub interrupted_by: Option<StopSource>,
    /// Whether a stop kept it from starting.
    pub is_skipped: bool,
    /// Whether something of it may still run.
    pub left_behind: bool,
    /// What its model reads of it, in one line, and what of it may still run. Nothing of what it returned, which may be
    /// long and is only the model's business.
    pub said: Option<String>,
}

impl StoredCall {
    /// The call of an entry of the journal; `None` if the entry is of something else, or of a program that writes
    /// calls differently.
    pub fn of(entry: &JournalEntry) -> Option<Self> {
        if entry.intent.kind.as_str() != TOOL_CALL {
            return None;
        }
        let intent: ToolIntent = serde_json::from_str(&entry.intent.content).ok()?;
        let message = entry.result.as_ref();
        let message =
            message.and_then(|result| serde_json::from_str::<ToolMessage>(&result.content).ok());
        Some(Self {
            call: intent.call.id.as_str().to_owned(),
            tool: intent.call.tool,
            has_run: intent.arguments.is_some(),
            end: message.as_ref().map(StoredCallEnd::of),
        })
    }
}

impl StoredCallEnd {
    pub(super) fn of(message: &ToolMessage) -> Self {
        let end = &message.end;
        let interrupted_by = match end {
            CallEnd::Interrupted { reason, .. } => Some(reason.source),
            CallEnd::Unknown { stop, .. } => stop.as_ref().map(|stop| stop.source),
            CallEnd::Finished { .. }
            | CallEnd::FinishedAnyway { .. }
            | CallEnd::Failed { .. }
            | CallEnd::FailedAnyway { .. }
            | CallEnd::Denied { .. }
            | CallEnd::Skipped { .. }
            | CallEnd::TimedOut { .. } => None,
        };
        let is_result = matches!(end, CallEnd::Finished { .. });
        // The arguments that a person changed come before the rest.
        let unedited = ToolMessage {
            edited: None,
            words: None,
            said: None,
            ..message.clone()
        };
        let mut said = (!is_result).then(|| first_line(&unedited.text()));
        if let Some(note) = may_still_run(end)
            && !said.as_ref().is_some_and(|said| said.contains(&note))
        {
            said = Some(said.map_or(note.clone(), |said| format!("{said} {note}")));
        }
        Self {
            outcome: end.word(),
            interrupted_by,
            is_skipped: matches!(end, CallEnd::Skipped { .. }),
            left_behind: end.left_behind(),
            said,
        }
    }
}

fn first_line(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    let mut said: String = line.chars().take(LONGEST_SAID).collect();
    if said.len() < line.len() {
        said.push('\u{2026}');
    }
    said
}

#[cfg(test)]
mod tests {
    use super::first_line;

    #[test]
    fn what_is_said_of_an_end_is_one_line_of_bounded_length() {
        assert_eq!(first_line("interrupted.\nwhat it wrote"), "interrupted.");
        assert_eq!(first_line(""), "");
        assert_eq!(first_line(&"ä".repeat(400)).chars().count(), 301);
    }
}
