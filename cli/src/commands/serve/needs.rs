//! What a run needs of the worker that executes it, and what a worker has of its own.

use interrupts::store::Run;
use interrupts::{Label, LabelError, Labels};
use serde::Deserialize;

use crate::keep::workflow_of;
use crate::workflows;

/// The field of a stored order that holds the labels that it needs. Readers of older programs pass over it.
pub(super) const NEEDS: &str = "needs";

/// What a run needs: the labels of its order, and a program that has its workflow.
pub(super) fn needs_of(run: &Run) -> Labels {
    let asked = asked_of(&run.content);
    let workflow = of_workflow(workflow_of(run).name());
    Labels::new(asked.iter().cloned().chain(workflow)).unwrap_or(asked)
}

/// The labels that the order of a run asks for.
pub(crate) fn asked_of(content: &str) -> Labels {
    #[derive(Default, Deserialize)]
    #[serde(default)]
    struct StoredNeeds {
        needs: Labels,
    }
    let stored: StoredNeeds = serde_json::from_str(content).unwrap_or_default();
    stored.needs
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

/// The label for a program that has a workflow. A name that makes none goes without.
fn of_workflow(name: &str) -> Option<Label> {
    Label::new(format!("workflow:{name}")).ok()
}
