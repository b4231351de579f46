//! A store in a place that cannot be written: read in place while another process keeps it open, else from a copy,
//! which takes in what the file beside it has.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use interrupts::store::StoreError;

use super::open::{beside, connect, connect_reader};
use super::schema;
use super::status::StoreStatus;

/// How often a copy is made that another process has changed meanwhile.
const MOST_COPIES: u32 = 3;

/// Where such a store is read.
#[derive(Debug)]
pub(super) struct ReadOnlySource {
    pub(super) path: PathBuf,
    /// The folder of the copy, which is removed with this.
    pub(super) _copy: Option<Copied>,
}

/// A folder with a copy.
#[derive(Debug)]
pub(super) struct Copied(PathBuf);

impl Drop for Copied {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_dir_all(&self.0) {
            tracing::warn!(%error, folder = %self.0.display(), "a copy of the store stays");
        }
    }
}

/// The status of a file that was not opened to be written, where the error means that it or its folder cannot be written.
pub(super) fn status_of(error: &StoreError, path: &Path) -> Option<StoreStatus> {
    let may_be = matches!(
        error,
        StoreError::NotDurable { .. } | StoreError::Unavailable { .. }
    );
    let folder = path.parent().unwrap_or(Path::new("."));
    if !path.is_file() {
        None
    } else if *error == StoreError::Full {
        Some(StoreStatus::Full)
    } else if *error == StoreError::ReadOnly || may_be && !takes_files(folder) {
        Some(StoreStatus::ReadOnly)
    } else {
        None
    }
}

/// Whether a file can be made in a folder: permissions alone do not say.
fn takes_files(folder: &Path) -> bool {
    let folder = if folder.as_os_str().is_empty() {
        Path::new(".")
    } else {
        folder
    };
    let probe = folder.join(format!(".irq-{}", uuid::Uuid::now_v7().simple()));
    let made = fs::OpenOptions::new()
        .write(true)
        .create_new(true)
        .open(&probe);
    let _removed = fs::remove_file(&probe);
    made.is_ok()
}

/// Finds out where a store can be read.
///
/// # Errors
///
/// [`StoreError`] where it cannot be copied, or is damaged.
pub(super) fn place(path: &Path) -> Result<ReadOnlySource, StoreError> {
    let is_readable = connect_reader(path).and_then(|connection| schema::version(&connection));
    if is_readable == Ok(schema::NEWEST) {
        return Ok(ReadOnlySource {
            path: path.to_owned(),
            _copy: None,
        });
    }
    for _try in 0..MOST_COPIES {
        let before = state(path);
        let (copied, folder) = copy(path).map_err(|error| uncopied(path, &error))?;
        if state(path) == before {
            // It is brought up to date, as every store is.
            drop(connect(&copied)?);
            return Ok(ReadOnlySource {
                path: copied,
                _copy: Some(folder),
            });
        }
    }
    Err(StoreError::Locked)
}

/// What changes with a file and its log.
fn state(path: &Path) -> [Option<(u64, Option<SystemTime>)>; 2] {
    ["", "-wal"].map(|end| {
        let found = fs::metadata(beside(path, end)).ok()?;
        Some((found.len(), found.modified().ok()))
    })
}

fn copy(path: &Path) -> io::Result<(PathBuf, Copied)> {
    let folder = std::env::temp_dir().join(format!("irq-{}", uuid::Uuid::now_v7().simple()));
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    {
        use std::os::unix::fs::DirBuilderExt as _;
        builder.mode(0o700);
    }
    builder.create(&folder)?;
    let copied = folder.join("store.sqlite");
    let folder = Copied(folder);
    for end in ["", "-wal"] {
        let to = beside(&copied, end);
        match fs::copy(beside(path, end), &to) {
            Ok(_bytes) => make_writable(&to)?,
            Err(error) if error.kind() == io::ErrorKind::NotFound && end == "-wal" => {}
            Err(error) => return Err(error),
        }
    }
    Ok((copied, folder))
}

/// A copy has the permissions of the file.
fn make_writable(path: &Path) -> io::Result<()> {
    #[cfg(unix)]
    let permissions = {
        use std::os::unix::fs::PermissionsExt as _;
        fs::Permissions::from_mode(0o600)
    };
    #[cfg(not(unix))]
    let permissions = {
        let mut permissions = fs::metadata(path)?.permissions();
        permissions.set_readonly(false);
        permissions
    };
    fs::set_permissions(path, permissions)
}

fn uncopied(path: &Path, error: &io::Error) -> StoreError {
    StoreError::Unavailable {
        detail: format!(
            "{} lies where nothing can be written, and cannot be copied to {}: {error}; \
             set TMPDIR to a folder with room for it",
            path.display(),
            std::env::temp_dir().display()
        ),
    }
}
