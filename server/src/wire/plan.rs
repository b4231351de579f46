//! A plan as callers see it: what is done, what is next, and a change that is not applied yet.

use interrupts::store::Run;
use planning::{
    DiffLine, Phase, PlanPreview, PlanReading, PlanStep, PlanVersion, QuestionFate, StoredPlan,
};
use serde::Serialize;
use utoipa::ToSchema;

/// A step of a plan.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct StepView {
    /// Its number in the plan.
    id: u64,
    /// What is to be done.
    task: String,
    /// What came of it, where it is done.
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<String>,
}

/// A step, and what a change does to it.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct ChangedStep {
    /// `kept`, `added`, `removed` or `moved`.
    change: &'static str,
    /// What is to be done.
    task: String,
    /// Its place among the steps that were left before, from 1, where it was moved.
    #[serde(skip_serializing_if = "Option::is_none")]
    from: Option<usize>,
}

/// A change that nobody has applied.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct ProposalView {
    /// Names just this change of just this plan: `previewed` of the decision that applies it.
    digest: String,
    /// The tasks that would be left: `plan` of the decision that applies it.
    plan: Vec<String>,
    /// What it would do to each step.
    diff: Vec<ChangedStep>,
    /// The step that would be carried out next.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<StepView>,
    /// What would become of the question that waits: `shown_again` or `withdrawn`.
    #[serde(skip_serializing_if = "Option::is_none")]
    question: Option<&'static str>,
}

/// A plan that was made or changed.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct PlanVersionView {
    /// Its number, from 1.
    number: usize,
    /// When.
    at: String,
    /// `plan_changed`, `undone` or `redone`.
    #[schema(value_type = String)]
    kind: planning::FactKind,
    /// What a person wanted, where it was said.
    #[serde(skip_serializing_if = "Option::is_none")]
    request: Option<String>,
    /// The tasks that were left then.
    plan: Vec<String>,
    /// The difference to what was left before.
    diff: Vec<ChangedStep>,
}

/// A plan as callers see it.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct PlanView {
    /// The run that carries it out.
    run_id: String,
    /// Where the run stands.
    status: String,
    /// Where the plan stands: `created`, `working`, `asking`, `backing_off`, `held` or `ended`.
    phase: String,
    /// The interrupt on which it stands still, and whose decision `modify_plan` changes it.
    #[serde(skip_serializing_if = "Option::is_none")]
    interrupt_id: Option<String>,
    /// The number of its version, from 1: `if_version` of a change.
    version: usize,
    /// The number of the checkpoint that holds it.
    checkpoint: u64,
    /// When that was saved.
    at: String,
    /// The steps that are done, with what came of them.
    done: Vec<StepView>,
    /// The step that is carried out, or would be when it goes on.
    #[serde(skip_serializing_if = "Option::is_none")]
    now: Option<StepView>,
    /// The steps after that.
    next: Vec<StepView>,
    /// The change that is proposed and not applied.
    #[serde(skip_serializing_if = "Option::is_none")]
    proposal: Option<ProposalView>,
    /// Whether a pause was decided whose decision is carried out when the run goes on.
    is_decided: bool,
    /// How many messages it has not read yet.
    unread_messages: usize,
    /// Whether a change can be taken back.
    can_undo: bool,
    /// Whether a change that was taken back can be made again.
    can_redo: bool,
    /// Its versions, the first one first.
    versions: Vec<PlanVersionView>,
}

/// A plan after a change of it.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct ChangedPlanView {
    /// The run that carries it out.
    run_id: String,
    /// The number of the checkpoint that holds it now.
    checkpoint: u64,
    /// The tasks that are left.
    left: Vec<String>,
    /// The change that is proposed and not applied.
    #[serde(skip_serializing_if = "Option::is_none")]
    proposal: Option<ProposalView>,
    /// Whether a change can be taken back.
    can_undo: bool,
    /// Whether a change that was taken back can be made again.
    can_redo: bool,
}

fn step(step: &PlanStep) -> StepView {
    StepView {
        id: u64::from(step.id.number()),
        task: step.task.clone(),
        result: None,
    }
}

fn changed(line: &DiffLine) -> ChangedStep {
    let (change, task, from) = match line {
        DiffLine::Kept { task } => ("kept", task, None),
        DiffLine::Added { task } => ("added", task, None),
        DiffLine::Removed { task } => ("removed", task, None),
        DiffLine::Moved { task, from } => ("moved", task, Some(*from)),
    };
    ChangedStep {
        change,
        task: task.clone(),
        from,
    }
}

impl ProposalView {
    /// A change that is not applied yet.
    pub(crate) fn of(preview: &PlanPreview) -> Self {
        Self {
            digest: preview.digest.to_string(),
            plan: preview.plan.clone(),
            diff: preview.diff.lines.iter().map(changed).collect(),
            next: preview.next.as_ref().map(step),
            question: preview.question.map(|fate| match fate {
                QuestionFate::ShownAgain => "shown_again",
                QuestionFate::Withdrawn => "withdrawn",
            }),
        }
    }
}

fn version(version: &PlanVersion) -> PlanVersionView {
    PlanVersionView {
        number: version.number,
        at: version.at.to_string(),
        kind: version.kind,
        request: version.request.clone(),
        plan: version.plan.clone(),
        diff: version.diff.lines.iter().map(changed).collect(),
    }
}

/// The proposed change; none if it no longer makes a plan.
fn proposal(plan: &StoredPlan) -> Option<ProposalView> {
    let proposal = plan.proposal().ok().flatten();
    proposal.as_ref().map(ProposalView::of)
}

impl PlanView {
    /// A plan of a run.
    pub(crate) fn of(run: &Run, reading: &PlanReading) -> Self {
        let (plan, state) = (&reading.plan, reading.plan.state());
        let now = plan.now();
        let left = state.plan().left().iter();
        let next = left.filter(|step| Some(step.id) != now.map(|now| now.id));
        let done = state.plan().finished().iter().map(|done| StepView {
            result: Some(done.result.clone()),
            ..step(&done.step)
        });
        Self {
            run_id: run.id.to_string(),
            status: run.state.name().to_owned(),
            phase: state.phase().name().to_owned(),
            interrupt_id: reading.escape.as_ref().map(|it| it.id.to_string()),
            version: reading.versions.len(),
            checkpoint: plan.checkpoint.number,
            at: plan.at.to_string(),
            done: done.collect(),
            now: now.map(step),
            next: next.map(step).collect(),
            proposal: proposal(plan).filter(|_| matches!(state.phase(), Phase::Held(_))),
            is_decided: reading.decided.is_some(),
            unread_messages: reading.unread,
            can_undo: state.history().can_undo(),
            can_redo: state.history().can_redo(),
            versions: reading.versions.iter().map(version).collect(),
        }
    }
}

impl ChangedPlanView {
    /// A plan after a change of it.
    pub(crate) fn of(run: &Run, plan: &StoredPlan) -> Self {
        let state = plan.state();
        let left = state.plan().left().iter();
        Self {
            run_id: run.id.to_string(),
            checkpoint: plan.checkpoint.number,
            left: left.map(|step| step.task.clone()).collect(),
            proposal: proposal(plan),
            can_undo: state.history().can_undo(),
            can_redo: state.history().can_redo(),
        }
    }
}
