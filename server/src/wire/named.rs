//! Enumerations as they are written on the wire.

use interrupts::life::Verdict;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// What can be decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum DecisionName {
    /// Go on as asked.
    Approve,
    /// Go on with a request that the person filled in.
    Edit,
    /// Do not go on as asked.
    Reject,
    /// An answer in words or choices.
    Respond,
    /// No answer; go on without one.
    Ignore,
    /// Go on somewhere else.
    Reroute,
    /// Change the plan.
    ModifyPlan,
    /// The agent drops it, without side effects.
    Cancel,
    /// Go on after a pause.
    Resume,
}

impl From<DecisionName> for Verdict {
    fn from(name: DecisionName) -> Self {
        match name {
            DecisionName::Approve => Self::Approve,
            DecisionName::Edit => Self::Edit,
            DecisionName::Reject => Self::Reject,
            DecisionName::Respond => Self::Respond,
            DecisionName::Ignore => Self::Ignore,
            DecisionName::Reroute => Self::Reroute,
            DecisionName::ModifyPlan => Self::ModifyPlan,
            DecisionName::Cancel => Self::Cancel,
            DecisionName::Resume => Self::Resume,
        }
    }
}

/// How to stop.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ModeName {
    /// Finish the current step, then stop.
    #[default]
    Graceful,
    /// Stop now.
    Immediate,
}

/// How far an interrupt reaches.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ScopeName {
    /// Its agent, and all that the agent started.
    #[default]
    Agent,
    /// The whole run.
    Run,
}

/// What an interrupt does.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub(crate) enum TypeName {
    /// A person is asked.
    HumanReview,
    /// A reviewing model is asked, and a person where it is not sure.
    AgentReview,
    /// The run waits until somebody resumes it.
    #[default]
    Pause,
    /// The run ends as cancelled.
    Stop,
    /// The agent and all below it end; the others go on.
    Prune,
    /// The run is forked at its last checkpoint.
    Branch,
}
