//! What runs and agents refuse.

use interrupts::store::Run;

use super::{Code, Refusal};

/// There is no such run.
pub fn no_run(given: &str) -> Refusal {
    Refusal::new(
        Code::RunNotFound,
        format!("there is no run `{given}`"),
        "`irq ps --all` lists the runs",
    )
}

/// There is no such agent.
pub fn no_agent(given: &str) -> Refusal {
    Refusal::new(
        Code::AgentNotFound,
        format!("there is no agent `{given}`"),
        "`irq ps` lists the agents with their addresses",
    )
}

/// Refuses a run that has ended.
///
/// # Errors
///
/// [`Code::RunFinished`].
pub fn refuse_ended(run: &Run) -> Result<(), Refusal> {
    if !run.state.is_final() {
        return Ok(());
    }
    Err(Refusal::new(
        Code::RunFinished,
        format!("{} is {}; it has ended", run.id, run.state),
        format!(
            "`irq fork {}` begins another one from its last checkpoint",
            run.id
        ),
    ))
}
