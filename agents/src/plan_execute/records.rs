//! What models are asked to answer.

use interrupt_router::{InterruptDetails, Routing};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::records::NonEmptyText;
use planning::StepOutcome;

/// The steps that are left to do, in their order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PlanDraft {
    /// What is to be done, one task a step; empty where nothing is left to do.
    pub steps: Vec<NonEmptyText>,
}

impl PlanDraft {
    /// The tasks.
    pub fn into_tasks(self) -> Vec<String> {
        self.steps.into_iter().map(String::from).collect()
    }
}

/// What came of a step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct StepReport {
    /// What was done and what came of it.
    pub result: NonEmptyText,
    /// Whether the plan still holds.
    pub outcome: StepOutcome,
}

/// The answer to the goal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct FinalResponse {
    /// The answer, in words.
    pub summary: NonEmptyText,
}

/// What a planner answers, and a replanner that must change the plan.
#[derive(Debug, Clone, PartialEq, Eq, Routing)]
pub struct PlannerRouting {
    /// The plan.
    pub plan: Option<PlanDraft>,
    /// Stops here and asks a person.
    pub interrupt_request: Option<InterruptDetails>,
}

/// What an executor answers.
#[derive(Debug, Clone, PartialEq, Eq, Routing)]
pub struct ExecutorRouting {
    /// What came of the step.
    pub step_report: Option<StepReport>,
    /// Stops here and asks a person; the step goes on with the answer.
    pub interrupt_request: Option<InterruptDetails>,
}

/// What a replanner answers when it may also say that the goal is reached.
#[derive(Debug, Clone, PartialEq, Eq, Routing)]
pub struct ReplannerRouting {
    /// The goal is reached: the answer to it.
    pub response: Option<FinalResponse>,
    /// More is to be done: the steps that are left.
    pub plan: Option<PlanDraft>,
    /// Stops here and asks a person.
    pub interrupt_request: Option<InterruptDetails>,
}
