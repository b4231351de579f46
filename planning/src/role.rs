//! The agents of the workflow, and the node that represents all of it.

use serde::{Deserialize, Serialize};

/// The kind of the node that represents the whole plan.
pub const PLAN_EXECUTE: &str = "PLAN_EXECUTE";

/// The agents of the workflow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum PlanRole {
    /// Makes the first plan.
    Planner,
    /// Carries out a step.
    Executor,
    /// Looks at the plan again.
    Replanner,
}

impl PlanRole {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Planner, Self::Executor, Self::Replanner];

    /// The name of the kind of agent on the wire.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Planner => "PLANNER",
            Self::Executor => "EXECUTOR",
            Self::Replanner => "REPLANNER",
        }
    }

    /// The last segment of the ids of its nodes.
    pub const fn segment(self) -> &'static str {
        match self {
            Self::Planner => "planner",
            Self::Executor => "executor",
            Self::Replanner => "replanner",
        }
    }
}

/// The kinds of a plan's nodes by name: a store knows only their names.
pub fn plan_kind(name: &str) -> Option<&'static str> {
    let roles = PlanRole::ALL.into_iter().map(PlanRole::name);
    roles.chain([PLAN_EXECUTE]).find(|kind| *kind == name)
}
