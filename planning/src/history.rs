//! The plans that were left behind: what can be undone, and done again.

use serde::{Deserialize, Serialize};

use crate::plan::{Plan, PlanStep};

/// The most changes that can be undone.
const MOST_UNDONE: usize = 50;

/// The plans that changes have left behind, the newest last. The oldest is the absence of a plan: an undo never goes
/// back to that.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PlanHistory {
    before: Vec<Vec<PlanStep>>,
    undone: Vec<Vec<PlanStep>>,
}

impl PlanHistory {
    /// Whether a change can be undone.
    pub fn can_undo(&self) -> bool {
        self.before.len() > 1
    }

    /// Whether an undone change can be done again.
    pub fn can_redo(&self) -> bool {
        !self.undone.is_empty()
    }

    /// Remembers the plan that a change leaves behind. What was undone cannot be done again then.
    pub(super) fn changed(&mut self, plan: &Plan) {
        if self.before.len() > MOST_UNDONE {
            self.before.remove(1);
        }
        self.before.push(plan.left().to_vec());
        self.undone.clear();
    }

    /// The plan before the last change. Steps that are done by now do not come back.
    pub(super) fn undo(&mut self, plan: &Plan) -> Option<Plan> {
        if !self.can_undo() {
            return None;
        }
        let steps = self.before.pop()?;
        self.undone.push(plan.left().to_vec());
        Some(plan.with_left(&steps))
    }

    /// The plan before the last undoing.
    pub(super) fn redo(&mut self, plan: &Plan) -> Option<Plan> {
        let steps = self.undone.pop()?;
        self.before.push(plan.left().to_vec());
        Some(plan.with_left(&steps))
    }
}
