//! Askers whose process has gone, found by any command that looks at what waits.

use std::sync::Arc;

use jiff::Timestamp;
use workers::GoneAskers;

use crate::exit::{Exit, Failure};
use crate::policy;
use crate::run_owner::{is_gone, own_name};
use crate::storage::Storage;
use crate::workflows;

/// Withdraws the questions of askers that have gone, and ends their runs. A store that cannot be written keeps them, and
/// so does one that is damaged: the command that looks says so of what it shows.
///
/// # Errors
///
/// If this process has no name, or its policy cannot be read.
///
/// # Cancel safety
///
/// Dropped, some are ended; the next look ends the others.
pub(crate) async fn end_of_gone(storage: &Storage) -> Result<(), Failure> {
    if !storage.is_whole() {
        return Ok(());
    }
    let owner = own_name().map_err(|error| Failure::new(Exit::Failure, error.to_string()))?;
    let gone = GoneAskers {
        store: &*storage.store,
        catalogues: workflows::book(),
        policy: &Arc::new(policy::of_environment()?),
        owner: &owner,
        is_gone: &is_gone,
    };
    if let Err(error) = gone.end(Timestamp::now()).await {
        tracing::debug!(%error, "programs that have gone could not be looked for");
    }
    Ok(())
}
