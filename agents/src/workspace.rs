//! The folder that a run speaks about: its files as facts, read once and never followed out of it.
//!
//! Reading obeys `.gitignore`, follows no links, omits files that are binary, huge or unreadable, and counts what it
//! omitted. It never fails because of one file.

mod error;
mod facts;
mod file;
mod heading;
mod language;
mod part;
mod walk;

use std::path::{Path, PathBuf};

use llm::Fact;

pub use error::WorkspaceError;
pub use file::WorkspaceFile;
pub use part::WorkspacePart;

/// How much of a folder is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WorkspaceLimits {
    /// The largest file that is read, in bytes.
    pub file_bytes: u64,
    /// How many files are read.
    pub files: usize,
    /// How much is read of all files together, in bytes.
    pub total_bytes: u64,
}

impl Default for WorkspaceLimits {
    /// 256 KiB a file, 2,000 files, 32 MiB together.
    fn default() -> Self {
        Self {
            file_bytes: 256 * 1024,
            files: 2_000,
            total_bytes: 32 * 1024 * 1024,
        }
    }
}

/// What was omitted from a folder, and why.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct OmittedFiles {
    /// Files that are no text.
    pub binary: usize,
    /// Files over the size limit.
    pub too_large: usize,
    /// Files and folders that could not be read.
    pub unreadable: usize,
    /// Links, which are not followed.
    pub links: usize,
    /// Files beyond the limits of number and of bytes in all.
    pub beyond_limits: usize,
}

impl OmittedFiles {
    /// How many in all.
    pub fn total(&self) -> usize {
        self.binary + self.too_large + self.unreadable + self.links + self.beyond_limits
    }
}

/// A folder and what is known of its files.
#[derive(Debug, Clone)]
pub struct Workspace {
    name: String,
    root: PathBuf,
    files: Vec<WorkspaceFile>,
    left_out: OmittedFiles,
}

impl Workspace {
    /// Reads a folder within the default limits.
    ///
    /// Blocks while it reads.
    ///
    /// # Errors
    ///
    /// [`WorkspaceError`] if the folder itself is missing, is no folder, or cannot be read.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, WorkspaceError> {
        Self::open_within(path, WorkspaceLimits::default())
    }

    /// Reads a folder within these limits.
    ///
    /// Blocks while it reads.
    ///
    /// # Errors
    ///
    /// [`WorkspaceError`] if the folder itself is missing, is no folder, or cannot be read.
    pub fn open_within(
        path: impl AsRef<Path>,
        limits: WorkspaceLimits,
    ) -> Result<Self, WorkspaceError> {
        let given = path.as_ref();
        let root = walk::folder(given)?;
        let (files, left_out) = walk::read(&root, limits);
        let name = given.display().to_string();
        Ok(Self {
            name: file::printable(&name),
            root,
            files,
            left_out,
        })
    }

    /// The folder as it was given.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The folder's real path.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Its files, in the order of their paths.
    pub fn files(&self) -> &[WorkspaceFile] {
        &self.files
    }

    /// What was omitted.
    pub fn left_out(&self) -> OmittedFiles {
        self.left_out
    }

    /// The parts that can be studied one by one: its folders, and the files beside them.
    pub fn parts(&self) -> Vec<WorkspacePart<'_>> {
        part::parts(&self.files)
    }

    /// What can be said of it that was counted: of the whole, of each part, and of the largest files of each part.
    pub fn facts(&self) -> Vec<Fact> {
        facts::facts(self)
    }
}

#[cfg(test)]
mod tests;
