//! Plans as JSON.

use interrupts::store::Run;
use planning::{Phase, PlanPreview, PlanReading, PlanStep, PlanVersion};
use serde_json::{Value, json};

use crate::view::{decision, goal};

/// A change that is not applied.
pub(crate) fn preview_json(preview: &PlanPreview) -> Value {
    json!({
        "digest": preview.digest,
        "completed_steps": preview.completed_steps,
        "plan": preview.plan,
        "diff": preview.diff.lines,
        "next": preview.next.as_ref().map(step),
        "question": preview.question,
    })
}

fn step(step: &PlanStep) -> Value {
    json!({"id": step.id, "task": step.task})
}

/// All that is shown of a plan.
pub(crate) fn record(run: &Run, reading: &PlanReading, proposal: Option<&PlanPreview>) -> Value {
    let (plan, versions) = (&reading.plan, &reading.versions);
    let decided = reading.decided.as_ref();
    let state = plan.state();
    let now = plan.now();
    let next = state.plan().left().iter();
    let next = next.filter(|step| Some(step.id) != now.map(|now| now.id));
    let done = state.plan().finished().iter();
    json!({
        "run_id": run.id,
        "state": run.state,
        "goal": goal(run),
        "phase": state.phase().name(),
        "is_held": matches!(state.phase(), Phase::Held(_)),
        "interrupt": reading.escape.as_ref().map(|escape| escape.id),
        "version": versions.len(),
        "checkpoint": plan.checkpoint.to_string(),
        "at": plan.at,
        "completed_steps": state.plan().finished().len(),
        "total_steps": state.plan().total(),
        "done": done.map(|done| json!({
            "id": done.step.id, "task": done.step.task, "result": done.result,
        })).collect::<Vec<_>>(),
        "now": now.map(step),
        "next": next.map(step).collect::<Vec<_>>(),
        "requested": state.flags().user_modification_request,
        "proposal": proposal.map(preview_json),
        "decided": decided.and_then(|it| it.decision.as_ref()).map(decision),
        "unread_messages": reading.unread,
        "can_undo": state.history().can_undo(),
        "can_redo": state.history().can_redo(),
        "versions": versions.iter().map(version).collect::<Vec<_>>(),
    })
}

fn version(version: &PlanVersion) -> Value {
    json!({
        "number": version.number,
        "at": version.at,
        "kind": version.kind,
        "request": version.request,
        "completed_steps": version.completed_steps,
        "plan": version.plan,
        "diff": version.diff.lines,
    })
}
