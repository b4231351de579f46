//! Interrupts of the discovery phase.

use super::payload::payload;

payload! {
    /// The discovery orchestrator's interrupt.
    DiscoveryOrchestratorInterruptRequest {
        /// The parts into which the field of study is cut.
        subdomain_partitioning: Vec<String>,
        /// What discovery must cover.
        coverage_goals: String,
        /// How it goes about it.
        discovery_strategy: String,
        /// What is inside the scope, and what is not.
        scope: String,
    }
}

payload! {
    /// The discovery dispatch's interrupt.
    DiscoveryDispatchInterruptRequest {
        /// Which agents are started, and why.
        dispatch_decisions: String,
        /// Who does what, one agent an entry.
        agent_assignments: Vec<String>,
        /// How much each agent has to do, one agent an entry.
        workload_distribution: Vec<String>,
        /// Why the work is spread like this.
        routing_rationale: String,
    }
}

payload! {
    /// A discovery worker's interrupt.
    DiscoveryAgentInterruptRequest {
        /// What was found in the code.
        code_findings: String,
        /// The files it was found in.
        file_references: Vec<String>,
        /// Where the part of this worker ends, and why there.
        boundary_decisions: Vec<String>,
        /// Patterns that were seen.
        pattern_observations: Vec<String>,
    }
}

payload! {
    /// The discovery collector's interrupt.
    DiscoveryCollectorInterruptRequest {
        /// How the workers' findings were put together.
        consolidation_decisions: String,
        /// What should be done next.
        recommendations: Vec<String>,
        /// The places in the code that matter.
        code_references: Vec<String>,
        /// Where one part ends and another begins.
        subdomain_boundaries: Vec<String>,
    }
}
