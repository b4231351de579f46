//! Copying a store to another place, as when one machine is not enough any more.

use std::path::Path;
use std::sync::Arc;

use interrupts::store::{AuditHead, Store, StoreError, VerifyError};
use tokio::task::spawn_blocking;

use crate::adapter::StoreSettings;
use crate::location::StoreLocation;
use crate::postgres::writer_at;
use crate::relational::Found;
use crate::relational::copy_rows;
use crate::sqlite::{file_writer, remove, settle};

/// A store that was copied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct StoreCopy {
    /// How many rows it has.
    pub rows: u64,
    /// Where its audit ends: as that of the other one.
    pub head: AuditHead,
}

/// Why a store was not copied. The place that it was to be copied to is as it was, but for an empty schema.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CopyError {
    /// There is none.
    #[error("there is no store {location}")]
    NoStore {
        /// Where.
        location: String,
    },
    /// A store in memory is of one process alone.
    #[error("a store in memory cannot be copied")]
    InMemory,
    /// Something is kept there already.
    #[error("{location} is not empty")]
    NotEmpty {
        /// Where.
        location: String,
    },
    /// What was copied is not what was there.
    #[error("the copy differs: its audit ends at row {found}, that of the store at row {expected}")]
    Differs {
        /// Where the copy ends.
        found: u64,
        /// Where it should.
        expected: u64,
    },
    /// What is to be copied cannot be trusted, or what was copied.
    #[error(transparent)]
    Verify(#[from] VerifyError),
    /// A store cannot be read or written.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Copies all that is in a store into an empty one: a file into PostgreSQL, or the other way. Nothing else writes to either
/// meanwhile. Both are verified, and the audit of the copy continues where that of the store ends.
///
/// # Errors
///
/// [`CopyError`]; nothing was copied then.
///
/// # Cancel safety
///
/// Dropped, it was copied wholly or not at all.
pub async fn copy_store(from: &StoreLocation, to: &StoreLocation) -> Result<StoreCopy, CopyError> {
    if !from.exists().await? {
        let location = from.to_string();
        return Err(CopyError::NoStore { location });
    }
    let is_new = !to.exists().await?;
    let copied = copied_and_verified(from, to).await;
    if copied.is_err()
        && is_new
        && let StoreLocation::File(path) = to
    {
        remove(path);
    }
    copied
}

async fn copied_and_verified(
    from: &StoreLocation,
    to: &StoreLocation,
) -> Result<StoreCopy, CopyError> {
    let expected = head_of(from).await?;
    // Its schema is there from now on.
    drop(opened(to).await?);
    let (source, target) = (from.clone(), to.clone());
    let copied = spawn_blocking(move || copy_at(&source, &target)).await;
    let copied = copied.map_err(|error| StoreError::Unavailable {
        detail: error.to_string(),
    })?;
    let rows = match copied {
        Err(StoreError::Foreign) => {
            let location = to.to_string();
            return Err(CopyError::NotEmpty { location });
        }
        copied => copied?,
    };
    let head = head_of(to).await?;
    match head == expected {
        true => Ok(StoreCopy { rows, head }),
        false => Err(CopyError::Differs {
            found: head.position,
            expected: expected.position,
        }),
    }
}

async fn opened(location: &StoreLocation) -> Result<Arc<dyn Store>, CopyError> {
    match location {
        StoreLocation::Memory => Err(CopyError::InMemory),
        StoreLocation::File(_) | StoreLocation::Postgres(_) => {
            let opened = location.look(StoreSettings::default()).await?;
            match opened.status.refusal() {
                Some(refusal) => Err(refusal.into()),
                None => Ok(opened.store),
            }
        }
    }
}

async fn head_of(location: &StoreLocation) -> Result<AuditHead, CopyError> {
    Ok(opened(location).await?.verify_audit().await?.head)
}

fn copy_at(from: &StoreLocation, to: &StoreLocation) -> Found<u64> {
    let rows = rows_copied(from, to)?;
    if let StoreLocation::File(path) = to {
        // The file alone is the copy: it may be moved without its log.
        settle(path)?;
    }
    Ok(rows)
}

fn rows_copied(from: &StoreLocation, to: &StoreLocation) -> Found<u64> {
    let file = |path: &Path| file_writer(path, StoreSettings::default());
    match (from, to) {
        (StoreLocation::File(from), StoreLocation::File(to)) => {
            copy_rows(&mut file(from)?, &mut file(to)?)
        }
        (StoreLocation::File(from), StoreLocation::Postgres(to)) => {
            copy_rows(&mut file(from)?, &mut writer_at(to)?)
        }
        (StoreLocation::Postgres(from), StoreLocation::File(to)) => {
            copy_rows(&mut writer_at(from)?, &mut file(to)?)
        }
        (StoreLocation::Postgres(from), StoreLocation::Postgres(to)) => {
            copy_rows(&mut writer_at(from)?, &mut writer_at(to)?)
        }
        (StoreLocation::Memory, _) | (_, StoreLocation::Memory) => Err(StoreError::Closed),
    }
}
