//! Opening a file: what must be true before anything is accepted.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, mpsc};
use std::time::Duration;

use interrupts::OwnFiles;
use interrupts::store::StoreError;
use rusqlite::backup::Backup;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};
use tokio::task::spawn_blocking;

use super::connection::{FileConnection, FileWriter, WrittenFile};
use super::error::store_error;
use super::leaving::{OpenStore, Owned};
use super::opened_file::OpenedFile;
use super::readers::Readers;
use super::{Sqlite, SqliteStore, StoreStatus, log, read_only, schema};
use crate::adapter::{Adapter, Opening, StoreSettings};
use crate::relational::{Writer, misfits};

/// Older versions can damage a database in write-ahead mode that has two connections.
const OLDEST_ENGINE: [u32; 3] = [3, 51, 3];
const OLDEST_ENGINE_TEXT: &str = "3.51.3";

/// How long to wait for another process.
const PATIENCE: Duration = Duration::from_secs(5);

/// How many pages the log may have before they are copied to the main file, twice SQLite's default. A longer log is slower
/// to write, and copying it keeps transactions waiting longer; a shorter one is copied too often under load (`cargo bench
/// -p interrupt-router-store --bench accepting`).
const PAGES_BEFORE_CHECKPOINT: i64 = 2_000;

/// How many statements stay prepared.
const PREPARED: usize = 64;

/// What `PRAGMA synchronous` says when every commit is flushed to the disk.
const SYNCHRONOUS_FULL: i64 = 2;

impl SqliteStore {
    /// Opens a file, and creates it where there is none. One that cannot be written, or lacks rows, is opened to be
    /// read: [`SqliteStore::status`] says so.
    ///
    /// # Errors
    ///
    /// [`StoreError`] where the file is no whole database, was written by a newer version of this program, or would
    /// not be durable.
    ///
    /// # Cancel safety
    ///
    /// Dropped, the file is as it was, or its schema is up to date.
    pub async fn open(path: impl AsRef<Path>, settings: StoreSettings) -> Result<Self, StoreError> {
        let path = path.as_ref().to_owned();
        let opened = spawn_blocking(move || {
            // Before the first lock: from now on no other code in this process opens them.
            let own = Arc::new(own_files(&path));
            make(&path)?;
            log::check(&path)?;
            match connect_as(&path, settings.opening) {
                Ok(connection) => checked(connection, &path, settings, own),
                Err(error) => {
                    let Some(found) = read_only::status_of(&error, &path) else {
                        return Err(error);
                    };
                    let place = read_only::place(&path)?;
                    let misfits = misfits(&mut FileConnection(connect_reader(&place.path)?))?;
                    look(place, status(found, &misfits), settings, own)
                }
            }
        });
        opened.await.map_err(|error| StoreError::Unavailable {
            detail: error.to_string(),
        })?
    }
}

/// A store over a connection to write with, which is used only where nothing is known to be missing.
fn checked(
    connection: Connection,
    path: &Path,
    settings: StoreSettings,
    own: Arc<OwnFiles>,
) -> Result<SqliteStore, StoreError> {
    let mut connection = FileConnection(connection);
    let misfits = match settings.opening {
        Opening::Checked => misfits(&mut connection)?,
        Opening::AtOnce => Vec::new(),
    };
    if misfits.is_empty() {
        return start(connection.0, path, settings, own);
    }
    drop(connection);
    let place = read_only::ReadOnlySource {
        path: path.to_owned(),
        _copy: None,
    };
    look(place, status(StoreStatus::Whole, &misfits), settings, own)
}

fn status(whole: StoreStatus, misfits: &[String]) -> StoreStatus {
    if misfits.is_empty() {
        return whole;
    }
    StoreStatus::Damaged {
        detail: misfits.join("; "),
    }
}

/// A store that is only read.
fn look(
    place: read_only::ReadOnlySource,
    status: StoreStatus,
    settings: StoreSettings,
    own: Arc<OwnFiles>,
) -> Result<SqliteStore, StoreError> {
    let file = Arc::new(OpenedFile::of(&place.path)?);
    Ok(Adapter::over(Sqlite {
        settings,
        writer: None,
        readers: Arc::new(Readers::new(place, file, own, None)),
        status,
        owned: Owned::begin(),
    }))
}

/// The file itself, and what belongs to it: SQLite's own files, and the notifiers.
pub(super) fn own_files(path: &Path) -> OwnFiles {
    // SQLite follows links, and names its files after where they lead.
    let real = std::fs::canonicalize(path).unwrap_or_else(|_not_there| path.to_owned());
    let own = ["", "-wal", "-shm", "-journal", ".bells"];
    OwnFiles::hold(own.map(|end| beside(&real, end)))
}

