//! How a contained program ended.

use std::io;

use journal::tool::ContainmentReport;

use super::output::BoundedOutput;
use crate::keeper::ProcessExit;

/// The end of a contained program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContainedEnd {
    /// How its first process ended, where that is known.
    pub exit: Option<ProcessExit>,
    /// What it wrote to its standard output, up to the end.
    pub stdout: BoundedOutput,
    /// What it wrote to its standard error, up to the end.
    pub stderr: BoundedOutput,
    /// What became of its processes.
    pub report: ContainmentReport,
}

/// Why a program could not be contained.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ContainmentError {
    /// No keeper could be started, so neither was the program.
    #[error("failed to start a keeper")]
    Keeper(#[source] io::Error),
    /// The keeper did not start the program.
    #[error("{reason}")]
    Refused {
        /// Why.
        reason: String,
    },
    /// The keeper died while the program ran.
    #[error("the keeper died; {}", if report.verified { "so did everything of the program" } else { "processes of the program may be alive" })]
    KeeperDied {
        /// What was done about the program's processes then.
        report: ContainmentReport,
    },
}
