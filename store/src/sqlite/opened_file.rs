//! The file that was opened. It can be deleted, replaced or truncated while it is in use; SQLite does not notice, and
//! writes on to a file that has no name any more.
//!
//! Metadata is read each time, and what the file says when its time of change is another one: overwriting it keeps its
//! number. That is read through SQLite, for closing a second file of our own would release the locks of this process: see
//! [`OwnFiles`]. The log has no locks, and is read as a file.
//!
//! [`OwnFiles`]: interrupts::OwnFiles

use std::fs::{File, Metadata};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Duration, SystemTime};

use interrupts::store::StoreError;
use rusqlite::{Connection, OpenFlags};

/// How often what a file says is read until it is taken for overwritten, and how long to wait between: another process
/// may just be moving what its log has into it.
const LOOKS: u32 = 50;
const BETWEEN: Duration = Duration::from_millis(20);

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
    seen: Mutex<Seen>,
    /// The first loss that was found. It is final: a file that is put back lacks what was written meanwhile.
    gone: OnceLock<String>,
}

/// What was seen of the files last.
#[derive(Debug)]
struct Seen {
    /// The greatest length, in bytes. A file in use never shrinks: this program does not vacuum.
    length: u64,
    /// When the file was changed last.
    changed: Option<SystemTime>,
    /// What it says; nothing where that is still in the log alone.
    says: Option<Says>,
    /// The greatest length of the log. It is written from its beginning again, and not cut off.
    log_length: u64,
}

/// What a file says by itself, without its log: which store it is, and how far its audit goes, which never goes back.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Says {
    store: String,
    audit: i64,
}

impl Says {
    fn of(path: &Path) -> rusqlite::Result<Self> {
        // It takes no locks, and reads no log.
        let mut address = "file:".to_owned();
        for byte in path.as_os_str().as_encoded_bytes() {
            match byte {
                b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'-' | b'_' => {
                    address.push(char::from(*byte));
                }
                byte => address.push_str(&format!("%{byte:02x}")),
            }
        }
        address.push_str("?immutable=1");
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
            | OpenFlags::SQLITE_OPEN_URI
            | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(address, flags)?;
        let sql = "SELECT name, (SELECT COALESCE(MAX(position), 0) FROM audit) FROM store";
        connection.query_row(sql, (), |row| {
            Ok(Self {
                store: row.get(0)?,
                audit: row.get(1)?,
            })
        })
    }

    fn goes_on_from(&self, before: &Self) -> bool {
        self.store == before.store && self.audit >= before.audit
    }
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
            seen: Mutex::new(Seen {
                length: found.len(),
                changed: found.modified().ok(),
                says: Says::of(&real).ok(),
                log_length: 0,
            }),
            log: PathBuf::from(log),
            path: real,
            log_file: OnceLock::new(),
            gone: OnceLock::new(),
        })
    }

    /// Checks that the path still leads to this file, and that it was neither truncated nor overwritten. A transaction is
    /// acknowledged only after a check that follows its commit.
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
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let before = seen.length;
        seen.length = before.max(found.len());
        if found.len() < before {
            let now = found.len();
            return Some(format!("{file} was truncated from {before} to {now} bytes"));
        }
        let changed = found.modified().ok();
        if changed != seen.changed {
            seen.changed = changed;
            if !self.still_says(&mut seen.says) {
                return Some(format!("{file} was overwritten"));
            }
        }
        self.look_at_log(&mut seen.log_length)
    }

    /// Whether the file goes on from what it said before.
    fn still_says(&self, before: &mut Option<Says>) -> bool {
        for _look in 0..LOOKS {
            match (Says::of(&self.path), &*before) {
                (Ok(says), Some(before)) if !says.goes_on_from(before) => {}
                (Ok(says), _) => {
                    *before = Some(says);
                    return true;
                }
                // What it says is still in the log.
                (Err(_unread), None) => return true,
                (Err(_unread), Some(_)) => {}
            }
            std::thread::sleep(BETWEEN);
        }
        false
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
