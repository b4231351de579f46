//! The file that was opened. It can be deleted, replaced or truncated while it is in use; SQLite does not notice, and
//! writes on to a file that has no name any more.
//!
//! Of the file only metadata is read. Opening it a second time, through SQLite without locks or not, would release the
//! locks of this process when that is closed, and another process could take itself for the last one: see [`OwnFiles`].
//! So a file that is overwritten in place by one that is at least as long is not found. The log has no locks, and is
//! read as a file.
//!
//! [`OwnFiles`]: interrupts::OwnFiles

use std::fs::{File, Metadata};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};

use interrupts::store::StoreError;

/// The first bytes of a log, but for the last bit.
const MAGIC: [u8; 3] = [0x37, 0x7f, 0x06];

/// Which file it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Identity {
    device: u64,
    number: u64,
}

impl Identity {
    #[cfg(unix)]
    fn of(file: &Metadata) -> Self {
        use std::os::unix::fs::MetadataExt as _;
        Self {
            device: file.dev(),
            number: file.ino(),
        }
    }

    /// Windows tells no file number in the standard library: the creation time stands in for it.
    #[cfg(not(unix))]
    fn of(file: &Metadata) -> Self {
        let made = file.created().ok();
        let since = made.and_then(|at| at.duration_since(std::time::UNIX_EPOCH).ok());
        Self {
            device: 0,
            number: since.map_or(0, |since| {
                u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
            }),
        }
    }
}

/// The files of an open store, as they were when it was opened.
#[derive(Debug)]
pub(super) struct OpenedFile {
    /// Without links: a link can be made to point to another store later.
    path: PathBuf,
    log: PathBuf,
    file: Identity,
    /// Set when the log is first seen. SQLite keeps one log file while the store is open in any process.
    log_file: OnceLock<(Identity, File)>,
    seen: Mutex<FileSizes>,
    /// The first loss that was found. It is final: a file that is put back lacks what was written meanwhile.
    gone: OnceLock<String>,
}

/// What was seen of the files last.
#[derive(Debug)]
struct FileSizes {
    /// The greatest length, in bytes. A file in use never shrinks: this program does not vacuum.
    length: u64,
    /// The greatest length of the log. It is written from its beginning again, and not cut off.
    log_length: u64,
}

impl OpenedFile {
    /// The file behind a connection that was just opened.
    pub(super) fn of(path: &Path) -> Result<Self, StoreError> {
        let real = std::fs::canonicalize(path).map_err(|error| missing(path, &error))?;
        let found = std::fs::metadata(&real).map_err(|error| missing(path, &error))?;
        let mut log = real.as_os_str().to_owned();
        log.push("-wal");
        Ok(Self {
            file: Identity::of(&found),
            seen: Mutex::new(FileSizes {
                length: found.len(),
                log_length: 0,
            }),
            log: PathBuf::from(log),
            path: real,
            log_file: OnceLock::new(),
            gone: OnceLock::new(),
        })
    }

    /// Checks that the path still leads to this file, and that it was not truncated. A transaction is acknowledged only
    /// after a check that follows its commit.
    ///
    /// # Errors
    ///
    /// [`StoreError::Gone`]; from then on always.
    pub(super) fn check(&self) -> Result<(), StoreError> {
        self.is_not_known_to_be_gone()?;
        let Some(detail) = self.look() else {
            return Ok(());
        };
        tracing::error!(detail, "the store is gone");
        let detail = self.gone.get_or_init(|| detail).clone();
        Err(StoreError::Gone { detail })
    }

    /// As [`OpenedFile::check`], without looking: it takes no system call.
    pub(super) fn is_not_known_to_be_gone(&self) -> Result<(), StoreError> {
        match self.gone.get() {
            Some(detail) => Err(StoreError::Gone {
                detail: detail.clone(),
            }),
            None => Ok(()),
        }
    }

    fn look(&self) -> Option<String> {
        let file = self.path.display();
        // One look at a time: else, of two lengths of a file that grows, the smaller one may come later.
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let found = match std::fs::metadata(&self.path) {
            Ok(found) => found,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Some(format!("{file} was deleted or moved away"));
            }
            Err(error) => return Some(format!("{file} cannot be reached: {error}")),
        };
        if Identity::of(&found) != self.file {
            return Some(format!("{file} was replaced by another file"));
        }
        let before = seen.length;
        seen.length = before.max(found.len());
        if found.len() < before {
            let now = found.len();
            return Some(format!("{file} was truncated from {before} to {now} bytes"));
        }
        self.look_at_log(&mut seen.log_length)
    }

    fn look_at_log(&self, length: &mut u64) -> Option<String> {
        let log = self.log.display();
        let known = self.log_file.get();
        let found = match (std::fs::metadata(&self.log), known) {
            (Ok(found), _) => found,
            (Err(_absent), Some(_)) => return Some(format!("{log} was deleted")),
            (Err(_absent), None) => return None,
        };
        let Some((identity, file)) = known else {
            if let Ok(file) = File::open(&self.log) {
                let _noted = self.log_file.get_or_init(|| (Identity::of(&found), file));
            }
            return None;
        };
        if Identity::of(&found) != *identity {
            return Some(format!("{log} was replaced"));
        }
        let before = *length;
        *length = before.max(found.len());
        if found.len() < before {
            let now = found.len();
            return Some(format!("{log} was truncated from {before} to {now} bytes"));
        }
        // Emptied, and written on where it ended, it begins with nothing.
        (found.len() > 0 && !begins_as_log(file)).then(|| format!("{log} was overwritten"))
    }
}

#[cfg(unix)]
fn begins_as_log(file: &File) -> bool {
    use std::os::unix::fs::FileExt as _;
    let mut first = [0; 4];
    file.read_exact_at(&mut first, 0).is_ok() && first[..MAGIC.len()] == MAGIC
}

#[cfg(not(unix))]
fn begins_as_log(_file: &File) -> bool {
    true
}

fn missing(path: &Path, error: &io::Error) -> StoreError {
    StoreError::Gone {
        detail: format!("{} cannot be reached: {error}", path.display()),
    }
}

#[cfg(test)]
mod tests {
    use std::fs::OpenOptions;
    use std::io::Write as _;
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::OpenedFile;

    #[test]
    fn a_file_that_grows_is_not_taken_for_one_that_was_truncated() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("store");
        std::fs::write(&path, [0; 4_096]).unwrap();
        let opened = OpenedFile::of(&path).unwrap();
        let has_grown = AtomicBool::new(false);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    while !has_grown.load(Ordering::Relaxed) {
                        opened.check().unwrap();
                    }
                });
            }
            let mut file = OpenOptions::new().append(true).open(&path).unwrap();
            for _ in 0..20_000 {
                file.write_all(&[0; 64]).unwrap();
            }
            has_grown.store(true, Ordering::Relaxed);
        });
    }
}
