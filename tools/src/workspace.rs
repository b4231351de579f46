//! The folder that an agent works in: file tools cannot leave it, and programs start in it.

mod history;
mod names;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cap_std::ambient_authority;
use cap_std::fs::Dir;
use interrupts::OwnFiles;

use crate::permission::PathRules;

pub(crate) use history::{Edit, EditHistory};

/// The largest file that is read, in bytes.
const LARGEST_TEXT: u64 = 8 * 1024 * 1024;

/// A folder that file tools cannot leave, neither by `..` nor by a link. Its clones are the same folder.
#[derive(Debug, Clone)]
pub struct Workspace {
    root: PathBuf,
    /// A capability: what is reached through it is inside.
    folder: Arc<Dir>,
    /// What file tools have changed in it.
    history: Arc<Mutex<EditHistory>>,
    /// What file tools do not open in it.
    paths: PathRules,
}

/// A path that does not lead to somewhere in the workspace.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WorkspaceError {
    /// It leads out of it.
    #[error("`{path}` is outside of the workspace")]
    Outside {
        /// As it was given.
        path: String,
    },
    /// It belongs to the store that this process works with: opened here, it could be damaged.
    #[error("`{path}` belongs to the store of this run; no file tool opens it")]
    OfTheStore {
        /// As it was given.
        path: String,
    },
    /// A rule denies it.
    #[error("a rule about paths denies `{path}`{}", reason.as_ref().map(|it| format!(": {it}")).unwrap_or_default())]
    Denied {
        /// As it was given.
        path: String,
        /// What the rule says of it.
        reason: Option<String>,
    },
    /// It was changed since it was read.
    #[error("`{path}` was changed meanwhile, and was left as it is")]
    Changed {
        /// As it was given.
        path: String,
    },
    /// It cannot be reached.
    #[error("`{path}` cannot be reached: {source}")]
    Unreachable {
        /// As it was given.
        path: String,
        /// Why.
        source: io::Error,
    },
}

impl Workspace {
    /// The workspace in an existing folder.
    ///
    /// # Errors
    ///
    /// What opening the folder failed with.
    pub fn open(root: impl AsRef<Path>) -> io::Result<Self> {
        let root = std::fs::canonicalize(root)?;
        let folder = Dir::open_ambient_dir(&root, ambient_authority())?;
        Ok(Self {
            root,
            folder: Arc::new(folder),
            history: Arc::default(),
            paths: PathRules::default(),
        })
    }

    /// The same folder, in which file tools open nothing that these rules deny.
    pub(crate) fn under(mut self, paths: &PathRules) -> Self {
        self.paths = paths.clone();
        self
    }

    /// Keeps what file tools change in it from now on in a folder of its own, so that `undo_edit` can take it back
    /// in a later process too; without this it can as long as the workspace lives. The folder need not exist.
    #[must_use]
    pub fn with_edits_kept_in(mut self, folder: impl Into<PathBuf>) -> Self {
        self.history = Arc::new(Mutex::new(EditHistory::in_folder(folder.into())));
        self
    }

    /// What file tools have changed in it. Locked while one of them changes something.
    pub(crate) fn history(&self) -> MutexGuard<'_, EditHistory> {
        self.history.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Where it is: an absolute path without links.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// A path below the root: as it was given, where that is relative, else what follows the root in it.
    fn relative(&self, path: &str) -> Result<PathBuf, WorkspaceError> {
        let given = Path::new(path);
        let relative = if given.is_absolute() {
            let below = given.strip_prefix(&self.root);
            below.map_err(|_elsewhere| WorkspaceError::Outside {
                path: path.to_owned(),
            })?
        } else {
            given
        };
        if relative.as_os_str().is_empty() {
            return Ok(PathBuf::from("."));
        }
        Ok(relative.to_owned())
    }

    /// A path below the root that a file tool may open, or write to.
    fn openable(&self, path: &str) -> Result<PathBuf, WorkspaceError> {
        let relative = self.relative(path)?;
        if OwnFiles::include(&self.root.join(&relative)) {
            return Err(WorkspaceError::OfTheStore {
                path: path.to_owned(),
            });
        }
        self.refuse_denied(path)?;
        Ok(relative)
    }

    /// Refuses a path that a rule denies, under its own name or under one that it leads to.
    pub(crate) fn refuse_denied(&self, path: &str) -> Result<(), WorkspaceError> {
        if self.paths.is_empty() {
            return Ok(());
        }
        let names = names::names(&self.folder, &self.root, &self.relative(path)?);
        match names.iter().find_map(|name| self.paths.denial(name)) {
            Some(denied) => Err(WorkspaceError::Denied {
                path: path.to_owned(),
                reason: denied.reason.map(str::to_owned),
            }),
            None => Ok(()),
        }
    }

    /// Whether a rule denies what a walk through the workspace has come to. It follows no links on its way.
    pub(crate) fn denies(&self, entry: &Path, is_link: bool) -> bool {
        if self.paths.is_empty() {
            return false;
        }
        let path = entry.strip_prefix(&self.root).unwrap_or(entry);
        let names = if is_link {
            names::names(&self.folder, &self.root, path)
        } else {
            vec![path.to_owned()]
        };
        names.iter().any(|name| self.paths.denial(name).is_some())
    }

