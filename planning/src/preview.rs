//! What a change of the plan would do: a copy of the workflow tries it.

use interrupts::Digest;
use jiff::Timestamp;
use serde::Serialize;

use crate::diff::PlanDiff;
use crate::effect::{FactKind, PlanEffect};
use crate::event::{PlanEvent, Refused};
use crate::plan::{Plan, PlanStep};
use crate::state::{Phase, PlanExecute};

/// What becomes of the agent's question that waits behind a person's interrupt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum QuestionFate {
    /// It is shown again when the workflow goes on.
    ShownAgain,
    /// Its step is not next any more, so its answer is not needed.
    Withdrawn,
}

/// A change of the plan that has not been applied.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PlanPreview {
    /// Names exactly this change of this plan: a request to apply it states which change it means.
    pub digest: Digest,
    /// How many steps are done. A change keeps them.
    pub completed_steps: usize,
    /// The steps that would be left.
    pub plan: Vec<String>,
    /// What would happen to the steps that are left now.
    pub diff: PlanDiff,
    /// The step that would be carried out next; if there is none, the replanner is asked whether the goal is reached.
    pub next: Option<PlanStep>,
    /// What would become of the question that waits, if there is one.
    pub question: Option<QuestionFate>,
}

impl PlanPreview {
    /// What these tasks as the steps that are left would do. Nothing is changed.
    ///
    /// # Errors
    ///
    /// [`Refused`] if the tasks make no plan, or the workflow has ended.
    pub fn of(state: &PlanExecute, tasks: &[String]) -> Result<Self, Refused> {
        let mut copy = stood_still(state)?;
        let before = copy.plan().clone();
        let edit = PlanEvent::Edit {
            tasks: tasks.to_vec(),
        };
        copy = copy.after(&edit, Timestamp::UNIX_EPOCH)?.state;
        let after = copy.plan().clone();
        let gone_on = copy.after(&PlanEvent::Resume, Timestamp::UNIX_EPOCH)?;
        Ok(Self {
            digest: digest(&before, &after),
            completed_steps: after.finished().len(),
            plan: after.left().iter().map(|step| step.task.clone()).collect(),
            diff: PlanDiff::between(&before, &after),
            next: after.next().cloned(),
            question: fate(&gone_on.effects),
        })
    }
}

/// The workflow once a person's interrupt has taken effect.
pub(super) fn stood_still(state: &PlanExecute) -> Result<PlanExecute, Refused> {
    let mut state = state.clone();
    for event in [
        PlanEvent::Interrupt { reason: None },
        PlanEvent::CallStopped,
    ] {
        if matches!(state.phase(), Phase::Held(_)) {
            break;
        }
        state = match state.phase() {
            // It has no plan yet, and nothing to stop.
            Phase::Created => {
                state
                    .after(&PlanEvent::Start, Timestamp::UNIX_EPOCH)?
                    .state
                    .after(&event, Timestamp::UNIX_EPOCH)?
                    .state
            }
            Phase::Working { .. }
            | Phase::Asking { .. }
            | Phase::BackingOff { .. }
            | Phase::Held(_)
            | Phase::Ended(_) => state.after(&event, Timestamp::UNIX_EPOCH)?.state,
        };
    }
    Ok(state)
}

fn fate(effects: &[PlanEffect]) -> Option<QuestionFate> {
    effects.iter().find_map(|effect| match effect {
        PlanEffect::WithdrawQuestion => Some(QuestionFate::Withdrawn),
        PlanEffect::Record(fact) if fact.kind == FactKind::QuestionShownAgain => {
            Some(QuestionFate::ShownAgain)
        }
        PlanEffect::Record(_)
        | PlanEffect::Checkpoint { .. }
        | PlanEffect::AskModel(_)
        | PlanEffect::RunStep(_)
        | PlanEffect::AskPerson(_)
        | PlanEffect::HoldQuestion
        | PlanEffect::Wait(_)
        | PlanEffect::End(_) => None,
    })
}

/// The digest of a change: of what is done, of what is left, and of what would be left.
fn digest(before: &Plan, after: &Plan) -> Digest {
    let base = base_of(before);
    let tasks = after.left().iter().map(|step| step.task.as_bytes());
    Digest::of_parts(std::iter::once(base.bytes().as_slice()).chain(tasks))
}

/// The digest of a plan in its current state: two plans share it if the same steps are done and left.
pub(super) fn base_of(plan: &Plan) -> Digest {
    let done = plan.finished().iter().map(|done| &done.step);
    let parts: Vec<[Vec<u8>; 3]> = done
        .map(|step| (b'd', step))
        .chain(plan.left().iter().map(|step| (b'l', step)))
        .map(|(mark, step)| {
            [
                vec![mark],
                step.id.number().to_be_bytes().to_vec(),
                step.task.as_bytes().to_vec(),
            ]
        })
        .collect();
    Digest::of_parts(parts.iter().flatten().map(Vec::as_slice))
}
