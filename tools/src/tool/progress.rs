//! What a running tool tells while it runs.

use serde::{Deserialize, Serialize};

/// Which of a program's two outputs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stream {
    /// The standard output.
    Stdout,
    /// The standard error.
    Stderr,
}

/// Something to show while a tool runs. None of it is the result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Progress {
    /// A piece of a program's output.
    Output {
        /// Which one.
        stream: Stream,
        /// The piece.
        text: String,
    },
    /// How far it is.
    Step {
        /// So much is done.
        done: f64,
        /// Of so much, where that is known.
        total: Option<f64>,
        /// In words.
        message: Option<String>,
    },
}

/// Receives the progress of a running tool.
pub trait ProgressSink: Send + Sync {
    /// Takes it up. Must not block.
    fn progress(&self, progress: Progress);
}

/// Listens to nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoProgress;

impl ProgressSink for NoProgress {
    fn progress(&self, _progress: Progress) {}
}
