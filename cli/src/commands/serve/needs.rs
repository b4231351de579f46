//! What a run needs of the worker that executes it, and what a worker has of its own.

use interrupts::store::Run;
use interrupts::{Label, LabelError, Labels};
use journal::needs_in;

use crate::run_owner::workflow_of;
use crate::workflows;

/// What a run needs: the labels of its order, and a program that has its workflow.
pub(super) fn needs_of(run: &Run) -> Labels {
    let asked = needs_in(&run.content);
    let workflow = of_workflow(workflow_of(run).name());
    Labels::new(asked.iter().cloned().chain(workflow)).unwrap_or(asked)
}

/// What a worker has: the labels that it was given, and the workflows of its program.
///
/// # Errors
///
/// [`LabelError::TooMany`].
pub(super) fn has(given: &[Label]) -> Result<Labels, LabelError> {
    let built_in = workflows::built_in().iter();
    let own = built_in.filter_map(|it| of_workflow(it.name().as_str()));
    Labels::new(given.iter().cloned().chain(own))
}

/// The label for a program that has a workflow; `None` if the name makes no valid label.
fn of_workflow(name: &str) -> Option<Label> {
    Label::new(format!("workflow:{name}")).ok()
}
