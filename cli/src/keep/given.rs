//! What is said to a run that this process goes on with, or forks off.

use agents::run::{ResumeRequest, Workflow, keep_input, said_to_fork};
use interrupts::store::KnownEffect;
use routing_core::RunId;

use super::{Keeping, Kept, first_node};
use crate::exit::{Exit, Failure, causes};

impl Keeping {
    /// Keeps new input for the agent that has the turn, so that it outlives this process until it is read.
    ///
    /// # Errors
    ///
    /// Where the store cannot be written.
    ///
    /// # Cancel safety
    ///
    /// Safe to repeat.
    pub(crate) async fn keep_input(
        &self,
        kept: &Kept,
        workflow: Workflow,
        input: &str,
    ) -> Result<(), Failure> {
        let node = first_node(workflow)?;
        let run = kept.run.run();
        let given = keep_input(self.store(), run, kept.run.epoch(), &node, input).await;
        given.map_err(|error| Failure::new(Exit::Failure, causes(&error)))
    }

    /// Keeps a request that a run goes on, with what it says, so that both outlive this process.
    ///
    /// # Errors
    ///
    /// Where the store cannot be written.
    ///
    /// # Cancel safety
    ///
    /// Safe to repeat.
    pub(crate) async fn keep_request(
        &self,
        kept: &Kept,
        workflow: Workflow,
        request: &ResumeRequest,
    ) -> Result<(), Failure> {
        let node = first_node(workflow)?;
        let (run, epoch) = (kept.run.run(), kept.run.epoch());
        let asked = request.keep(self.store(), run, epoch, &node).await;
        asked.map_err(|error| Failure::new(Exit::Failure, causes(&error)))
    }
}

/// What a fork has in its journal from its beginning: what is said to it, where something is.
///
/// # Errors
///
/// Where it cannot be put into words.
pub(crate) fn known_to_fork(
    fork: RunId,
    workflow: Workflow,
    input: Option<&str>,
) -> Result<Vec<KnownEffect>, Failure> {
    let Some(input) = input else {
        return Ok(Vec::new());
    };
    let said = said_to_fork(fork, &first_node(workflow)?, input);
    let said = said.map_err(|error| Failure::new(Exit::Failure, causes(&error)))?;
    Ok(vec![said])
}
