//! Reads a folder, within its limits.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use ignore::{DirEntry, WalkBuilder};
use interrupts::OwnFiles;

use super::{OmittedFiles, WorkspaceError, WorkspaceFile, WorkspaceLimits};

/// How many entries of a folder are examined: a whole disk is not walked to its end.
const MOST_ENTRIES: usize = 100_000;

/// The real path of a folder that can be read.
pub(super) fn folder(given: &Path) -> Result<PathBuf, WorkspaceError> {
    let failed = |source: io::Error| {
        let path = given.to_path_buf();
        if source.kind() == io::ErrorKind::NotFound {
            WorkspaceError::Missing { path }
        } else {
            WorkspaceError::Unreadable { path, source }
        }
    };
    let metadata = fs::metadata(given).map_err(failed)?;
    if !metadata.is_dir() {
        return Err(WorkspaceError::NotAFolder {
            path: given.to_path_buf(),
        });
    }
    let root = fs::canonicalize(given).map_err(failed)?;
    let _listing = fs::read_dir(&root).map_err(failed)?;
    Ok(root)
}

/// The files of a folder, and what was omitted from it.
pub(super) fn read(root: &Path, limits: WorkspaceLimits) -> (Vec<WorkspaceFile>, OmittedFiles) {
    let mut left_out = OmittedFiles::default();
    let mut files = Vec::new();
    let mut bytes_left = limits.total_bytes;
    let walk = WalkBuilder::new(root)
        .follow_links(false)
        .same_file_system(true)
        .require_git(false)
        .sort_by_file_name(std::ffi::OsStr::cmp)
        .build();
    for entry in walk.take(MOST_ENTRIES) {
        let Ok(entry) = entry else {
            left_out.unreadable += 1;
            continue;
        };
        match kind(&entry) {
            FileKind::File => {}
            FileKind::Link => {
                left_out.links += 1;
                continue;
            }
            FileKind::Other => continue,
        }
        if files.len() >= limits.files || bytes_left == 0 {
            left_out.beyond_limits += 1;
            continue;
        }
        // Counted as binary, without opening it.
        if OwnFiles::include(entry.path()) {
            left_out.binary += 1;
            continue;
        }
        match text(entry.path(), limits.file_bytes.min(bytes_left)) {
            Content::Text(text) => {
                let read = u64::try_from(text.len()).unwrap_or(u64::MAX);
                bytes_left = bytes_left.saturating_sub(read);
                files.push(WorkspaceFile::of(within(root, entry.path()), &text));
            }
            Content::Binary => left_out.binary += 1,
            Content::TooLarge if bytes_left < limits.file_bytes => left_out.beyond_limits += 1,
            Content::TooLarge => left_out.too_large += 1,
            Content::Unreadable => left_out.unreadable += 1,
        }
    }
    files.sort_by(|one, other| one.path.cmp(&other.path));
    (files, left_out)
}

enum FileKind {
    File,
    Link,
    /// A folder, a pipe, a device: nothing to read and nothing to count.
    Other,
}

fn kind(entry: &DirEntry) -> FileKind {
    match entry.file_type() {
        Some(kind) if kind.is_file() => FileKind::File,
        Some(kind) if kind.is_symlink() => FileKind::Link,
        Some(_) | None => FileKind::Other,
    }
}

enum Content {
    Text(String),
    Binary,
    TooLarge,
    Unreadable,
}

/// What is in a file of at most `most` bytes.
fn text(path: &Path, most: u64) -> Content {
    let Ok(file) = File::open(path) else {
        return Content::Unreadable;
    };
    let mut bytes = Vec::new();
    // One byte more than allowed shows that the file has grown since it was listed.
    if file
        .take(most.saturating_add(1))
        .read_to_end(&mut bytes)
        .is_err()
    {
        return Content::Unreadable;
    }
    // Binary first: a huge picture is omitted because it is binary.
    if bytes.contains(&0) {
        return Content::Binary;
    }
    if u64::try_from(bytes.len()).is_ok_and(|length| length > most) {
        return Content::TooLarge;
    }
    match String::from_utf8(bytes) {
        Ok(text) => Content::Text(text),
        Err(_) => Content::Binary,
    }
}

/// The path within the folder, with `/` between the names.
fn within(root: &Path, path: &Path) -> String {
    let inside = path.strip_prefix(root).unwrap_or(path);
    let names: Vec<_> = inside
        .components()
        .map(|name| name.as_os_str().to_string_lossy())
        .collect();
    names.join("/")
}
