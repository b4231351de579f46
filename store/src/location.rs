//! Where a store is, as a person writes it.

use std::ffi::OsString;
use std::fmt::{self, Display};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;

use interrupts::store::{Store, StoreError};

use crate::adapter::StoreSettings;
use crate::memory::MemoryStore;
#[cfg(feature = "postgres")]
use crate::postgres::{PostgresLocation, PostgresStore};
use crate::sqlite::{SqliteStore, StoreStatus};
#[cfg(not(feature = "postgres"))]
use crate::without_postgres::PostgresLocation;

/// The file below the folder where programs keep their state.
const USUAL_FILE: &str = "irq/irq.db";

/// Where a store is: `memory:`, `sqlite:PATH`, a plain path of a SQLite file, or `postgres://USER@HOST/DATABASE`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum StoreLocation {
    /// In the memory of this process, until it ends.
    Memory,
    /// In a SQLite file.
    File(PathBuf),
    /// In a PostgreSQL database.
    Postgres(PostgresLocation),
}

/// Why a text says no location of a store.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LocationError {
    /// It is empty, or names no file.
    #[error(
        "`{given}` names no store; write a path, `sqlite:PATH`, `memory:` or `postgres://USER@HOST/DATABASE`"
    )]
    NoPath {
        /// What was given.
        given: String,
    },
    /// It begins as a URL of something that this program cannot use.
    #[error(
        "there is no store of kind `{scheme}`; write a path, `sqlite:PATH`, `memory:` or \
         `postgres://USER@HOST/DATABASE` (a file whose name has a colon as `./NAME`)"
    )]
    UnknownKind {
        /// What comes before the colon.
        scheme: String,
    },
    /// It gives the memory a name.
    #[error("`memory:` takes no name: it lasts as long as the process")]
    NamedMemory,
    /// It begins as one of PostgreSQL, and cannot be read.
    #[error("{reason}; write `postgres://USER@HOST/DATABASE`")]
    Postgres {
        /// Why.
        reason: String,
    },
    /// It is in PostgreSQL, which this program was built without.
    #[error("this program was built without PostgreSQL")]
    WithoutPostgres,
    /// Nothing says where this user keeps the state of programs.
    #[error("neither XDG_STATE_HOME nor HOME is set; say where the store is")]
    NoHome,
}

impl StoreLocation {
    /// Where the store of this user is when nothing else is said: `irq/irq.db` in `$XDG_STATE_HOME`, else in
    /// `~/.local/state`. A relative `$XDG_STATE_HOME` does not count, for it would mean another place in each
    /// folder.
    ///
    /// # Errors
    ///
    /// [`LocationError::NoHome`] where neither is set.
    pub fn usual() -> Result<Self, LocationError> {
        usual_in(|name| std::env::var_os(name))
    }

    /// The file, where it is one.
    pub fn path(&self) -> Option<&Path> {
        match self {
            Self::File(path) => Some(path),
            Self::Memory | Self::Postgres(_) => None,
        }
    }

    /// Whether there is a store. Nothing is made.
    ///
    /// # Errors
    ///
    /// [`StoreError`] where the server of a database cannot be asked.
    ///
    /// # Cancel safety
    ///
    /// Safe: it only looks.
    pub async fn exists(&self) -> Result<bool, StoreError> {
        match self {
            Self::Memory => Ok(false),
            Self::File(path) => Ok(path.exists()),
            #[cfg(feature = "postgres")]
            Self::Postgres(location) => PostgresStore::exists(location).await,
            #[cfg(not(feature = "postgres"))]
            Self::Postgres(location) => match *location {},
        }
    }

    /// Opens the store; a file and the folders above it are created where they are missing, for this user's
    /// eyes only.
    ///
    /// # Errors
    ///
    /// [`StoreError`], as of [`SqliteStore::open`].
    ///
    /// # Cancel safety
    ///
    /// Dropped, the file is as it was, or its schema is up to date.
    pub async fn open(&self, settings: StoreSettings) -> Result<Arc<dyn Store>, StoreError> {
        self.look(settings).await.map(|opened| opened.store)
    }

    /// As [`StoreLocation::open`], and says whether the store can be written.
    ///
    /// # Errors
    ///
    /// [`StoreError`], as of [`SqliteStore::open`].
    ///
    /// # Cancel safety
    ///
    /// As [`StoreLocation::open`].
    pub async fn look(&self, settings: StoreSettings) -> Result<Opened, StoreError> {
        match self {
            Self::Memory => Ok(Opened {
                store: Arc::new(MemoryStore::new(settings)),
                status: StoreStatus::Whole,
                notice: None,
            }),
            Self::File(path) => {
                make_folders(path).map_err(|error| StoreError::Unavailable {
                    detail: format!("{}: {error}", path.display()),
                })?;
                let store = SqliteStore::open(path, settings).await?;
                Ok(Opened {
                    status: store.status().clone(),
                    store: Arc::new(store),
                    notice: None,
                })
            }
            #[cfg(feature = "postgres")]
            Self::Postgres(location) => {
                let store = PostgresStore::open(location, settings).await?;
                Ok(Opened {
                    notice: store.notice(),
                    store: Arc::new(store),
                    status: StoreStatus::Whole,
                })
            }
            #[cfg(not(feature = "postgres"))]
            Self::Postgres(location) => match *location {},
        }
    }
}

/// An open store, and whether it can be written.
#[derive(Clone)]
#[non_exhaustive]
pub struct Opened {
    /// The store.
    pub store: Arc<dyn Store>,
    /// Its status.
    pub status: StoreStatus,
    /// What an operator should know of it, in words.
    pub notice: Option<&'static str>,
}

