//! Workflows in the states that the tests begin with.

use std::time::Duration;

use interrupt_router::{InterruptDetails, InterruptType};
use jiff::Timestamp;
use planning::{
    Fact, FactKind, Phase, PlanEffect, PlanEvent, PlanExecute, Refused, RetryPolicy, StepId,
    StepOutcome,
};

/// A workflow, and what it has wanted done since it was last looked at.
#[derive(Debug, Clone)]
pub(crate) struct Scene {
    pub(crate) state: PlanExecute,
    pub(crate) effects: Vec<PlanEffect>,
}

pub(crate) fn tasks(tasks: &[&str]) -> Vec<String> {
    tasks.iter().map(|task| (*task).to_owned()).collect()
}

pub(crate) fn question(reason: &str) -> InterruptDetails {
    InterruptDetails::new(InterruptType::HumanReview, reason)
}

pub(crate) fn interrupt(reason: &str) -> PlanEvent {
    PlanEvent::Interrupt {
        reason: Some(reason.to_owned()),
    }
}

pub(crate) fn modify(request: &str) -> PlanEvent {
    PlanEvent::Modify {
        request: request.to_owned(),
    }
}

impl Scene {
    /// A workflow that has not begun.
    pub(crate) fn new() -> Self {
        let retries = RetryPolicy {
            most: 2,
            first: Duration::from_secs(1),
            longest: Duration::from_secs(60),
        };
        Self {
            state: PlanExecute::new("the goal", retries),
            effects: Vec::new(),
        }
    }

    /// One that carries out the first of these steps.
    pub(crate) fn executing(steps: &[&str]) -> Self {
        let mut scene = Self::new();
        scene.then(PlanEvent::Start);
        scene.then(PlanEvent::Planned {
            tasks: tasks(steps),
        });
        scene.effects.clear();
        scene
    }

    /// Something happens.
    pub(crate) fn then(&mut self, event: PlanEvent) -> &mut Self {
        self.try_then(&event).unwrap();
        self
    }

    /// Something happens, or is refused and changes nothing.
    pub(crate) fn try_then(&mut self, event: &PlanEvent) -> Result<(), Refused> {
        let turn = self.state.after(event, Timestamp::UNIX_EPOCH)?;
        self.state = turn.state;
        self.effects.extend(turn.effects);
        Ok(())
    }

    /// The step under way is done.
    pub(crate) fn step_done(&mut self, result: &str) -> &mut Self {
        let step = self.next();
        self.then(PlanEvent::StepDone {
            step,
            result: result.to_owned(),
            outcome: StepOutcome::Proceed,
        })
    }

    /// The next step.
    pub(crate) fn next(&self) -> StepId {
        self.state.plan().next().unwrap().id
    }

    /// What was wanted since the last look, without facts and checkpoints.
    pub(crate) fn wanted(&mut self) -> Vec<PlanEffect> {
        let effects = std::mem::take(&mut self.effects);
        let is_work = |effect: &PlanEffect| {
            !matches!(
                effect,
                PlanEffect::Record(_) | PlanEffect::Checkpoint { .. }
            )
        };
        effects.into_iter().filter(is_work).collect()
    }

    /// The facts since the last look; the effects stay.
    pub(crate) fn facts(&self) -> Vec<&Fact> {
        let facts = self.effects.iter().filter_map(|effect| match effect {
            PlanEffect::Record(fact) => Some(fact),
            _ => None,
        });
        facts.collect()
    }

    pub(crate) fn kinds(&self) -> Vec<FactKind> {
        self.facts().iter().map(|fact| fact.kind).collect()
    }

    pub(crate) fn left(&self) -> Vec<&str> {
        let steps = self.state.plan().left().iter();
        steps.map(|step| step.task.as_str()).collect()
    }

    pub(crate) fn is_held(&self) -> bool {
        matches!(self.state.phase(), Phase::Held(_))
    }
}
