//! Whether a plan still holds.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Whether the plan still holds after a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum StepOutcome {
    /// The next step can begin.
    Proceed,
    /// The result asks for another plan.
    Replan,
}
