//! Messages to a run that this process continues or forks off.

use agents::run::inherited;
use async_trait::async_trait;
use control::InvalidRequest;
use engine::run::keep_input;
use interrupts::manager::Heritage;
use interrupts::store::{CheckpointId, KnownEffect, Run, Store, StoreError};
use journal::{ResumeRequest, Workflow, said_to_fork};
use routing_core::RunId;

use super::{LocalRun, RunOwner, first_node};
use crate::exit::{Exit, Failure, causes};
use crate::refused::by_asking;

impl RunOwner {
    /// Keeps new input for the agent that has the turn, so that it outlives this process until it is read.
    ///
    /// # Errors
    ///
    /// If the store cannot be written.
    ///
    /// # Cancel safety
    ///
    /// Safe to repeat.
    pub(crate) async fn keep_input(
        &self,
        kept: &LocalRun,
        workflow: &Workflow,
        input: &str,
    ) -> Result<(), Failure> {
        let node = first_node(workflow)?;
        let run = kept.run.run();
        let given = keep_input(self.store(), run, kept.run.epoch(), &node, input).await;
        given.map_err(|error| Failure::new(Exit::Failure, causes(&error)))
    }

    /// Keeps a request to continue a run, with its message, so that both outlive this process.
    ///
    /// # Errors
    ///
    /// If the store cannot be written.
    ///
    /// # Cancel safety
    ///
    /// Safe to repeat.
    pub(crate) async fn keep_request(
        &self,
        kept: &LocalRun,
        workflow: &Workflow,
        request: &ResumeRequest,
    ) -> Result<(), Failure> {
        let node = first_node(workflow)?;
        let (run, epoch) = (kept.run.run(), kept.run.epoch());
        let asked = request.keep(self.store(), run, epoch, &node).await;
        asked.map_err(|error| Failure::new(Exit::Failure, causes(&error)))
    }
}

/// Refuses a message on resume to an embedded workflow: its code reads only messages that are sent to its agents.
///
/// # Errors
///
/// [`Exit::Usage`] with the way to send one.
pub(crate) fn refuse_said(workflow: &Workflow, words: Option<&str>) -> Result<(), Failure> {
    match (workflow, words) {
        (Workflow::Embedded(name), Some(_)) => {
            let text = format!("`{name}` is code, which takes no message as it goes on");
            Err(Failure::new(Exit::Usage, text)
                .hint("say it to one of its agents: irq send AGENT TEXT"))
        }
        _ => Ok(()),
    }
}

/// Refuses a fork if code would have to be executed from the middle.
///
/// # Errors
///
/// [`Exit::Conflict`].
pub(crate) fn refuse_fork(workflow: &Workflow) -> Result<(), Failure> {
    match workflow {
        Workflow::Embedded(name) => {
            let workflow = name.clone();
            Err(by_asking(&InvalidRequest::Fork { workflow }))
        }
        Workflow::Agents | Workflow::PlanExecute => Ok(()),
    }
}

/// The unread messages of a run: they go with the run that a BRANCH of it forks off.
pub(super) struct UnreadMessages;

#[async_trait]
impl Heritage for UnreadMessages {
    async fn of(
        &self,
        store: &dyn Store,
        run: &Run,
        from: CheckpointId,
    ) -> Result<Vec<KnownEffect>, StoreError> {
        inherited(store, run, from).await
    }
}

/// The first entries of a fork's journal: what the run has not read at this point, and the message to the fork itself.
///
/// # Errors
///
/// If the store cannot be read, or an entry cannot be serialised.
///
/// # Cancel safety
///
/// Safe: it only reads.
pub(crate) async fn known_to_fork(
    store: &dyn Store,
    (left, from): (&Run, CheckpointId),
    (fork, workflow): (RunId, &Workflow),
    input: Option<&str>,
) -> Result<Vec<KnownEffect>, Failure> {
    let mut known = inherited(store, left, from).await?;
    if let Some(input) = input {
        let said = said_to_fork(fork, &first_node(workflow)?, input);
        known.push(said.map_err(|error| Failure::new(Exit::Failure, causes(&error)))?);
    }
    Ok(known)
}