    /// The absolute path of an existing folder in the workspace, for a program to start in.
    ///
    /// # Errors
    ///
    /// [`WorkspaceError`] where it is none, leads out, or is denied by a rule.
    pub fn directory(&self, path: &str) -> Result<PathBuf, WorkspaceError> {
        let absolute = self.file(path)?;
        if !absolute.is_dir() {
            let source = io::Error::from(io::ErrorKind::NotADirectory);
            return Err(WorkspaceError::unreachable(path, source));
        }
        Ok(absolute)
    }

    /// The absolute path of what exists in the workspace, for a program to read.
    ///
    /// # Errors
    ///
    /// [`WorkspaceError`] where there is nothing, it leads out, or a rule denies it.
    pub fn file(&self, path: &str) -> Result<PathBuf, WorkspaceError> {
        let relative = self.relative(path)?;
        self.refuse_denied(path)?;
        let unreachable = |source| WorkspaceError::unreachable(path, source);
        let absolute = std::fs::canonicalize(self.root.join(relative)).map_err(unreachable)?;
        if !absolute.starts_with(&self.root) {
            return Err(WorkspaceError::Outside {
                path: path.to_owned(),
            });
        }
        Ok(absolute)
    }

    /// The text of a file.
    pub(crate) fn read_text(&self, path: &str) -> Result<String, WorkspaceError> {
        let unreachable = |source| WorkspaceError::unreachable(path, source);
        let relative = self.openable(path)?;
        let metadata = self.folder.metadata(&relative).map_err(unreachable)?;
        // A pipe would be waited for, for ever.
        if !metadata.is_file() {
            return Err(unreachable(io::Error::other("it is no file")));
        }
        if metadata.len() > LARGEST_TEXT {
            return Err(unreachable(io::Error::from(io::ErrorKind::FileTooLarge)));
        }
        self.folder.read_to_string(&relative).map_err(unreachable)
    }

    /// The text of a file, `None` where there is none.
    pub(crate) fn read_if_there(&self, path: &str) -> Result<Option<String>, WorkspaceError> {
        match self.read_text(path) {
            Ok(text) => Ok(Some(text)),
            Err(WorkspaceError::Unreachable { source, .. })
                if source.kind() == io::ErrorKind::NotFound =>
            {
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    /// Replaces the text that was read of a file, atomically; if the file contains something else by then, nothing is
    /// written. Creates missing folders; follows links.
    pub(crate) fn replace_text(
        &self,
        path: &str,
        before: Option<&str>,
        text: &str,
    ) -> Result<(), WorkspaceError> {
        let unreachable = |source| WorkspaceError::unreachable(path, source);
        let given = self.openable(path)?;
        let target = self.folder.canonicalize(&given).unwrap_or(given);
        if let Some(parent) = target
            .parent()
            .filter(|parent| !parent.as_os_str().is_empty())
        {
            self.folder.create_dir_all(parent).map_err(unreachable)?;
        }
        let beside = target.with_file_name(format!(".irq-{}.part", uuid::Uuid::now_v7().simple()));
        let written = self.folder.write(&beside, text).and_then(|()| {
            if let Ok(metadata) = self.folder.metadata(&target) {
                self.folder
                    .set_permissions(&beside, metadata.permissions())?;
            }
            Ok(())
        });
        // As late as possible: no system call compares and renames in one.
        let put = written.map_err(unreachable).and_then(|()| {
            if self.read_if_there(path)?.as_deref() != before {
                let path = path.to_owned();
                return Err(WorkspaceError::Changed { path });
            }
            let renamed = self.folder.rename(&beside, &self.folder, &target);
            renamed.map_err(unreachable)
        });
        put.inspect_err(|_error| {
            let _never_written = self.folder.remove_file(&beside);
        })
    }

    /// Removes a file, unless it contains something else than was read of it.
    pub(crate) fn remove_file(
        &self,
        path: &str,
        before: Option<&str>,
    ) -> Result<(), WorkspaceError> {
        let relative = self.openable(path)?;
        if self.read_if_there(path)?.as_deref() != before {
            let path = path.to_owned();
            return Err(WorkspaceError::Changed { path });
        }
        self.folder
            .remove_file(relative)
            .map_err(|source| WorkspaceError::unreachable(path, source))
    }
}

impl WorkspaceError {
    fn unreachable(path: &str, source: io::Error) -> Self {
        Self::Unreachable {
            path: path.to_owned(),
            source,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::{Workspace, WorkspaceError};

    #[test]
    fn what_somebody_else_wrote_since_a_file_was_read_is_neither_replaced_nor_removed() {
        let folder = tempfile::tempdir().unwrap();
        let workspace = Workspace::open(folder.path()).unwrap();
        let file = folder.path().join("dough.txt");
        for read in [Some("flour\n"), None] {
            fs::write(&file, "rye\n").unwrap();
            let replaced = workspace.replace_text("dough.txt", read, "milk\n");
            assert!(matches!(replaced, Err(WorkspaceError::Changed { .. })));
            let removed = workspace.remove_file("dough.txt", read);
            assert!(matches!(removed, Err(WorkspaceError::Changed { .. })));
            assert_eq!(fs::read_to_string(&file).unwrap(), "rye\n");
            let left = fs::read_dir(folder.path()).unwrap().count();
            assert_eq!(left, 1, "what was prepared beside it is gone");
        }
        workspace
            .replace_text("dough.txt", Some("rye\n"), "milk\n")
            .unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap(), "milk\n");
    }
}
