//! `irq store`: the store as a whole.

#[cfg(feature = "postgres")]
mod copying;

use crate::arguments::{StoreCommand, WholeStoreArguments};
use crate::exit::Exit;

/// Executes the subcommand.
///
/// # Errors
///
/// If a store cannot be used, or is in use.
pub(crate) fn store(arguments: &WholeStoreArguments) -> anyhow::Result<Exit> {
    match &arguments.command {
        #[cfg(feature = "postgres")]
        StoreCommand::Copy(places) => super::run::complete(copying::copied(places)),
        #[cfg(not(feature = "postgres"))]
        StoreCommand::Copy(_) => {
            Err(crate::exit::Failure::built_without("copies of stores").into())
        }
    }
}