/// Opens the store of a location that is written as a text.
///
/// # Errors
///
/// [`OpenError`] where the text is no location, or the store cannot be opened.
///
/// # Cancel safety
///
/// As [`StoreLocation::open`].
pub async fn open_any(text: &str, settings: StoreSettings) -> Result<Arc<dyn Store>, OpenError> {
    let location: StoreLocation = text.parse()?;
    Ok(location.open(settings).await?)
}

/// Why a store was not opened.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// The text says no location.
    #[error(transparent)]
    Location(#[from] LocationError),
    /// The store cannot be opened.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl FromStr for StoreLocation {
    type Err = LocationError;

    fn from_str(text: &str) -> Result<Self, LocationError> {
        let no_path = || LocationError::NoPath {
            given: text.to_owned(),
        };
        let Some((scheme, rest)) = scheme_of(text) else {
            return if text.is_empty() {
                Err(no_path())
            } else {
                Ok(Self::File(text.into()))
            };
        };
        match scheme {
            "memory" if rest.is_empty() => Ok(Self::Memory),
            "memory" => Err(LocationError::NamedMemory),
            "sqlite" => {
                let path = rest.strip_prefix("//").unwrap_or(rest);
                // These name SQLite's own memory, which no other connection sees.
                if path.is_empty() || path == ":memory:" {
                    return Err(no_path());
                }
                Ok(Self::File(path.into()))
            }
            "postgres" | "postgresql" => text.parse().map(Self::Postgres),
            other => Err(LocationError::UnknownKind {
                scheme: other.to_owned(),
            }),
        }
    }
}

impl Display for StoreLocation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Memory => formatter.write_str("memory:"),
            Self::File(path) => write!(formatter, "sqlite:{}", path.display()),
            Self::Postgres(location) => Display::fmt(location, formatter),
        }
    }
}

/// What comes before the first colon, if it looks like the beginning of a URL. One letter is a drive.
fn scheme_of(text: &str) -> Option<(&str, &str)> {
    let (scheme, rest) = text.split_once(':')?;
    let is_scheme = scheme.len() > 1
        && scheme.starts_with(|first: char| first.is_ascii_alphabetic())
        && scheme
            .chars()
            .all(|each| each.is_ascii_alphanumeric() || "+-.".contains(each));
    is_scheme.then_some((scheme, rest))
}

fn usual_in(variable: impl Fn(&str) -> Option<OsString>) -> Result<StoreLocation, LocationError> {
    let absolute = |name| {
        variable(name)
            .map(PathBuf::from)
            .filter(|path| path.is_absolute())
    };
    let state = absolute("XDG_STATE_HOME")
        .or_else(|| absolute("HOME").map(|home| home.join(".local/state")))
        .ok_or(LocationError::NoHome)?;
    Ok(StoreLocation::File(state.join(USUAL_FILE)))
}

/// Makes the folders above a file, for this user's eyes alone.
fn make_folders(path: &Path) -> std::io::Result<()> {
    let mut folder = std::fs::DirBuilder::new();
    folder.recursive(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::DirBuilderExt as _;
        folder.mode(0o700);
    }
    match path.parent() {
        Some(above) if !above.as_os_str().is_empty() => folder.create(above),
        Some(_) | None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use super::{LocationError, StoreLocation, usual_in};

    #[test]
    fn a_location_is_memory_a_sqlite_url_or_a_path() {
        let file = |path: &str| StoreLocation::File(path.into());
        for (text, location) in [
            ("memory:", StoreLocation::Memory),
            ("sqlite:runs.db", file("runs.db")),
            ("sqlite:/var/irq.db", file("/var/irq.db")),
            ("sqlite:///var/irq.db", file("/var/irq.db")),
            ("runs.db", file("runs.db")),
            ("/var/a:b.db", file("/var/a:b.db")),
            ("./a:b.db", file("./a:b.db")),
            (r"C:\irq.db", file(r"C:\irq.db")),
        ] {
            assert_eq!(text.parse(), Ok(location.clone()), "{text}");
            assert_eq!(location.to_string().parse(), Ok(location), "{text}");
        }
    }

    #[test]
    fn what_is_no_location_is_refused_with_what_to_write_instead() {
        for text in ["", "sqlite:", "sqlite://", "sqlite::memory:"] {
            let refused = text.parse::<StoreLocation>().unwrap_err();
            assert!(matches!(refused, LocationError::NoPath { .. }), "{text}");
            assert!(refused.to_string().contains("sqlite:PATH"));
        }
        for (text, kind) in [("redis://host/db", "redis"), ("file:x.db", "file")] {
            let refused = text.parse::<StoreLocation>().unwrap_err();
            let scheme = kind.to_owned();
            assert_eq!(refused, LocationError::UnknownKind { scheme });
        }
        let named = "memory:runs".parse::<StoreLocation>();
        assert_eq!(named, Err(LocationError::NamedMemory));
    }

    #[test]
    fn the_usual_place_is_the_state_folder_of_the_user() {
        let place = |state: Option<&str>, home: Option<&str>| {
            usual_in(|name| match name {
                "XDG_STATE_HOME" => state.map(OsString::from),
                _ => home.map(OsString::from),
            })
        };
        let file = |path: &str| Ok(StoreLocation::File(path.into()));
        assert_eq!(
            place(Some("/state"), Some("/home/ada")),
            file("/state/irq/irq.db")
        );
        let in_home = file("/home/ada/.local/state/irq/irq.db");
        assert_eq!(place(None, Some("/home/ada")), in_home);
        assert_eq!(place(Some("relative"), Some("/home/ada")), in_home);
        assert_eq!(place(None, None), Err(LocationError::NoHome));
    }
}
