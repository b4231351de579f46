//! What was changed in the workspace, so that it can be taken back: in memory, or in a folder that a later process
//! finds again.

use std::collections::VecDeque;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use interrupts::{Digest, OwnFiles};
use serde::{Deserialize, Serialize};

/// The most changes that can be taken back.
const MOST_KEPT: usize = 100;

/// What the file of a change ends with.
const ENDING: &str = "json";

/// A change of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Edit {
    /// Which file, as it was named.
    pub(crate) path: String,
    /// Its text before; `None`: there was no such file.
    pub(crate) before: Option<String>,
    /// The digest of its text afterwards.
    pub(crate) after: Digest,
}

/// The changes so far, the last one at the end.
#[derive(Debug)]
pub(crate) enum EditHistory {
    /// Gone with the process.
    InMemory(VecDeque<Edit>),
    /// A file for each, named by its number.
    InFolder {
        folder: PathBuf,
        /// No file tool looks into it, or writes there.
        _own: OwnFiles,
    },
}

impl Default for EditHistory {
    fn default() -> Self {
        Self::InMemory(VecDeque::new())
    }
}

impl EditHistory {
    pub(super) fn in_folder(folder: PathBuf) -> Self {
        let own = OwnFiles::hold([folder.clone()]);
        Self::InFolder { folder, _own: own }
    }

    /// The last change.
    pub(crate) fn last(&self) -> io::Result<Option<Edit>> {
        match self {
            Self::InMemory(edits) => Ok(edits.back().cloned()),
            Self::InFolder { folder, .. } => match numbers(folder)?.last() {
                Some(number) => read(&file(folder, *number)).map(Some),
                None => Ok(None),
            },
        }
    }

    /// Adds a change. Where this fails, nothing was added.
    pub(crate) fn push(&mut self, edit: Edit) -> io::Result<()> {
        match self {
            Self::InMemory(edits) => {
                edits.push_back(edit);
                if edits.len() > MOST_KEPT {
                    edits.pop_front();
                }
                Ok(())
            }
            Self::InFolder { folder, .. } => {
                make_private(folder)?;
                let numbers = numbers(folder)?;
                let next = numbers.last().map_or(1, |last| last + 1);
                write(&file(folder, next), &edit)?;
                let too_many = (numbers.len() + 1).saturating_sub(MOST_KEPT);
                for old in numbers.iter().take(too_many) {
                    fs::remove_file(file(folder, *old))?;
                }
                Ok(())
            }
        }
    }

    /// Forgets the last change.
    pub(crate) fn pop(&mut self) -> io::Result<()> {
        match self {
            Self::InMemory(edits) => {
                edits.pop_back();
                Ok(())
            }
            Self::InFolder { folder, .. } => match numbers(folder)?.last() {
                Some(last) => fs::remove_file(file(folder, *last)),
                None => Ok(()),
            },
        }
    }
}

fn file(folder: &Path, number: u64) -> PathBuf {
    folder.join(format!("{number}.{ENDING}"))
}

/// The numbers of the changes in a folder, in their order.
fn numbers(folder: &Path) -> io::Result<Vec<u64>> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut numbers = Vec::new();
    for entry in entries {
        let path = entry?.path();
        let is_edit = path.extension().is_some_and(|ending| ending == ENDING);
        let number = path
            .file_stem()
            .and_then(|stem| stem.to_str()?.parse::<u64>().ok());
        numbers.extend(number.filter(|_number| is_edit));
    }
    numbers.sort_unstable();
    Ok(numbers)
}

fn read(file: &Path) -> io::Result<Edit> {
    Ok(serde_json::from_slice(&fs::read(file)?)?)
}

/// Whole or not at all: a process that dies leaves at most a file that is never read.
fn write(file: &Path, edit: &Edit) -> io::Result<()> {
    let part = file.with_extension("part");
    fs::write(&part, serde_json::to_vec(edit)?)?;
    fs::rename(&part, file)
}

/// Makes a folder for this user alone: it will contain text of files.
fn make_private(folder: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}
