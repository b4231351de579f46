//! A plan: the steps that are done, and the ones that are left.

use std::fmt::{self, Display};

use serde::{Deserialize, Serialize};

/// The most steps that are left at a time.
const MOST_STEPS: usize = 100;

/// Names a step in its run. A step keeps its name when the plan around it changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct StepId(u32);

impl StepId {
    /// The number, from 1 in the order in which steps were thought of.
    pub const fn number(self) -> u32 {
        self.0
    }
}

impl Display for StepId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "step-{}", self.0)
    }
}

/// A step that is left.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PlanStep {
    /// Its name.
    pub id: StepId,
    /// What is to be done.
    pub task: String,
    /// A person brought it into the plan: only a person takes it out again.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub applied: bool,
}

/// A step that is done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FinishedStep {
    /// The step.
    #[serde(flatten)]
    pub step: PlanStep,
    /// What came of it.
    pub result: String,
}

/// Steps that make no plan.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PlanError {
    /// A step says nothing.
    #[error("step {number} says nothing; say what is to be done")]
    EmptyStep {
        /// Its place, from 1.
        number: usize,
    },
    /// There are too many.
    #[error("{given} steps are too many; a plan has at most {MOST_STEPS}")]
    TooMany {
        /// How many there are.
        given: usize,
    },
}

/// The steps that are done, and the ones that are left.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Plan {
    finished: Vec<FinishedStep>,
    left: Vec<PlanStep>,
    /// How many steps were ever thought of.
    named: u32,
}

impl Plan {
    /// The steps that are done, in the order in which they were done.
    pub fn finished(&self) -> &[FinishedStep] {
        &self.finished
    }

    /// The steps that are left, in their order.
    pub fn left(&self) -> &[PlanStep] {
        &self.left
    }

    /// The step that is next.
    pub fn next(&self) -> Option<&PlanStep> {
        self.left.first()
    }

    /// How many steps there are, done and left.
    pub fn total(&self) -> usize {
        self.finished.len() + self.left.len()
    }

    /// What these tasks become as the steps that are left: a task that was left before keeps its name.
    ///
    /// # Errors
    ///
    /// [`PlanError`] if a task says nothing, or there are too many.
    pub fn revised(&self, tasks: &[String]) -> Result<Self, PlanError> {
        if tasks.len() > MOST_STEPS {
            return Err(PlanError::TooMany { given: tasks.len() });
        }
        let mut known = self.left.clone();
        let mut named = self.named;
        let mut left = Vec::with_capacity(tasks.len());
        for (index, task) in tasks.iter().enumerate() {
            let task = task.trim();
            if task.is_empty() {
                return Err(PlanError::EmptyStep { number: index + 1 });
            }
            let same = known.iter().position(|step| step.task == task);
            left.push(match same {
                Some(place) => known.remove(place),
                None => {
                    named += 1;
                    PlanStep {
                        id: StepId(named),
                        task: task.to_owned(),
                        applied: false,
                    }
                }
            });
        }
        Ok(Self {
            finished: self.finished.clone(),
            left,
            named,
        })
    }

    /// The plan as a person changes it: the steps that come into it are the person's.
    pub(super) fn applied_over(mut self, before: &Self) -> Self {
        for step in &mut self.left {
            step.applied |= !before.left.iter().any(|other| other.id == step.id);
        }
        self
    }

    /// The steps that a person brought into the plan and that these tasks leave out.
    pub(super) fn applied_without(&self, tasks: &[String]) -> Vec<PlanStep> {
        let mut kept: Vec<&str> = tasks.iter().map(|task| task.trim()).collect();
        let is_left_out = |step: &&PlanStep| {
            let place = kept.iter().position(|task| *task == step.task);
            place.map(|place| kept.remove(place)).is_none() && step.applied
        };
        self.left.iter().filter(is_left_out).cloned().collect()
    }

    /// The plan with these steps left, without the ones that are done by now.
    pub(super) fn with_left(&self, steps: &[PlanStep]) -> Self {
        let is_done = |step: &&PlanStep| !self.finished.iter().any(|done| done.step.id == step.id);
        Self {
            left: steps.iter().filter(is_done).cloned().collect(),
            ..self.clone()
        }
    }

    /// The plan when a step is done.
    pub(super) fn finish(&mut self, id: StepId, result: String) {
        if let Some(place) = self.left.iter().position(|step| step.id == id) {
            let step = self.left.remove(place);
            self.finished.push(FinishedStep { step, result });
        }
    }
}
