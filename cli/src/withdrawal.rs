//! What a withdrawn interrupt leaves behind. A process that was told to stop stops: what it was told is never taken
//! back, so only a stop that had not reached it is as if it had never been asked for.

use interrupts::life::{Family, Interrupt};
use routing_core::InterruptType;

use crate::advice::advised;
use crate::exit::Failure;
use crate::installation::Installation;
use crate::keep::has_process;

/// What a stop does though it was withdrawn; `None` where it does nothing.
///
/// # Errors
///
/// Where the installation cannot be read.
///
/// # Cancel safety
///
/// Safe: it only reads.
pub(crate) async fn after(
    at: &dyn Installation,
    withdrawn: &Interrupt,
) -> Result<Option<String>, Failure> {
    let was_told = withdrawn.epoch > 0 && withdrawn.review.is_none();
    if Family::of(withdrawn.interrupt_type) != Family::Stop || !was_told {
        return Ok(None);
    }
    let run = withdrawn.run;
    let works = at
        .run(run)
        .await?
        .is_some_and(|run| !run.state.is_final() && has_process(&run));
    Ok(works.then(|| match withdrawn.interrupt_type {
        InterruptType::Pause => advised(&format!(
            "its process was told to stop before, and stops all the same; then: irq resume {run}"
        )),
        InterruptType::Stop
        | InterruptType::Prune
        | InterruptType::Branch
        | InterruptType::HumanReview
        | InterruptType::AgentReview => format!(
            "the process of {run} was told of this {} before, and carries it out all the same",
            withdrawn.interrupt_type.name()
        ),
    }))
}