/// Creates a store where there is no file: under a temporary name, and linked to its path when it is complete, so that
/// a crash leaves no partial store. An empty file is refused, not filled: it may have been a store.
pub(super) fn make(path: &Path) -> Result<(), StoreError> {
    if let Ok(target) = std::fs::read_link(path) {
        let target = path.parent().map_or(target.clone(), |it| it.join(&target));
        return make(&target);
    }
    let unavailable = |error: io::Error| StoreError::Unavailable {
        detail: format!("{}: {error}", path.display()),
    };
    match std::fs::metadata(path) {
        Ok(found) if found.is_file() && found.len() == 0 => {
            return Err(StoreError::Corrupt {
                detail: format!("{} is empty, and an empty file is no store", path.display()),
            });
        }
        Ok(_there) => return Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        // Opening it reports the cause.
        Err(_unreachable) => return Ok(()),
    }
    let log = beside(path, "-wal");
    if log.metadata().is_ok_and(|log| log.len() > 0) {
        let log = log.display();
        return Err(StoreError::Corrupt {
            detail: format!("{} is not there, but its log is: {log}", path.display()),
        });
    }
    let aside = beside(path, &format!(".new-{}", uuid::Uuid::now_v7().simple()));
    let made = fill(&aside).and_then(|()| match std::fs::hard_link(&aside, path) {
        // Another process has created it meanwhile.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        // The file system has no links. A rename could replace what another process has just created.
        Err(_no_links) => fill(path),
        Ok(()) => Ok(()),
    });
    // The new name must survive a power cut, too.
    if let Some(folder) = path.parent().and_then(|it| std::fs::File::open(it).ok()) {
        folder.sync_all().map_err(unavailable)?;
    }
    remove(&aside);
    made
}

/// A new and empty store, closed: the file alone is all of it. Nothing is left where that fails. SQLite gives the files beside it the same permissions.
fn fill(path: &Path) -> Result<(), StoreError> {
    let mut file = std::fs::OpenOptions::new();
    file.write(true).create_new(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        file.mode(0o600);
    }
    file.open(path).map_err(|error| {
        let kind = error.kind();
        if kind == io::ErrorKind::StorageFull {
            StoreError::Full
        } else if kind == io::ErrorKind::ReadOnlyFilesystem {
            StoreError::ReadOnly
        } else {
            let detail = format!("{}: {error}", path.display());
            StoreError::Unavailable { detail }
        }
    })?;
    let filled = connect(path).and_then(|connection| {
        move_log(&connection)?;
        let closed = connection.close();
        closed.map_err(|(_connection, error)| store_error(error))
    });
    filled.inspect_err(|_unfilled| remove(path))
}

/// Moves the whole log into the file, so that the file alone is the store. Closing the last connection does the same, and
/// does not say where there was no room for it.
///
/// # Errors
///
/// [`StoreError::Full`] where there is no room; [`StoreError::Locked`] where another process reads the log.
pub(super) fn move_log(connection: &Connection) -> Result<(), StoreError> {
    let was_busy: bool = connection
        .query_row("PRAGMA wal_checkpoint(TRUNCATE)", (), |row| row.get(0))
        .map_err(store_error)?;
    match was_busy {
        true => Err(StoreError::Locked),
        false => Ok(()),
    }
}

/// Removes a file and what SQLite has beside it.
pub(crate) fn remove(path: &Path) {
    for end in ["", "-wal", "-shm", "-journal"] {
        // Most of them do not exist.
        let _removed = std::fs::remove_file(beside(path, end));
    }
}

/// A file that is named after another one.
pub(super) fn beside(path: &Path, end: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(end);
    PathBuf::from(name)
}

/// A connection to write with, to a file that has been checked and brought up to date.
pub(super) fn connect(path: &Path) -> Result<Connection, StoreError> {
    connect_as(path, Opening::Checked)
}

fn connect_as(path: &Path, opening: Opening) -> Result<Connection, StoreError> {
    let mut connection = connect_with(path)?;
    check_engine()?;
    // Before anything is changed: the file may not be ours.
    schema::version(&connection)?;
    // A file that cannot be written cannot change its mode either, and says so by the mode that it keeps.
    let mode: String = connection
        .pragma_update_and_check(None, "journal_mode", "wal", |row| row.get(0))
        .map_err(store_error)?;
    if mode != "wal" {
        return Err(StoreError::NotDurable {
            setting: "journal_mode",
            found: mode,
        });
    }
    set(&connection, "synchronous", SYNCHRONOUS_FULL)?;
    set(&connection, "wal_autocheckpoint", PAGES_BEFORE_CHECKPOINT)?;
    check_durability(&connection)?;
    if opening == Opening::Checked {
        check_integrity(&connection)?;
    }
    schema::update(&mut connection)?;
    Ok(connection)
}

