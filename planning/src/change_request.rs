//! A requested change of a plan.

/// A change of a plan, in words that need no model yet.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum PlanChangeRequest {
    /// The change to these steps is kept to be looked at; nothing is applied.
    Propose {
        /// The tasks that would be left.
        tasks: Vec<String>,
    },
    /// The run's model thinks of a change, which is kept to be looked at; nothing is applied.
    Suggest {
        /// What is wanted, in words.
        request: String,
    },
    /// The last change of the plan is taken back.
    Undo,
    /// The change that was taken back last is made again.
    Redo,
}
