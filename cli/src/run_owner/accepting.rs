//! `--accept-catalogue`: continuing a run with an incompatible version of its workflow.

use std::sync::Arc;

use engine::durable::kinds::Kinds;
use engine::durable::record::RunRecord;
use engine::run::RunStore;
use interrupts::life::Actor;
use interrupts::store::{Run, Store};
use journal::error::KeepError;
use journal::executed_by_worker;

use super::{gone_owner, own_name, workflow_of};
use crate::exit::{Exit, Failure, causes};
use crate::refused::{by_run, by_store};
use crate::workflows;

/// Switches a run without an owner to the catalogue of its workflow in this program. A compatible one changes nothing else.
///
/// # Errors
///
/// [`Exit::Conflict`] if an open question cannot be answered with it, or a process owns the run; [`Exit::Usage`] if an
/// external worker executes the run; [`Exit::NotFound`] if this program does not have the workflow.
///
/// # Cancel safety
///
/// Dropped, it was accepted or not; the run may be owned for some seconds.
pub(crate) async fn accept_catalogue(
    store: &Arc<dyn Store>,
    run: &Run,
    by: Actor,
) -> Result<(), Failure> {
    if executed_by_worker(&run.content) {
        let text = format!(
            "{} is executed by a worker, which ends it as it was begun",
            run.id
        );
        return Err(Failure::new(Exit::Usage, text).hint("leave --accept-catalogue out"));
    }
    let workflow = workflow_of(run);
    let mut own = workflows::built_in().iter();
    let catalogue = own.find(|it| it.name().as_str() == workflow.name());
    let catalogue = catalogue
        .cloned()
        .ok_or_else(|| workflows::missing(workflow.name()))?;
    let owner = own_name().map_err(|error| Failure::new(Exit::Failure, error.to_string()))?;
    let kept = RunStore::new(Arc::clone(store), owner, "");
    let record = RunRecord::new(run.id, Kinds::default(), kept);
    let accepted = record.accept_catalogue(gone_owner(run), catalogue, by);
    accepted.await.map_err(|error| not_accepted(&error))
}

fn not_accepted(error: &KeepError) -> Failure {
    if let KeepError::OtherCatalogue(change) = error {
        return Failure::new(Exit::Conflict, change.to_string());
    }
    if let KeepError::Run(error) = error {
        return by_run(error);
    }
    if let KeepError::Store(error) = error {
        return by_store(error);
    }
    Failure::new(Exit::Failure, causes(error))
}
