//! How a call ended, and the one message that says so in the history.

use std::time::Duration;

use interrupt_router::StopReason;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::call::CallId;
use super::containment::ContainmentReport;
use super::output::{PartialOutput, Stopped, ToolOutput};
use super::wording;

/// The most bytes of a result that a model is given, for every tool.
const LARGEST_RESULT: usize = 256 * 1024;

/// Truncates a text that is too long, and appends its true length.
fn truncate(text: &mut String) {
    let whole = text.len();
    if whole > LARGEST_RESULT {
        text.truncate(text.floor_char_boundary(LARGEST_RESULT));
        let kept = text.len();
        text.push_str(&format!("\n[truncated: the first {kept} of {whole} bytes]"));
    }
}

/// How a call ended. Each call has exactly one of these.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "end", rename_all = "snake_case")]
pub enum CallEnd {
    /// It ran to its end.
    Finished {
        /// Its result.
        output: ToolOutput,
    },
    /// There is no result: the call could not be made, or the tool failed.
    Failed {
        /// Why, for the model that asked for it.
        reason: String,
    },
    /// It was not allowed, and did not start.
    Denied {
        /// Why.
        reason: String,
        /// Whether the rule that denies it wants a person to look: the run is paused.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        pauses: bool,
    },
    /// It was stopped while it ran.
    Interrupted {
        /// Who stopped it, and why.
        reason: StopReason,
        /// What there is of it, and whether everything of it has ended.
        partial: PartialOutput,
    },
    /// A stop was requested, but it had already run to its end, or could not be stopped halfway.
    FinishedAnyway {
        /// Who wanted to stop it, and why.
        reason: StopReason,
        /// Its result.
        output: ToolOutput,
    },
    /// A stop was requested, but it failed on its own.
    FailedAnyway {
        /// Who wanted to stop it, and why.
        stop: StopReason,
        /// Why it failed.
        reason: String,
    },
    /// It never started because an interrupt came first.
    Skipped {
        /// Who interrupted, and why.
        reason: StopReason,
    },
    /// It took longer than it may.
    TimedOut {
        /// Its limit.
        limit: Duration,
        /// What there is of it, and whether everything of it has ended.
        partial: PartialOutput,
    },
    /// It began, and what came of it was not seen: it may have been done, in part or whole.
    Unknown {
        /// Why it was not seen.
        reason: String,
        /// Who wanted to stop it meanwhile, and why.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        stop: Option<StopReason>,
        /// What became of the tool's processes, if it had any.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        containment: Option<ContainmentReport>,
    },
}

impl CallEnd {
    /// Of a call that may not be made.
    pub fn denied(reason: impl Into<String>) -> Self {
        Self::Denied {
            reason: reason.into(),
            pauses: false,
        }
    }

    /// Of a call of which nothing runs any more, and of which it was not seen what came.
    pub fn not_seen(why: impl Into<String>) -> Self {
        Self::Unknown {
            reason: why.into(),
            stop: None,
            containment: None,
        }
    }

    /// The interrupt that the call met, if any.
    pub fn interrupt(&self) -> Option<&StopReason> {
        match self {
            Self::Interrupted { reason, .. }
            | Self::FinishedAnyway { reason, .. }
            | Self::FailedAnyway { stop: reason, .. }
            | Self::Skipped { reason } => Some(reason),
            Self::Unknown { stop, .. } => stop.as_ref(),
            Self::Finished { .. }
            | Self::Failed { .. }
            | Self::Denied { .. }
            | Self::TimedOut { .. } => None,
        }
    }

    /// Whether something of the call may still go on.
    pub fn left_behind(&self) -> bool {
        self.may_still_run().is_some()
    }

    /// Why something of the call may still go on, if it may.
    pub fn may_still_run(&self) -> Option<String> {
        let report = match self {
            Self::Interrupted { partial, .. } | Self::TimedOut { partial, .. } => {
                return partial.stopped.left_behind().map(str::to_owned);
            }
            Self::Finished { output } | Self::FinishedAnyway { output, .. } => &output.containment,
            Self::Unknown { containment, .. } => containment,
            Self::Failed { .. }
            | Self::FailedAnyway { .. }
            | Self::Denied { .. }
            | Self::Skipped { .. } => return None,
        };
        let stopped = report.as_ref().map(Stopped::of)?;
        stopped.left_behind().map(str::to_owned)
    }

    /// Truncates the texts of it to what a model is given.
    #[must_use]
    pub fn within_limit(mut self) -> Self {
        match &mut self {
            Self::Finished { output } | Self::FinishedAnyway { output, .. } => {
                truncate(&mut output.text);
            }
            Self::Interrupted { partial, .. } | Self::TimedOut { partial, .. } => {
                truncate(&mut partial.text);
            }
            Self::Failed { reason }
            | Self::Denied { reason, .. }
            | Self::FailedAnyway { reason, .. }
            | Self::Unknown { reason, .. } => truncate(reason),
            Self::Skipped { .. } => {}
        }
        self
    }

    /// The word for it, for logs.
    pub const fn word(&self) -> &'static str {
        match self {
            Self::Finished { .. } => "finished",
            Self::Failed { .. } => "failed",
            Self::Denied { .. } => "denied",
            Self::Interrupted { .. } => "interrupted",
            Self::FinishedAnyway { .. } => "finished_anyway",
            Self::FailedAnyway { .. } => "failed_anyway",
            Self::Skipped { .. } => "skipped",
            Self::TimedOut { .. } => "timed_out",
            Self::Unknown { .. } => "unknown",
        }
    }
}

/// The message of a call in the history: there is exactly one for each.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolMessage {
    /// The call's id, as the model gave it.
    pub call: CallId,
    /// The tool's name, as the model gave it.
    pub tool: String,
    /// The arguments that it ran with, if a person changed them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub edited: Option<Value>,
    /// What the person said who allowed it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub words: Option<String>,
    /// What people said along with their answers to what it asked while it ran, or to whether it is run again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub said: Option<String>,
    /// How it ended.
    #[serde(flatten)]
    pub end: CallEnd,
}

impl ToolMessage {
    /// What the model reads: never empty.
    pub fn text(&self) -> String {
        let mut text = wording::result(&self.end);
        if let Some(said) = &self.said {
            text = format!("A person who was asked about it says: {said}\n{text}");
        }
        if let Some(words) = &self.words {
            text = format!("The person who allowed it says: {words}\n{text}");
        }
        if let Some(arguments) = &self.edited {
            text = format!("A person changed the arguments to: {arguments}\n{text}");
        }
        text
    }
}
