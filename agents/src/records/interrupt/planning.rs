//! Interrupts of the planning phase.

use super::payload::payload;
use crate::records::Ticket;

payload! {
    /// The planning orchestrator's interrupt.
    PlanningOrchestratorInterruptRequest {
        /// The tickets that the goal is taken apart into.
        ticket_decomposition: String,
        /// By what rule it is taken apart.
        ticket_breakdown_strategy: String,
        /// What of discovery the plan rests on.
        discovery_context_usage: String,
        /// What is planned, and what is not.
        planning_scope: String,
    }
}

payload! {
    /// The planning dispatch's interrupt.
    PlanningDispatchInterruptRequest {
        /// Who does what, one agent an entry.
        agent_assignments: Vec<String>,
        /// Which part of the plan goes to whom, one agent an entry.
        ticket_distribution: Vec<String>,
        /// What of discovery goes to whom.
        discovery_context_routing: String,
        /// Why the work is spread like this.
        routing_rationale: String,
    }
}

payload! {
    /// A planning worker's interrupt.
    PlanningAgentInterruptRequest {
        /// How the tickets are cut.
        ticket_design: String,
        /// Decisions about the architecture.
        architecture_decisions: Vec<String>,
        /// The tickets proposed so far.
        proposed_tickets: Vec<Ticket>,
        /// What of discovery they rest on.
        discovery_references: Vec<String>,
    }
}

payload! {
    /// The planning collector's interrupt.
    PlanningCollectorInterruptRequest {
        /// How the workers' tickets were put together.
        ticket_consolidation: String,
        /// How their order was found.
        dependency_resolution: String,
        /// The tickets of the plan so far.
        consolidated_tickets: Vec<Ticket>,
        /// Dependencies that contradict each other.
        dependency_conflicts: Vec<String>,
    }
}
