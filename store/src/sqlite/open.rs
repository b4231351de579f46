//! Opening a file: what must hold before anything is accepted.

use std::path::Path;
use std::time::Duration;

use interrupts::store::StoreError;
use sqlx::migrate::{Migration, MigrationType, Migrator};
use sqlx::sqlite::{
    SqliteConnectOptions, SqliteConnection, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous,
};
use sqlx::{ConnectOptions as _, Row as _, SqlSafeStr as _};
use tokio::sync::mpsc;

use super::error::store_error;
use super::writer::Writer;
use super::{Sqlite, SqliteStore};
use crate::adapter::{Adapter, StoreSettings};

/// Older versions can damage a database in write-ahead mode that has two connections.
const OLDEST_ENGINE: [u32; 3] = [3, 51, 3];
const OLDEST_ENGINE_TEXT: &str = "3.51.3";

/// How long to wait for another process.
const PATIENCE: Duration = Duration::from_secs(5);

/// How many operations may wait to be written.
const QUEUE: usize = 4_096;

/// How many pages may be written before they move to the main file, which takes flushes of its own. Larger than
/// SQLite's own choice: under load it is done less often, and the file that waits stays below 20 MB.
const PAGES_BEFORE_CHECKPOINT: &str = "4000";

/// How many statements stay prepared.
const PREPARED: usize = 256;

/// How many may read at the same time.
const READERS: u32 = 4;

/// What `PRAGMA synchronous` says when every commit is flushed to the disk.
const SYNCHRONOUS_FULL: i64 = 2;

/// How often a migration is tried that another process may be doing at the same time.
const MIGRATION_ATTEMPTS: u32 = 5;

/// The migrations, oldest first. One that was released is never changed.
const MIGRATIONS: [(i64, &str, &str); 2] = [
    (1, "life", include_str!("../../migrations/0001_life.sql")),
    (2, "nodes", include_str!("../../migrations/0002_nodes.sql")),
];

impl SqliteStore {
    /// Opens a file, and creates it where there is none.
    ///
    /// # Errors
    ///
    /// [`StoreError`] where the file is damaged, was written by a newer version of this program, cannot be
    /// written, or would not be durable.
    ///
    /// # Cancel safety
    ///
    /// Dropped, the file is as it was, or its schema is up to date.
    pub async fn open(path: impl AsRef<Path>, settings: StoreSettings) -> Result<Self, StoreError> {
        let (connection, options) = connect(path.as_ref()).await?;
        start(connection, options, settings).await
    }
}

/// A connection to write with, to a file that has been checked and brought up to date.
pub(super) async fn connect(
    path: &Path,
) -> Result<(SqliteConnection, SqliteConnectOptions), StoreError> {
    let options = SqliteConnectOptions::new()
        .filename(path)
        .create_if_missing(true)
        .journal_mode(SqliteJournalMode::Wal)
        .synchronous(SqliteSynchronous::Full)
        .busy_timeout(PATIENCE)
        .pragma("wal_autocheckpoint", PAGES_BEFORE_CHECKPOINT)
        .statement_cache_capacity(PREPARED);
    let mut connection = options
        .connect()
        .await
        .map_err(|error| store_error(&error))?;
    check_engine(&mut connection).await?;
    check_durability(&mut connection).await?;
    check_integrity(&mut connection).await?;
    migrate(&mut connection).await?;
    Ok((connection, options))
}

/// A store that writes with a connection.
pub(super) async fn start(
    connection: SqliteConnection,
    options: SqliteConnectOptions,
    settings: StoreSettings,
) -> Result<SqliteStore, StoreError> {
    let readers = SqlitePoolOptions::new()
        .max_connections(READERS)
        .connect_with(options.pragma("query_only", "ON"))
        .await
        .map_err(|error| store_error(&error))?;
    let (jobs, queue) = mpsc::channel(QUEUE);
    let writer = Writer::new(connection, queue, settings.clone());
    Ok(Adapter {
        backend: Sqlite {
            settings,
            jobs,
            readers,
            writer: tokio::spawn(writer.run()),
        },
    })
}

async fn check_engine(connection: &mut SqliteConnection) -> Result<(), StoreError> {
    let found: String = one(connection, "SELECT sqlite_version()").await?;
    if is_new_enough(&found) {
        Ok(())
    } else {
        Err(StoreError::EngineTooOld {
            found,
            needed: OLDEST_ENGINE_TEXT,
        })
    }
}

fn is_new_enough(version: &str) -> bool {
    let numbers: Result<Vec<u32>, _> = version.split('.').map(str::parse).collect();
    numbers.is_ok_and(|numbers| numbers.as_slice() >= OLDEST_ENGINE.as_slice())
}

async fn check_durability(connection: &mut SqliteConnection) -> Result<(), StoreError> {
    let mode: String = one(connection, "PRAGMA journal_mode").await?;
    if mode != "wal" {
        return Err(StoreError::NotDurable {
            setting: "journal_mode",
            found: mode,
        });
    }
    let synchronous: i64 = one(connection, "PRAGMA synchronous").await?;
    if synchronous < SYNCHRONOUS_FULL {
        return Err(StoreError::NotDurable {
            setting: "synchronous",
            found: synchronous.to_string(),
        });
    }
    Ok(())
}

async fn check_integrity(connection: &mut SqliteConnection) -> Result<(), StoreError> {
    let found: String = one(connection, "PRAGMA quick_check(1)").await?;
    if found == "ok" {
        Ok(())
    } else {
        Err(StoreError::Corrupt { detail: found })
    }
}

/// The one value that a statement gives.
async fn one<T>(connection: &mut SqliteConnection, sql: &'static str) -> Result<T, StoreError>
where
    T: for<'row> sqlx::Decode<'row, sqlx::Sqlite> + sqlx::Type<sqlx::Sqlite>,
{
    let row = sqlx::query(sql)
        .fetch_one(connection)
        .await
        .map_err(|error| store_error(&error))?;
    row.try_get(0).map_err(|error| store_error(&error))
}

async fn migrate(connection: &mut SqliteConnection) -> Result<(), StoreError> {
    let known = MIGRATIONS.iter().map(|(version, ..)| *version).max();
    let known = known.unwrap_or(0);
    let migrated: i64 = one(
        connection,
        "SELECT COUNT(*) FROM sqlite_master WHERE name = '_sqlx_migrations'",
    )
    .await?;
    if migrated > 0 {
        let found: Option<i64> =
            one(connection, "SELECT MAX(version) FROM _sqlx_migrations").await?;
        let found = found.unwrap_or(0);
        if found > known {
            return Err(StoreError::Newer { found, known });
        }
    }
    let migrations = MIGRATIONS.map(|(version, name, sql)| {
        Migration::new(
            version,
            name.into(),
            MigrationType::Simple,
            sql.into_sql_str(),
            false,
        )
    });
    let migrator = Migrator::with_migrations(migrations.to_vec());
    let mut attempts = 0;
    loop {
        attempts += 1;
        match migrator.run(&mut *connection).await {
            Ok(()) => return Ok(()),
            Err(_raced) if attempts < MIGRATION_ATTEMPTS => {}
            Err(sqlx::migrate::MigrateError::Execute(error)) => return Err(store_error(&error)),
            Err(error) => {
                return Err(StoreError::Unavailable {
                    detail: error.to_string(),
                });
            }
        }
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
