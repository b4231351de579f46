//! A plan as the store keeps it, for viewers in any process, also after restarts.

use std::time::Duration;

use interrupt_router::InterruptType;
use interrupts::life::{Interrupt, State, Verdict};
use interrupts::store::{
    Checkpoint, CheckpointId, Filter, MessageState, Page, Pages, Run, Store, StoreError,
    StoredMessage,
};
use jiff::Timestamp;
use journal::{RunHeader, Workflow};
use serde::{Deserialize, Serialize};

use crate::diff::PlanDiff;
use crate::effect::{Fact, FactKind};
use crate::event::Refused;
use crate::observer::PlanReadError;
use crate::plan::PlanStep;
use crate::preview::PlanPreview;
use crate::role::PLAN_EXECUTE;
use crate::snapshot::PlanSnapshot;
use crate::state::{Activity, Phase, PlanExecute};

/// How many rows are read together.
const PAGE: u32 = 500;

/// How long a pause that has taken effect may need until it can be decided, and how often the store is polled for that.
const TAKING_HOLD: Duration = Duration::from_secs(3);
const LOOK: Duration = Duration::from_millis(50);

/// The most ancestors, one fork after another, whose versions a forked run still includes.
const MOST_ANCESTORS: usize = 64;

/// A plan as its last checkpoint has it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredPlan {
    /// The checkpoint; of another run for a fork that has not gone on yet.
    pub checkpoint: CheckpointId,
    /// When it was saved.
    pub at: Timestamp,
    /// The state of the plan. The name of it on the wire is older than this one.
    #[serde(rename = "standing")]
    pub snapshot: PlanSnapshot,
}

/// A plan that was made or changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanVersion {
    /// Its number, from 1. An undone change is a version of its own.
    pub number: usize,
    /// When.
    pub at: Timestamp,
    /// Whether the plan was changed, or a change taken back or made again.
    pub kind: FactKind,
    /// What a person wanted, if it was said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request: Option<String>,
    /// How many steps were done by then.
    pub completed_steps: usize,
    /// The steps that were left then.
    pub plan: Vec<String>,
    /// The difference to what was left before.
    pub diff: PlanDiff,
}

/// Whether a run carries out a plan.
pub fn is_plan(run: &Run) -> bool {
    RunHeader::from_content(&run.content).is_ok_and(|it| it.workflow == Workflow::PlanExecute)
}

impl StoredPlan {
    /// Reads the plan of a run; `None` if the run has saved none yet.
    ///
    /// # Errors
    ///
    /// [`PlanReadError`].
    ///
    /// # Cancel safety
    ///
    /// Safe: it only reads.
    pub async fn read(store: &dyn Store, run: &Run) -> Result<Option<Self>, PlanReadError> {
        let Some(id) = run.goes_on_from() else {
            return Ok(None);
        };
        let Some(checkpoint) = store.checkpoint(id).await? else {
            return Ok(None);
        };
        Self::of(&checkpoint).map(Some)
    }

    /// The plan in a checkpoint.
    ///
    /// # Errors
    ///
    /// [`PlanReadError`] if it is of another form, or of another workflow.
    pub fn of(checkpoint: &Checkpoint) -> Result<Self, PlanReadError> {
        Ok(Self {
            checkpoint: checkpoint.id,
            at: checkpoint.at,
            snapshot: PlanSnapshot::of(checkpoint)?,
        })
    }

    /// The workflow.
    pub const fn state(&self) -> &PlanExecute {
        &self.snapshot.state
    }

    /// The step that is carried out, or would be if the workflow went on unchanged.
    pub fn now(&self) -> Option<&PlanStep> {
        let state = self.state();
        let activity = match state.phase() {
            Phase::Working { activity }
            | Phase::Asking { activity, .. }
            | Phase::BackingOff { activity, .. } => Some(activity),
            Phase::Held(held) => Some(&held.then),
            Phase::Created | Phase::Ended(_) => None,
        };
        match activity? {
            Activity::Executing { step } => state.plan().left().iter().find(|it| it.id == *step),
            Activity::Planning
            | Activity::Replanning
            | Activity::ForcedReplanning
            | Activity::Finishing { .. } => None,
        }
    }

