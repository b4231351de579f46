//! The agents of the workflows, as the interrupts that stop them name them.

use interrupts::manager::{Facing, Facings};
use interrupts::{KindName, NameError};
use routing_core::{NodeId, RunId};

use crate::workflows;

/// Knows the kinds of agents of this program's workflows, which are those of the runs that it executes, and where their
/// answers may go.
pub(super) struct AgentFacings {
    /// Of an agent that nobody knows.
    first: Facing,
}

impl AgentFacings {
    /// All kinds.
    ///
    /// # Errors
    ///
    /// [`NameError`] where a name of the workflow is none of the store's.
    pub(super) fn new() -> Result<Self, NameError> {
        let first = workflows::built_in().first();
        let first = first.and_then(|it| it.facing(None));
        Ok(Self {
            first: match first {
                Some(first) => first,
                None => Facing::alone(&KindName::new("AGENT")?),
            },
        })
    }
}

impl Facings for AgentFacings {
    fn facing(&self, _run: RunId, node: &NodeId, kind: Option<&KindName>) -> Facing {
        let known = match kind {
            Some(kind) => {
                let catalogue = workflows::with_kind(kind.as_str());
                catalogue.and_then(|it| it.facing(Some(kind)))
            }
            // The first agent of a plan is known when the plan begins.
            None if *node == NodeId::root() => {
                let mut plans = workflows::built_in().iter();
                let plans = plans.find(|it| it.routes().is_empty());
                plans.and_then(|it| it.facing(None))
            }
            None => None,
        };
        known.unwrap_or_else(|| self.first.clone())
    }
}
