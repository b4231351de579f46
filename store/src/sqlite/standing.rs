//! Whether the file is still the one that was opened: a file can be deleted, replaced or cut off while it is in use, and
//! SQLite goes on with what it has, where nobody ever finds it again.
//!
//! Only names are looked up. Opening the file once more would end the locks of the whole process on it.

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

    /// Without a number of the file, the time at which it was made tells it from another one.
    #[cfg(not(unix))]
    fn of(file: &Metadata) -> Self {
        let made = file.created().ok();
        let since = made.and_then(|at| at.duration_since(std::time::UNIX_EPOCH).ok());
        Self {
            device: 0,
            number: since.map_or(0, |since| since.as_nanos() as u64),
        }
    }
}

/// The files of an open store, as they were when it was opened.
#[derive(Debug)]
pub(super) struct Standing {
    /// Where links lead: what they lead to later is another store.
    path: PathBuf,
    log: PathBuf,
    file: Identity,
    /// Noted when it is seen first. It stays the same one while anybody has the store open.
    log_file: OnceLock<Identity>,
    /// In bytes. Nobody makes the file of a store smaller that is in use.
    length: AtomicU64,
    /// What was found first. A file that is put back afterwards lacks what was written since.
    gone: OnceLock<String>,
}

impl Standing {
    /// That of a file that a connection was opened to.
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

    /// Whether the file is the one that was opened, whole. What is asked before the answer is sent is known to be in
    /// it.
    ///
    /// # Errors
    ///
    /// [`StoreError::Gone`], and ever after.
    pub(super) fn check(&self) -> Result<(), StoreError> {
        if let Some(detail) = self.gone.get() {
            return Err(StoreError::Gone {
                detail: detail.clone(),
            });
        }
        let Some(detail) = self.look() else {
            return Ok(());
        };
        tracing::error!(detail, "the store is gone");
        let detail = self.gone.get_or_init(|| detail).clone();
        Err(StoreError::Gone { detail })
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
            return Some(format!(
                "{file} was cut off: it had {before} bytes, and has {now}"
            ));
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
