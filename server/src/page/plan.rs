//! The plan on the page of a review: what is done, what is next, and a change of it, shown before it is applied.

use control::preview;
use interrupts::life::{Claim, Interrupt, Verdict};
use maud::{Markup, html};
use planning::{DiffLine, PlanPreview, PlanRevision, StoredPlan};
use serde_json::{Value, json};

use super::review::bound_to;
use crate::body::FormFields;
use crate::problem::{Code, Problem};
use crate::visible::visible;

/// The button that only shows what a change would do.
pub(super) const PREVIEW: &str = "preview_plan";

/// The steps of the form: one per line, in order.
pub(super) fn steps_of(fields: &FormFields) -> Vec<String> {
    let text = fields.first("plan").unwrap_or_default();
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    lines.map(str::to_owned).collect()
}

/// The payload of a decision that changes the plan.
pub(super) fn payload(fields: &FormFields) -> Value {
    json!({
        "plan": steps_of(fields),
        "previewed": fields.first("previewed"),
    })
}

/// What the steps of the form would do.
pub(super) fn previewed(plan: &StoredPlan, fields: &FormFields) -> Result<PlanPreview, Problem> {
    let revision = PlanRevision {
        plan: Some(steps_of(fields)),
        ..PlanRevision::default()
    };
    Ok(preview(plan, &revision)?)
}

/// The current plan.
pub(super) fn current(plan: &StoredPlan) -> Markup {
    let steps = plan.state().plan();
    let now = plan.now().map(|step| step.id);
    html! {
        section aria-labelledby="plan" data-testid="plan" {
            h2 id="plan" { "The plan: " (steps.finished().len()) " of " (steps.total()) " done" }
            progress max=(steps.total()) value=(steps.finished().len()) aria-labelledby="plan" {}
            ol.plan {
                @for done in steps.finished() {
                    li data-testid="step" data-state="done" {
                        span.state { "Done: " } (visible(&done.step.task))
                        details { summary { "What came of it" } div.text { (visible(&done.result)) } }
                    }
                }
                @for step in steps.left() {
                    @let is_next = Some(step.id) == now;
                    li data-testid="step" data-state=(if is_next { "next" } else { "left" }) {
                        @if is_next { span.state { "Next: " } }
                        (visible(&step.task))
                    }
                }
            }
        }
    }
}

/// A change that is not applied, and the button that applies exactly this change.
pub(super) fn proposed(
    interrupt: &Interrupt,
    preview: &PlanPreview,
    claim: Option<&Claim>,
) -> Markup {
    html! {
        section aria-labelledby="change" data-testid="plan-preview" data-state=(preview.digest) {
            h2 id="change" { "What the change would do" }
            p { (preview.completed_steps) " done, which stay. " (after(preview)) }
            ul.diff {
                @for line in &preview.diff.lines {
                    @match line {
                        DiffLine::Kept { task } => li data-change="kept" { (visible(task)) },
                        DiffLine::Added { task } => li data-change="added" { ins { strong { "New: " } (visible(task)) } },
                        DiffLine::Removed { task } => li data-change="removed" { del { strong { "Gone: " } (visible(task)) } },
                        DiffLine::Moved { task, from } => li data-change="moved" { strong { "Moved, was " (from) ": " } (visible(task)) },
                    }
                }
            }
            @if preview.diff.is_empty() { p { "Nothing would change." } }
            form method="post" action=(format!("/review/{}", interrupt.id)) id="apply" {
                (bound_to(interrupt))
                input type="hidden" name="plan" value=(preview.plan.join("\n"));
                input type="hidden" name="previewed" value=(preview.digest);
                p.buttons { button type="submit" name="decision" value="modify_plan" data-testid="modify_plan" disabled[claim.is_some()] { "Apply this change" } }
            }
        }
    }
}

fn after(preview: &PlanPreview) -> Markup {
    html! {
        @match &preview.next {
            Some(step) => { "Next would be: " strong { (visible(&step.task)) } "." },
            None => { "No step would be left: it is asked whether the goal is reached." },
        }
    }
}

/// The steps that are left.
fn left(plan: &StoredPlan) -> Vec<&str> {
    let left = plan.state().plan().left().iter();
    left.map(|step| step.task.as_str()).collect()
}

/// Whether other steps are written than are left, and the form would go on without them.
pub(super) fn is_edited(plan: &StoredPlan, fields: &FormFields) -> bool {
    fields.first("plan").is_some() && steps_of(fields) != left(plan)
}

/// That the run does not go on, because an edit of its plan would be lost.
pub(super) fn unapplied() -> Problem {
    Problem::new(
        Code::ResponseSchema,
        "the plan was edited, and the edit is not applied",
        "apply the change that is shown below; or put the steps back as they were, and resume",
    )
}

/// The field in which the steps are written.
pub(super) fn editor(
    interrupt: &Interrupt,
    plan: &StoredPlan,
    filled: Option<&FormFields>,
) -> Markup {
    let left = left(plan).join("\n");
    let written = filled.and_then(|filled| filled.first("plan"));
    html! {
        @if interrupt.verdicts().any(|allowed| allowed == Verdict::ModifyPlan) {
            // A part of the form that decides, so that no button of that form loses what is written here.
            div.stack id="change-plan" {
                label for="steps" { "The steps that are left, one a line" }
                textarea id="steps" name="plan" rows="8" form="decision" { (written.unwrap_or(&left)) }
                p.hint { "It is shown what would change before anything does. Steps that are done stay." }
                p.buttons { button.quiet type="submit" form="decision" name="decision" value=(PREVIEW) data-testid="preview_plan" { "Show what would change" } }
            }
        }
    }
}
