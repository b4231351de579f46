//! Bells between the processes of one user that use the same file.
//!
//! Each process binds a datagram socket in a folder beside the file; to ring is to send it an empty datagram.

#[cfg(unix)]
mod local;

use std::sync::Arc;

use interrupts::{Bell, NoBell, OwnerName};

use crate::location::StoreLocation;
#[cfg(feature = "postgres")]
use crate::postgres::PostgresBell;

#[cfg(unix)]
pub use local::{BellError, LocalBell};

/// The bell of a process that uses the store at a location, under the name by which others ring it. If there can be
/// none, it is [`NoBell`], and polling has to do: no other process uses a store in memory, and some file systems have
/// no sockets.
///
/// Must be called within a Tokio runtime.
pub fn bell_at(location: &StoreLocation, owner: &OwnerName) -> Arc<dyn Bell> {
    match location {
        StoreLocation::Memory => Arc::new(NoBell),
        #[cfg(feature = "postgres")]
        StoreLocation::Postgres(location) => Arc::new(PostgresBell::hang(location)),
        #[cfg(unix)]
        StoreLocation::File(path) => match LocalBell::hang(path, owner) {
            Ok(bell) => Arc::new(bell),
            Err(error) => {
                tracing::warn!(%error, "there is no bell; other processes are heard when the next poll is due");
                Arc::new(NoBell)
            }
        },
        #[cfg(not(unix))]
        StoreLocation::File(_path) => Arc::new(NoBell),
    }
}
