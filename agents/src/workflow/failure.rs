//! Why a run of the agents fails, beyond the failures that every run can have.

use interrupt_router::DispatchError;

pub(crate) use engine::run::RunError as FlowError;

/// A failed action is named by its node.
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "whatever else goes wrong in the planner is the planner's fault"
)]
pub(crate) fn of_planner(error: DispatchError<FlowError>) -> FlowError {
    match error {
        DispatchError::Action { source, .. } => source,
        other => FlowError::of_workflow(NowhereToGo(other)),
    }
}

/// A routing could not be dispatched.
#[derive(Debug, thiserror::Error)]
#[error("the planner has nowhere to go")]
struct NowhereToGo(#[source] DispatchError<FlowError>);