    /// The change that is proposed and not applied.
    ///
    /// # Errors
    ///
    /// [`Refused`] if it makes no plan any more.
    pub fn proposal(&self) -> Result<Option<PlanPreview>, Refused> {
        let Phase::Held(held) = self.state().phase() else {
            return Ok(None);
        };
        held.suggestion
            .as_ref()
            .map(|tasks| PlanPreview::of(self.state(), tasks))
            .transpose()
    }
}

/// The interrupt that a plan waits on and whose decision may change it: a pause that has taken effect, or the question
/// about what failed.
///
/// # Errors
///
/// [`StoreError`].
///
/// # Cancel safety
///
/// Safe: it only reads.
pub async fn open_escape(store: &dyn Store, run: &Run) -> Result<Option<Interrupt>, StoreError> {
    let filter = Filter {
        run: Some(run.id),
        node: None,
        states: vec![State::AwaitingReview],
    };
    let (mut failure, mut pages) = (None, Pages::of(PAGE));
    while let Some(found) = pages.next(|page| store.interrupts(&filter, page)).await? {
        for (_, interrupt) in found {
            if !interrupt.allowed.contains(&Verdict::ModifyPlan) {
                continue;
            }
            // A person's interrupt goes first.
            if interrupt.interrupt_type == InterruptType::Pause {
                return Ok(Some(interrupt));
            }
            if interrupt.kind.as_str() == PLAN_EXECUTE {
                failure = Some(interrupt);
            }
        }
    }
    Ok(failure)
}

/// As [`open_escape`]; waits some seconds at most for a pause that has just taken effect, until it can be decided.
///
/// # Errors
///
/// [`StoreError`].
///
/// # Cancel safety
///
/// Safe: it only reads.
pub async fn escape_taking_hold(
    store: &dyn Store,
    run: &Run,
) -> Result<Option<Interrupt>, StoreError> {
    let begun = tokio::time::Instant::now();
    let taken_hold = Filter {
        run: Some(run.id),
        node: None,
        states: vec![State::Acknowledged],
    };
    loop {
        let open = open_escape(store, run).await?;
        if open.is_some() || begun.elapsed() > TAKING_HOLD {
            return Ok(open);
        }
        let page = Page {
            after: 0,
            limit: PAGE,
        };
        let found = store.interrupts(&taken_hold, page).await?;
        let is_pause = |it: &Interrupt| it.interrupt_type == InterruptType::Pause;
        if !found.iter().any(|(_, interrupt)| is_pause(interrupt)) {
            // It may have been opened between the two looks.
            return open_escape(store, run).await;
        }
        tokio::time::sleep(LOOK).await;
    }
}

/// The pause that has been decided and not carried out yet: the plan does that when its run goes on.
///
/// # Errors
///
/// [`StoreError`].
///
/// # Cancel safety
///
/// Safe: it only reads.
pub async fn decided_escape(
    store: &dyn Store,
    run: &Run,
    plan: &StoredPlan,
) -> Result<Option<Interrupt>, StoreError> {
    if run.state.is_final() {
        return Ok(None);
    }
    let filter = Filter {
        run: Some(run.id),
        node: None,
        states: vec![State::Resolved, State::Rerouted],
    };
    let (mut decided, mut pages) = (None, Pages::of(PAGE));
    while let Some(found) = pages.next(|page| store.interrupts(&filter, page)).await? {
        let is_left = |interrupt: &Interrupt| {
            interrupt.interrupt_type == InterruptType::Pause
                && !plan.snapshot.applied.contains(&interrupt.id)
        };
        let mut left = found.into_iter().map(|(_, interrupt)| interrupt);
        decided = left.rfind(is_left).or(decided);
    }
    Ok(decided)
}

