//! Why a call has no result.

use crate::containment::ContainmentError;
use crate::workspace::WorkspaceError;

/// Why a call has no result.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ToolError {
    /// The arguments fit the schema, and cannot be used all the same.
    #[error("{reason}")]
    Unusable {
        /// What is wrong, for the model that wrote them.
        reason: String,
    },
    /// What the tool works on refused.
    #[error("{doing}: {source}")]
    Io {
        /// What it was about to do.
        doing: String,
        /// What came of it.
        source: std::io::Error,
    },
    /// A path that it was given does not lead to where it may.
    #[error(transparent)]
    Path(#[from] WorkspaceError),
    /// Its program could not be contained.
    #[error(transparent)]
    Containment(#[from] ContainmentError),
    /// The server that the tool is of failed, or refused the call.
    #[error("{reason}")]
    Server {
        /// Which, and why.
        reason: String,
    },
    /// The call reached what does the tool's work, and what came of it was not seen.
    #[error("{reason}")]
    Unseen {
        /// Why.
        reason: String,
    },
    /// What does the tool's work failed: a server, another agent.
    #[error("{service} failed: {reason}")]
    Service {
        /// Who.
        service: String,
        /// In its words.
        reason: String,
    },
}
