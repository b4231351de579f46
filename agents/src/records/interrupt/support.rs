//! Interrupts of the nodes that others call: review, merger, context manager.

use super::payload::payload;

payload! {
    /// The review agent's interrupt.
    ReviewInterruptRequest {
        /// What the content is measured by.
        review_criteria: String,
        /// What was found.
        assessment_findings: Vec<String>,
        /// Whether to approve, and why.
        approval_recommendation: String,
    }
}

payload! {
    /// The merger agent's interrupt.
    MergerInterruptRequest {
        /// The files in conflict.
        conflict_files: Vec<String>,
        /// Ways to settle the conflicts.
        resolution_strategies: Vec<String>,
        /// Which way is preferred, and why.
        merge_approach: String,
    }
}

payload! {
    /// The context manager's interrupt.
    ContextManagerInterruptRequest {
        /// The context that was found.
        context_findings: String,
        /// How much each finding matters, one finding an entry.
        relevance_assessments: Vec<String>,
        /// Where the findings come from.
        source_references: Vec<String>,
    }
}