/// How many messages for a plan it has not read yet.
///
/// # Errors
///
/// [`StoreError`].
///
/// # Cancel safety
///
/// Safe: it only reads.
pub async fn unread_messages(
    store: &dyn Store,
    run: &Run,
    plan: &StoredPlan,
) -> Result<usize, StoreError> {
    let (mut count, mut pages) = (0, Pages::after(plan.snapshot.read, PAGE));
    while let Some(found) = pages.next(|page| store.messages(run.id, page)).await? {
        let is_unread =
            |stored: &&StoredMessage| !matches!(stored.state, MessageState::Withdrawn { .. });
        count += found.iter().filter(is_unread).count();
    }
    Ok(count)
}

/// The versions of a plan, the first one first, including those of the runs that it was forked off.
///
/// # Errors
///
/// [`PlanReadError`].
///
/// # Cancel safety
///
/// Safe: it only reads.
pub async fn plan_versions(
    store: &dyn Store,
    run: &Run,
) -> Result<Vec<PlanVersion>, PlanReadError> {
    let mut lines = vec![facts_until(store, run, u64::MAX).await?];
    let mut from = run.forked_from;
    while let Some(id) = from.filter(|_| lines.len() < MOST_ANCESTORS) {
        let Some(ancestor) = store.run(id.run).await? else {
            break;
        };
        lines.push(facts_until(store, &ancestor, id.number).await?);
        from = ancestor.forked_from;
    }
    let facts = lines.into_iter().rev().flatten();
    Ok(versions_of(facts))
}

async fn facts_until(store: &dyn Store, run: &Run, last: u64) -> Result<Vec<Fact>, PlanReadError> {
    let (mut facts, mut pages) = (Vec::new(), Pages::of(PAGE));
    while pages.position() < last
        && let Some(found) = pages.next(|page| store.checkpoints(run.id, page)).await?
    {
        for checkpoint in found.iter().filter(|it| it.id.number <= last) {
            facts.extend(PlanSnapshot::of(checkpoint)?.facts);
        }
    }
    Ok(facts)
}

fn versions_of(facts: impl Iterator<Item = Fact>) -> Vec<PlanVersion> {
    let mut versions = Vec::new();
    let mut request = None;
    let mut before = Vec::new();
    for fact in facts {
        match fact.kind {
            FactKind::ModificationRequested | FactKind::Told => request = fact.reason,
            FactKind::PlanChanged | FactKind::Undone | FactKind::Redone => {
                versions.push(PlanVersion {
                    number: versions.len() + 1,
                    at: fact.time,
                    kind: fact.kind,
                    request: request
                        .take()
                        .filter(|_| fact.kind == FactKind::PlanChanged),
                    completed_steps: fact.completed_steps,
                    diff: PlanDiff::of_tasks(&before, &fact.current_plan),
                    plan: fact.current_plan.clone(),
                });
            }
            FactKind::UserEscape
            | FactKind::HumanInput
            | FactKind::SystemError
            | FactKind::OpenSteps
            | FactKind::Retry
            | FactKind::Clash
            | FactKind::Answered
            | FactKind::QuestionShownAgain
            | FactKind::QuestionWithdrawn
            | FactKind::Resumed
            | FactKind::StepDone
            | FactKind::Completed
            | FactKind::Cancelled => {}
        }
        before = fact.current_plan;
    }
    versions
}

#[cfg(test)]
mod tests {
    use interrupt_router::RunId;
    use jiff::Timestamp;

    use super::{PlanSnapshot, StoredPlan};
    use crate::state::{PlanExecute, RetryPolicy};
    use interrupts::store::CheckpointId;

    #[test]
    fn what_a_server_sends_of_a_plan_has_the_names_that_older_programs_read() {
        let run = RunId::generate();
        let stored = StoredPlan {
            checkpoint: CheckpointId { run, number: 1 },
            at: Timestamp::UNIX_EPOCH,
            snapshot: PlanSnapshot::new(PlanExecute::new("bake", RetryPolicy::default())),
        };
        let sent = serde_json::to_value(&stored).unwrap();
        let mut names: Vec<_> = sent.as_object().unwrap().keys().collect();
        names.sort();
        assert_eq!(names, ["at", "checkpoint", "standing"]);
        let read: StoredPlan = serde_json::from_value(sent).unwrap();
        assert_eq!(read, stored);
    }
}
