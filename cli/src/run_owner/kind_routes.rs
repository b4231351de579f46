//! Maps agent kinds to the routes recorded in a stop.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use interrupt_router::{NodeId, RunId};
use interrupts::catalogue::SharedCatalogue;
use interrupts::manager::{AgentRoutes, KindRoutes};
use interrupts::{KindName, NameError, WorkflowName};
use journal::Workflow;

use crate::workflows;

/// Knows the kinds of agents of this program's workflows, which are those of the runs that it executes, and where their
/// answers may go.
pub(super) struct CatalogueRoutes {
    /// For an unknown agent.
    first: AgentRoutes,
    /// The catalogues of the runs of embedded workflows: their kinds may have names that others have, too.
    embedded: Mutex<HashMap<RunId, SharedCatalogue>>,
}

impl CatalogueRoutes {
    /// All kinds.
    ///
    /// # Errors
    ///
    /// [`NameError`] if a name of the workflow is not valid in the store.
    pub(super) fn new() -> Result<Self, NameError> {
        let first = workflows::built_in().first();
        let first = first.and_then(|it| it.agent_routes(None));
        Ok(Self {
            first: match first {
                Some(first) => first,
                None => AgentRoutes::alone(&KindName::new("AGENT")?),
            },
            embedded: Mutex::default(),
        })
    }

    /// Registers a run of this workflow.
    pub(super) fn know(&self, run: RunId, workflow: &Workflow) {
        let Workflow::Embedded(name) = workflow else {
            return;
        };
        if let Some(catalogue) = workflows::named(name) {
            self.embedded().insert(run, catalogue);
        }
    }

    /// Forgets a released run.
    pub(super) fn forget(&self, run: RunId) {
        self.embedded().remove(&run);
    }

    fn embedded(&self) -> std::sync::MutexGuard<'_, HashMap<RunId, SharedCatalogue>> {
        // Only whole values are inserted, so a panic elsewhere leaves it intact.
        self.embedded.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl KindRoutes for CatalogueRoutes {
    fn agent_routes(&self, run: RunId, node: &NodeId, kind: Option<&KindName>) -> AgentRoutes {
        if let Some(catalogue) = self.embedded().get(&run) {
            let known = catalogue
                .agent_routes(kind)
                .or_else(|| catalogue.agent_routes(None));
            return known.unwrap_or_else(|| self.first.clone());
        }
        let known = match kind {
            Some(kind) => {
                let catalogue = workflows::with_kind(kind.as_str());
                catalogue.and_then(|it| it.agent_routes(Some(kind)))
            }
            // The first agent of a plan is known when the plan begins.
            None if *node == NodeId::root() => {
                let plans = WorkflowName::new(Workflow::PlanExecute.name());
                let plans = plans.ok().and_then(|name| workflows::named(&name));
                plans.and_then(|it| it.agent_routes(None))
            }
            None => None,
        };
        known.unwrap_or_else(|| self.first.clone())
    }
}
