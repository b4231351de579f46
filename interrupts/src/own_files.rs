//! Files that this process keeps a store in: code that reads or writes files for an agent leaves them alone.
//!
//! The locks of POSIX belong to a process, and closing any descriptor of a file releases all locks that the process has
//! on it (fcntl(2), "Advisory record locking"). Reading a SQLite file once would therefore unlock it: the next process
//! that opens the store takes it for abandoned, cuts off what is mapped here, and may damage what both write (SQLite,
//! "How To Corrupt An SQLite Database File", section 2.2). That applies to the whole process, so the list is one for
//! the whole process.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};

static HELD: RwLock<Vec<Arc<[PathBuf]>>> = RwLock::new(Vec::new());

/// Files, and folders with all that is in them, that are this process's own until this is dropped.
#[derive(Debug)]
pub struct OwnFiles {
    paths: Arc<[PathBuf]>,
}

impl OwnFiles {
    /// Claims files and folders, whether they are there already or not.
    pub fn hold(paths: impl IntoIterator<Item = PathBuf>) -> Self {
        let paths: Arc<[PathBuf]> = paths.into_iter().map(|path| resolved(&path)).collect();
        let mut held = HELD.write().unwrap_or_else(PoisonError::into_inner);
        held.push(Arc::clone(&paths));
        Self { paths }
    }

    /// Whether a path leads to a claimed file, under any name. It is not opened for that.
    pub fn include(path: &Path) -> bool {
        let held = HELD.read().unwrap_or_else(PoisonError::into_inner);
        if held.is_empty() {
            return false;
        }
        let asked = resolved(path);
        let identity = identity(path);
        held.iter().flat_map(|paths| paths.iter()).any(|own| {
            asked.starts_with(own) || (identity.is_some() && identity == self::identity(own))
        })
    }
}

impl Drop for OwnFiles {
    fn drop(&mut self) {
        let mut held = HELD.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(index) = held
            .iter()
            .position(|paths| Arc::ptr_eq(paths, &self.paths))
        {
            held.swap_remove(index);
        }
    }
}

/// The path without links and dots, as far as it exists.
fn resolved(path: &Path) -> PathBuf {
    if let Ok(whole) = fs::canonicalize(path) {
        return whole;
    }
    let absolute = std::path::absolute(path).unwrap_or_else(|_unknown| path.to_owned());
    match (absolute.parent(), absolute.file_name()) {
        (Some(folder), Some(name)) => {
            fs::canonicalize(folder).map_or(absolute.clone(), |folder| folder.join(name))
        }
        _ => absolute,
    }
}

/// Identifies a file, regardless of its name: a hard link has the same identity.
#[cfg(unix)]
fn identity(path: &Path) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt as _;
    let metadata = fs::metadata(path).ok()?;
    Some((metadata.dev(), metadata.ino()))
}

#[cfg(not(unix))]
fn identity(_path: &Path) -> Option<(u64, u64)> {
    None
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::OwnFiles;

    #[test]
    fn a_file_is_own_under_every_name_as_long_as_it_is_held() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        fs::write(path("store"), "x").unwrap();
        fs::write(path("other"), "x").unwrap();
        fs::create_dir(path("below")).unwrap();
        let later = path("later");
        let held = OwnFiles::hold([path("store"), later.clone(), path("below")]);
        let again = OwnFiles::hold([path("store")]);
        for own in [
            path("store"),
            path("below/../store"),
            later,
            path("below/any"),
        ] {
            assert!(OwnFiles::include(&own), "{}", own.display());
        }
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(path("store"), path("link")).unwrap();
            fs::hard_link(path("store"), path("twin")).unwrap();
            assert!(OwnFiles::include(&path("link")));
            assert!(OwnFiles::include(&path("twin")));
        }
        assert!(!OwnFiles::include(&path("other")));
        assert!(!OwnFiles::include(&path("store-2")));
        drop(held);
        assert!(OwnFiles::include(&path("store")), "held twice");
        drop(again);
        assert!(!OwnFiles::include(&path("store")));
    }
}