/// A connection that cannot write.
pub(super) fn connect_reader(path: &Path) -> Result<Connection, StoreError> {
    let connection = connect_with(path)?;
    set(&connection, "query_only", 1)?;
    Ok(connection)
}

/// A store that writes with a connection.
pub(super) fn start(
    connection: Connection,
    path: &Path,
    settings: StoreSettings,
    own: Arc<OwnFiles>,
) -> Result<SqliteStore, StoreError> {
    let file = Arc::new(OpenedFile::of(path)?);
    let (closed, readers) = mpsc::channel();
    let place = WrittenFile {
        file: Arc::clone(&file),
        readers,
        own: Arc::clone(&own),
        open: OpenStore::begin(),
    };
    let database = FileWriter::new(connection, settings.clone(), Some(place));
    let writer = Writer::start(database, settings.clone())?;
    let place = read_only::ReadOnlySource {
        path: path.to_owned(),
        _copy: None,
    };
    Ok(Adapter::over(Sqlite {
        settings,
        readers: Arc::new(Readers::new(place, file, own, Some(closed))),
        writer: Some(writer),
        status: StoreStatus::Whole,
        owned: Owned::begin(),
    }))
}

/// A database that nothing else sees, gone with its connection. The schema is made once in a process, and copied.
pub(super) fn in_memory() -> Result<Connection, StoreError> {
    static EMPTY: OnceLock<Result<Mutex<Connection>, StoreError>> = OnceLock::new();
    let empty = EMPTY.get_or_init(|| {
        let mut empty = Connection::open_in_memory().map_err(store_error)?;
        schema::update(&mut empty)?;
        Ok(Mutex::new(empty))
    });
    let empty = empty.as_ref().map_err(StoreError::clone)?;
    let empty = empty.lock().unwrap_or_else(PoisonError::into_inner);
    let mut connection = Connection::open_in_memory().map_err(store_error)?;
    connection.set_prepared_statement_cache_capacity(PREPARED);
    let copied = Backup::new(&empty, &mut connection).and_then(|copying| copying.step(-1));
    copied.map_err(store_error)?;
    let named = connection.execute("UPDATE store SET name = lower(hex(randomblob(16)))", ());
    named.map_err(store_error)?;
    Ok(connection)
}

fn connect_with(path: &Path) -> Result<Connection, StoreError> {
    // Each connection is used by one thread at a time.
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags).map_err(store_error)?;
    connection.busy_timeout(PATIENCE).map_err(store_error)?;
    connection.set_prepared_statement_cache_capacity(PREPARED);
    // Without this a statement is prepared anew whenever another limit is bound to it.
    connection
        .set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)
        .map_err(store_error)?;
    Ok(connection)
}

fn set(connection: &Connection, pragma: &str, value: i64) -> Result<(), StoreError> {
    connection
        .pragma_update(None, pragma, value)
        .map_err(store_error)
}

fn check_engine() -> Result<(), StoreError> {
    let found = rusqlite::version();
    if is_new_enough(found) {
        Ok(())
    } else {
        Err(StoreError::EngineTooOld {
            found: found.to_owned(),
            needed: OLDEST_ENGINE_TEXT,
        })
    }
}

fn is_new_enough(version: &str) -> bool {
    let numbers: Result<Vec<u32>, _> = version.split('.').map(str::parse).collect();
    numbers.is_ok_and(|numbers| numbers.as_slice() >= OLDEST_ENGINE.as_slice())
}

fn check_durability(connection: &Connection) -> Result<(), StoreError> {
    let synchronous: i64 = connection
        .pragma_query_value(None, "synchronous", |row| row.get(0))
        .map_err(store_error)?;
    if synchronous < SYNCHRONOUS_FULL {
        return Err(StoreError::NotDurable {
            setting: "synchronous",
            found: synchronous.to_string(),
        });
    }
    Ok(())
}

fn check_integrity(connection: &Connection) -> Result<(), StoreError> {
    let found: String = connection
        .query_row("PRAGMA integrity_check(1)", (), |row| row.get(0))
        .map_err(store_error)?;
    if found == "ok" {
        Ok(())
    } else {
        Err(StoreError::Corrupt { detail: found })
    }
}

#[cfg(test)]
mod tests {
    use super::is_new_enough;

    #[test]
    fn versions_are_compared_by_number() {
        for (version, enough) in [
            ("3.51.3", true),
            ("3.51.10", true),
            ("3.52.0", true),
            ("4.0", true),
            ("3.51.2", false),
            ("3.9.99", false),
            ("3.51", false),
            ("new", false),
        ] {
            assert_eq!(is_new_enough(version), enough, "{version}");
        }
    }
}
