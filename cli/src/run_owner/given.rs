//! Messages to a run that this process continues or forks off.

use control::{InvalidRequest, not_asked};
use engine::run::keep_input;
use interrupt_router::RunId;
use interrupts::store::ForkStart;
use journal::{ResumeRequest, Workflow, said_to_fork};

use super::{LocalRun, RunOwner, first_node};
use crate::exit::{Exit, Failure, causes};

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
            Err(not_asked(InvalidRequest::Fork { workflow }).into())
        }
        Workflow::Agents | Workflow::PlanExecute => Ok(()),
    }
}

/// What is a fork's own from its beginning: the message to it.
///
/// # Errors
///
/// If the message cannot be serialised.
pub(crate) fn start_of_fork(
    (fork, workflow): (RunId, &Workflow),
    input: Option<&str>,
    drops_pending: bool,
) -> Result<ForkStart, Failure> {
    let said = match input {
        Some(input) => {
            let said = said_to_fork(fork, &first_node(workflow)?, input);
            Some(said.map_err(|error| Failure::new(Exit::Failure, causes(&error)))?)
        }
        None => None,
    };
    Ok(ForkStart {
        said,
        drops_pending,
        leaves: None,
    })
}
