//! The planner of the workflow: one action for each request, one for all interrupts.

use interrupt_router::planner::{ActionInfo, ActionTaken};

use super::dispatch::dispatch;
use super::flow::{Flow, Planner};
use super::interrupts;
use super::receive::take;
use super::results::{called_result, collected, worker_result};
use super::resume::Action;
use crate::records::*;

/// The actions of the workflow.
///
/// # Errors
///
/// [`ActionTaken`] where two actions take the same request.
pub(crate) fn planner() -> Result<Planner, ActionTaken> {
    let mut planner = Planner::new();
    requests(&mut planner)?;
    results(&mut planner)?;
    let unified = ActionInfo {
        name: "handle_unified_interrupt",
        rerunnable: true,
        cost: 1,
    };
    planner.add_sealed(unified, handle_unified_interrupt)?;
    Ok(planner)
}

/// An action that asks a model: not to be run again with the same input.
const fn once(name: &'static str) -> ActionInfo {
    ActionInfo {
        name,
        rerunnable: false,
        cost: 1,
    }
}

/// One action for each of the fourteen requests.
fn requests(planner: &mut Planner) -> Result<(), ActionTaken> {
    planner.add(once("orchestrator"), take::<OrchestratorRequest>)?;
    planner.add(
        once("discovery_orchestrator"),
        take::<DiscoveryOrchestratorRequest>,
    )?;
    planner.add(
        once("planning_orchestrator"),
        take::<PlanningOrchestratorRequest>,
    )?;
    planner.add(
        once("ticket_orchestrator"),
        take::<TicketOrchestratorRequest>,
    )?;
    planner.add(once("review_agent"), take::<ReviewRequest>)?;
    planner.add(once("merger_agent"), take::<MergerRequest>)?;
    planner.add(
        once("context_manager"),
        take::<ContextManagerRoutingRequest>,
    )?;
    planner.add(
        once("orchestrator_collector"),
        take::<OrchestratorCollectorRequest>,
    )?;
    planner.add(
        once("discovery_collector"),
        take::<DiscoveryCollectorRequest>,
    )?;
    planner.add(once("planning_collector"), take::<PlanningCollectorRequest>)?;
    planner.add(once("ticket_collector"), take::<TicketCollectorRequest>)?;
    planner.add(
        once("discovery_dispatch"),
        dispatch::<DiscoveryAgentRequests>,
    )?;
    planner.add(once("planning_dispatch"), dispatch::<PlanningAgentRequests>)?;
    planner.add(once("ticket_dispatch"), dispatch::<TicketAgentRequests>)?;
    Ok(())
}

/// One action for each result.
fn results(planner: &mut Planner) -> Result<(), ActionTaken> {
    planner.add(
        once("discovery_agent_result"),
        worker_result::<DiscoveryAgentResult>,
    )?;
    planner.add(
        once("planning_agent_result"),
        worker_result::<PlanningAgentResult>,
    )?;
    planner.add(
        once("ticket_agent_result"),
        worker_result::<TicketAgentResult>,
    )?;
    planner.add(once("review_result"), called_result::<ReviewResult>)?;
    planner.add(once("merger_result"), called_result::<MergerResult>)?;
    planner.add(
        once("discovery_collected"),
        collected::<DiscoveryCollectorResult>,
    )?;
    planner.add(
        once("planning_collected"),
        collected::<PlanningCollectorResult>,
    )?;
    planner.add(once("ticket_collected"), collected::<TicketCollectorResult>)?;
    planner.add(
        once("workflow_collected"),
        collected::<OrchestratorCollectorResult>,
    )?;
    Ok(())
}

/// The one action for all interrupts.
fn handle_unified_interrupt<'a>(request: InterruptRequest, flow: &'a Flow) -> Action<'a> {
    Box::pin(async move {
        let mut path = flow.path.lock().await;
        interrupts::handle(flow, &mut path, request).await
    })
}
