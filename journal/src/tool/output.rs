//! The result of a call.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::containment::{ContainmentReport, Mechanism};

/// Whether a tool did what it was asked to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// It did.
    Done,
    /// It ran to its end and says that it failed: a program left with a code, a server answered with an error.
    Failed,
}

/// The result of a call that ran to its end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolOutput {
    /// What the model reads.
    pub text: String,
    /// Whether it did what it was asked to.
    pub verdict: Verdict,
    /// What became of the tool's processes, if it had any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub containment: Option<ContainmentReport>,
}

impl ToolOutput {
    /// The result of a tool that did what it was asked to, without processes.
    pub fn done(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            verdict: Verdict::Done,
            containment: None,
        }
    }

    /// The result of a tool that says it failed, without processes.
    pub fn failed(text: impl Into<String>) -> Self {
        Self {
            verdict: Verdict::Failed,
            ..Self::done(text)
        }
    }
}

/// Whether everything of a stopped call has ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stopped {
    /// Its processes were seen to be dead.
    Verified {
        /// What kept them together.
        mechanism: Mechanism,
        /// From the request to the proof.
        took: Duration,
    },
    /// The tool itself returned, and has nothing that could go on.
    Returned,
    /// The system that does the work was told to stop, still listens, and has reported nothing more of it. Whether the
    /// work has ended cannot be seen from here.
    Quiet,
    /// Something of it may go on.
    LeftBehind {
        /// What, and why.
        reason: String,
    },
}

impl Stopped {
    /// What a report says of the processes of a call that was stopped.
    pub fn of(report: &ContainmentReport) -> Self {
        if report.verified {
            return Self::Verified {
                mechanism: report.mechanism,
                took: report.took.unwrap_or_default(),
            };
        }
        let pids: Vec<String> = report
            .survivors
            .iter()
            .map(|process| process.pid.to_string())
            .collect();
        let reason = if pids.is_empty() {
            "the death of its processes could not be verified".to_owned()
        } else {
            format!("processes {} did not die", pids.join(", "))
        };
        Self::LeftBehind { reason }
    }

    /// What may still run, and why, if anything may.
    pub fn left_behind(&self) -> Option<&str> {
        match self {
            Self::LeftBehind { reason } => Some(reason),
            Self::Verified { .. } | Self::Returned | Self::Quiet => None,
        }
    }
}

/// What there is of a call that was stopped.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartialOutput {
    /// What had already come.
    pub text: String,
    /// Whether everything of it has ended.
    pub stopped: Stopped,
    /// What became of the tool's processes, if it had any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub containment: Option<ContainmentReport>,
}

impl PartialOutput {
    /// Of a tool without processes, which has returned.
    pub fn returned(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            stopped: Stopped::Returned,
            containment: None,
        }
    }

    /// Of a call of which something may go on.
    pub fn left_behind(reason: impl Into<String>) -> Self {
        Self {
            text: String::new(),
            stopped: Stopped::LeftBehind {
                reason: reason.into(),
            },
            containment: None,
        }
    }
}
