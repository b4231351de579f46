//! Why a folder cannot be the workspace.

use std::io;
use std::path::PathBuf;

/// Why a folder cannot be the workspace.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WorkspaceError {
    /// There is nothing at the path.
    #[error("the workspace `{}` does not exist", path.display())]
    Missing {
        /// The path as it was given.
        path: PathBuf,
    },
    /// The path is not a folder.
    #[error("the workspace `{}` is not a folder", path.display())]
    NotAFolder {
        /// The path as it was given.
        path: PathBuf,
    },
    /// The folder cannot be read.
    #[error("the workspace `{}` cannot be read", path.display())]
    Unreadable {
        /// The path as it was given.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: io::Error,
    },
}

impl WorkspaceError {
    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Missing { .. } => "check the path, or run in the folder itself",
            Self::NotAFolder { .. } => "give the folder that the file is in",
            Self::Unreadable { .. } => {
                "check the folder's permissions, and those of the folders above it"
            }
        }
    }
}
