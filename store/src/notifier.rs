//! Bells between the processes of one user that use the same file.
//!
//! Each process binds a datagram socket in a folder beside the file; to notify it is to send it an empty datagram.

#[cfg(unix)]
mod local;

use std::sync::Arc;

use interrupts::{NoNotifier, Notifier, OwnerName};

use crate::location::StoreLocation;
#[cfg(feature = "postgres")]
use crate::postgres::PostgresNotifier;

#[cfg(unix)]
pub use local::{LocalNotifier, NotifierError};

/// The notifier of a process that uses the store at a location, under the name by which others notify it. If there can be
/// none, it is [`NoNotifier`], and polling has to do: no other process uses a store in memory, and some file systems have
/// no sockets.
///
/// Must be called within a Tokio runtime.
pub fn notifier_at(location: &StoreLocation, owner: &OwnerName) -> Arc<dyn Notifier> {
    match location {
        StoreLocation::Memory => Arc::new(NoNotifier),
        #[cfg(feature = "postgres")]
        StoreLocation::Postgres(location) => Arc::new(PostgresNotifier::open(location)),
        #[cfg(not(feature = "postgres"))]
        StoreLocation::Postgres(location) => match *location {},
        #[cfg(unix)]
        StoreLocation::File(path) => match LocalNotifier::open(path, owner) {
            Ok(notifier) => Arc::new(notifier),
            Err(error) => {
                tracing::warn!(%error, "there is no bell; other processes are heard when the next poll is due");
                Arc::new(NoNotifier)
            }
        },
        #[cfg(not(unix))]
        StoreLocation::File(_path) => Arc::new(NoNotifier),
    }
}
