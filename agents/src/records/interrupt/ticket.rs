//! Interrupts of the ticket phase.

use super::payload::payload;

payload! {
    /// The ticket orchestrator's interrupt.
    TicketOrchestratorInterruptRequest {
        /// Which tickets are done, and which are not.
        implementation_scope: String,
        /// What of the plan is used.
        planning_context_usage: String,
        /// In which order the tickets are done, and how.
        execution_strategy: String,
    }
}

payload! {
    /// The ticket dispatch's interrupt.
    TicketDispatchInterruptRequest {
        /// Who does what, one agent an entry.
        agent_assignments: Vec<String>,
        /// Which ticket goes to whom, one ticket an entry.
        ticket_distribution: Vec<String>,
        /// What each agent is told of the phases before.
        context_routing: String,
        /// Why the work is spread like this.
        routing_rationale: String,
    }
}

payload! {
    /// A ticket worker's interrupt.
    TicketAgentInterruptRequest {
        /// How the ticket is done.
        implementation_approach: String,
        /// What was changed so far, one change an entry.
        file_changes: Vec<String>,
        /// The files that will be changed.
        files_to_modify: Vec<String>,
        /// How the change is tested.
        test_strategies: Vec<String>,
    }
}

payload! {
    /// The ticket collector's interrupt.
    TicketCollectorInterruptRequest {
        /// Which tickets are done, and which are not.
        completion_status: String,
        /// What is left to do.
        follow_ups: Vec<String>,
        /// What the checks said.
        verification_results: Vec<String>,
    }
}
