//! What a change of a plan would do.

use std::fmt::{self, Display};

use serde::Serialize;
use similar::{Algorithm, ChangeTag, TextDiff};

use super::plan::Plan;

/// A step, and what becomes of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "change", content = "task", rename_all = "snake_case")]
pub enum DiffLine {
    /// It stays.
    Kept(String),
    /// It is new.
    Added(String),
    /// It goes.
    Removed(String),
}

/// What a change would do to the steps that are left.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PlanDiff {
    /// The steps of both, in order.
    pub lines: Vec<DiffLine>,
}

impl PlanDiff {
    /// The difference between what is left of two plans.
    pub fn between(before: &Plan, after: &Plan) -> Self {
        let tasks = |plan: &Plan| -> Vec<String> {
            plan.left().iter().map(|step| step.task.clone()).collect()
        };
        let (before, after) = (tasks(before), tasks(after));
        let old: Vec<_> = before.iter().map(String::as_str).collect();
        let new: Vec<_> = after.iter().map(String::as_str).collect();
        let diff = TextDiff::configure()
            .algorithm(Algorithm::Myers)
            .diff_slices(&old, &new);
        let lines = diff.iter_all_changes().map(|change| {
            let task = change.value().to_owned();
            match change.tag() {
                ChangeTag::Equal => DiffLine::Kept(task),
                ChangeTag::Insert => DiffLine::Added(task),
                ChangeTag::Delete => DiffLine::Removed(task),
            }
        });
        Self {
            lines: lines.collect(),
        }
    }

    /// Whether nothing would change.
    pub fn is_empty(&self) -> bool {
        let is_kept = |line: &DiffLine| matches!(line, DiffLine::Kept(_));
        self.lines.iter().all(is_kept)
    }
}

impl Display for PlanDiff {
    /// A line for each step, with a sign before it.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, line) in self.lines.iter().enumerate() {
            if index > 0 {
                writeln!(formatter)?;
            }
            match line {
                DiffLine::Kept(task) => write!(formatter, "  {task}")?,
                DiffLine::Added(task) => write!(formatter, "+ {task}")?,
                DiffLine::Removed(task) => write!(formatter, "- {task}")?,
            }
        }
        Ok(())
    }
}
