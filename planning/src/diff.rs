//! What a change of a plan would do.

use std::fmt::{self, Display};

use serde::{Deserialize, Serialize};
use similar::{Algorithm, ChangeTag, TextDiff};

use crate::plan::Plan;

/// A step, and what becomes of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "change", rename_all = "snake_case")]
pub enum DiffLine {
    /// It stays where it is.
    Kept {
        /// What is to be done.
        task: String,
    },
    /// It is new.
    Added {
        /// What is to be done.
        task: String,
    },
    /// It goes.
    Removed {
        /// What was to be done.
        task: String,
    },
    /// It stays, but moves to this place.
    Moved {
        /// What is to be done.
        task: String,
        /// Its place among the steps that were left before, from 1.
        from: usize,
    },
}

/// What a change would do to the steps that are left.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
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
        Self::of_tasks(&tasks(before), &tasks(after))
    }

    /// The difference between two lists of tasks.
    pub fn of_tasks(before: &[String], after: &[String]) -> Self {
        let old: Vec<_> = before.iter().map(String::as_str).collect();
        let new: Vec<_> = after.iter().map(String::as_str).collect();
        let diff = TextDiff::configure()
            .algorithm(Algorithm::Myers)
            .diff_slices(&old, &new);
        let lines = diff.iter_all_changes().map(|change| {
            let task = change.value().to_owned();
            match change.tag() {
                ChangeTag::Equal => DiffLine::Kept { task },
                ChangeTag::Insert => DiffLine::Added { task },
                ChangeTag::Delete => DiffLine::Removed { task },
            }
        });
        Self {
            lines: with_moves(lines.collect(), before),
        }
    }

    /// Whether nothing would change.
    pub fn is_empty(&self) -> bool {
        let is_kept = |line: &DiffLine| matches!(line, DiffLine::Kept { .. });
        self.lines.iter().all(is_kept)
    }
}

/// A step that disappears at one place and appears at another has moved.
fn with_moves(mut lines: Vec<DiffLine>, before: &[String]) -> Vec<DiffLine> {
    // The places of the steps that go, by their order in the plan before.
    let mut gone: Vec<(String, usize)> = Vec::new();
    let mut place = 0;
    for line in &lines {
        match line {
            DiffLine::Kept { .. } => place += 1,
            DiffLine::Removed { task } => {
                place += 1;
                gone.push((task.clone(), place));
            }
            DiffLine::Added { .. } | DiffLine::Moved { .. } => {}
        }
    }
    debug_assert_eq!(place, before.len(), "each step of before stays or goes");
    let mut moved = Vec::new();
    for line in &mut lines {
        if let DiffLine::Added { task } = line
            && let Some(at) = gone.iter().position(|(other, _)| other == task)
        {
            let (task, from) = gone.remove(at);
            moved.push(task.clone());
            *line = DiffLine::Moved { task, from };
        }
    }
    lines.retain(|line| {
        let DiffLine::Removed { task } = line else {
            return true;
        };
        match moved.iter().position(|other| other == task) {
            Some(at) => {
                moved.remove(at);
                false
            }
            None => true,
        }
    });
    lines
}

impl Display for PlanDiff {
    /// A line for each step, with a sign before it: `+` new, `-` gone, `~` moved.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, line) in self.lines.iter().enumerate() {
            if index > 0 {
                writeln!(formatter)?;
            }
            match line {
                DiffLine::Kept { task } => write!(formatter, "  {task}")?,
                DiffLine::Added { task } => write!(formatter, "+ {task}")?,
                DiffLine::Removed { task } => write!(formatter, "- {task}")?,
                DiffLine::Moved { task, from } => write!(formatter, "~ {task} (was {from})")?,
            }
        }
        Ok(())
    }
}
