//! The node that represents a whole run, and which of the run's stops take effect while no process executes it.

use interrupt_router::{InterruptType, NodeId};
use interrupts::life::{Interrupt, RunState, Scope};
use interrupts::store::Run;
use journal::{Workflow, executed_by_worker};

use crate::exit::{Exit, Failure};

/// The node that represents a whole run of the reference workflow.
const FIRST_NODE: &str = "orchestrator";

/// The node that represents a whole run of a workflow.
pub(super) fn first_node(workflow: &Workflow) -> Result<NodeId, Failure> {
    match workflow {
        Workflow::Agents => {
            NodeId::new(FIRST_NODE).map_err(|error| Failure::new(Exit::Failure, error.to_string()))
        }
        Workflow::PlanExecute | Workflow::Embedded(_) => Ok(NodeId::root()),
    }
}

/// Whether a workflow continues without an agent that is stopped for good. The agents of a plan work one after the
/// other on one thing.
pub(super) const fn leaves_agents_out(workflow: &Workflow) -> bool {
    match workflow {
        Workflow::Agents => true,
        Workflow::PlanExecute | Workflow::Embedded(_) => false,
    }
}

/// Whether a run continues without an agent that is stopped for good: a worker cancels its agents by itself.
pub(super) fn goes_on_without(run: &Run) -> bool {
    leaves_agents_out(&workflow_of(run)) || executed_by_worker(&run.content)
}

/// The workflow of a run.
pub(crate) fn workflow_of(run: &Run) -> Workflow {
    Workflow::in_content(&run.content)
}

/// Whether the owner of a run that no process executes can carry out a stop. Only its workflow can cancel an agent and
/// continue without it; and a run without a checkpoint cannot be forked, unless its present state is saved first.
pub(crate) fn is_for_whoever_holds(stop: &Interrupt, run: &Run) -> bool {
    let is_whole = || {
        let workflow = workflow_of(run);
        let first = first_node(&workflow);
        stop.scope == Scope::Run
            || !goes_on_without(run)
            || first.is_ok_and(|first| first == stop.node)
    };
    match stop.interrupt_type {
        InterruptType::Pause => true,
        InterruptType::Stop | InterruptType::Prune => is_whole(),
        InterruptType::Branch => {
            let works = matches!(run.state, RunState::Running | RunState::Stopping);
            let is_saved = works && workflow_of(run) == Workflow::Agents;
            is_saved || run.goes_on_from().is_some()
        }
        InterruptType::HumanReview | InterruptType::AgentReview => false,
    }
}
