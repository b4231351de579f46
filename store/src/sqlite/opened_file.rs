//! The file that was opened. It can be deleted, replaced or truncated while it is in use; SQLite does not notice, and
//! writes on to a file that has no name any more.
//!
//! Only metadata is read. Opening the file a second time would release the locks of this process: see [`OwnFiles`].
//!
//! [`OwnFiles`]: interrupts::OwnFiles

use std::fs::Metadata;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use interrupts::store::StoreError;

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
    log_file: OnceLock<Identity>,
    /// The greatest length seen, in bytes. A file in use never shrinks: this program does not vacuum.
    length: AtomicU64,
    /// The first loss that was found. It is final: a file that is put back lacks what was written meanwhile.
    gone: OnceLock<String>,
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
            length: AtomicU64::new(found.len()),
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
        let before = self.length.fetch_max(found.len(), Ordering::Relaxed);
        if found.len() < before {
            let now = found.len();
            return Some(format!("{file} was truncated from {before} to {now} bytes"));
        }
        self.look_at_log()
    }

    fn look_at_log(&self) -> Option<String> {
        let known = self.log_file.get();
        match (std::fs::metadata(&self.log), known) {
            (Ok(log), Some(known)) if Identity::of(&log) != *known => {
                Some(format!("{} was replaced", self.log.display()))
            }
            (Ok(log), _) => {
                let _noted = self.log_file.get_or_init(|| Identity::of(&log));
                None
            }
            (Err(_absent), Some(_)) => Some(format!("{} was deleted", self.log.display())),
            (Err(_absent), None) => None,
        }
    }
}

fn missing(path: &Path, error: &io::Error) -> StoreError {
    StoreError::Gone {
        detail: format!("{} cannot be reached: {error}", path.display()),
    }
}
