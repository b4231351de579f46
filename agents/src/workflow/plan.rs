//! The planner of the workflow: one action for each request, one for all interrupts.

use routing_core::planner::{ActionInfo, ActionTaken};

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
    let lead = |name| ActionInfo {
        name,
        rerunnable: false,
        cost: 1,
    };
    planner.add(lead("orchestrator"), take::<OrchestratorRequest>)?;
    planner.add(
        lead("discovery_orchestrator"),
        take::<DiscoveryOrchestratorRequest>,
    )?;
    planner.add(
        lead("planning_orchestrator"),
        take::<PlanningOrchestratorRequest>,
    )?;
    planner.add(
        lead("ticket_orchestrator"),
        take::<TicketOrchestratorRequest>,
    )?;
    planner.add(lead("review_agent"), take::<ReviewRequest>)?;
    planner.add(lead("merger_agent"), take::<MergerRequest>)?;
    planner.add(
        lead("context_manager"),
        take::<ContextManagerRoutingRequest>,
    )?;
    planner.add(
        lead("orchestrator_collector"),
        take::<OrchestratorCollectorRequest>,
    )?;
    planner.add(
        lead("discovery_collector"),
        take::<DiscoveryCollectorRequest>,
    )?;
    planner.add(lead("planning_collector"), take::<PlanningCollectorRequest>)?;
    planner.add(lead("ticket_collector"), take::<TicketCollectorRequest>)?;
    planner.add(
        lead("discovery_dispatch"),
        dispatch::<DiscoveryAgentRequests>,
    )?;
    planner.add(lead("planning_dispatch"), dispatch::<PlanningAgentRequests>)?;
    planner.add(lead("ticket_dispatch"), dispatch::<TicketAgentRequests>)?;
    planner.add(
        lead("discovery_agent_result"),
        worker_result::<DiscoveryAgentResult>,
    )?;
    planner.add(
        lead("planning_agent_result"),
        worker_result::<PlanningAgentResult>,
    )?;
    planner.add(
        lead("ticket_agent_result"),
        worker_result::<TicketAgentResult>,
    )?;
    planner.add(lead("review_result"), called_result::<ReviewResult>)?;
    planner.add(lead("merger_result"), called_result::<MergerResult>)?;
    planner.add(
        lead("discovery_collected"),
        collected::<DiscoveryCollectorResult>,
    )?;
    planner.add(
        lead("planning_collected"),
        collected::<PlanningCollectorResult>,
    )?;
    planner.add(lead("ticket_collected"), collected::<TicketCollectorResult>)?;
    planner.add(
        lead("workflow_collected"),
        collected::<OrchestratorCollectorResult>,
    )?;
    let unified = ActionInfo {
        name: "handle_unified_interrupt",
        rerunnable: true,
        cost: 1,
    };
    planner.add_sealed(unified, handle_unified_interrupt)?;
    Ok(planner)
}

/// The one action for all interrupts.
fn handle_unified_interrupt<'a>(request: InterruptRequest, flow: &'a Flow) -> Action<'a> {
    Box::pin(async move {
        let mut path = flow.path.lock().await;
        interrupts::handle(flow, &mut path, request).await
    })
}
