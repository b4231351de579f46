//! Interrupts of the two nodes that lead and end the workflow.

use super::payload::payload;

payload! {
    /// The orchestrator's interrupt.
    OrchestratorInterruptRequest {
        /// The phase that the workflow is in.
        phase: String,
        /// The workflow's goal.
        goal: String,
        /// What the workflow has done so far.
        workflow_context: String,
    }
}

payload! {
    /// The interrupt of the orchestrator's collector.
    OrchestratorCollectorInterruptRequest {
        /// What the phases' collectors have brought.
        collector_results: String,
        /// Why the workflow may go on, or not.
        advancement_rationale: String,
        /// The phases to go to next.
        phase_options: Vec<String>,
    }
}
