//! What a run that is forked off has of the one that it goes on from, beyond what that had recorded by the checkpoint.

use interrupts::KindName;
use interrupts::life::{Interrupt, Verdict};
use interrupts::store::{
    Checkpoint, CheckpointId, Filter, KnownEffect, Page, Run, Store, StoreError,
};
use routing_core::InterruptType;
use serde_json::Value;

use crate::durable::input::{INPUT, content_of_decision, said_with};
use crate::durable::unread::event_of;
use crate::plan_execute::{PlanStanding, is_plan};

/// How many rows are read together.
const PAGE: u32 = 500;

/// What was said to a run that stands still, and decided about its plan, and that nobody has read or carried out: it goes
/// with a run that is forked off where this one stands, which reads it once, too. Of an earlier checkpoint nothing does:
/// what was said later was said about something else.
///
/// # Errors
///
/// [`StoreError`].
///
/// # Cancel safety
///
/// Safe: it only reads.
pub async fn handed_on(
    store: &dyn Store,
    run: &Run,
    from: CheckpointId,
) -> Result<Vec<KnownEffect>, StoreError> {
    if run.goes_on_from() != Some(from) {
        return Ok(Vec::new());
    }
    let Some(saved) = store.checkpoint(from).await? else {
        return Ok(Vec::new());
    };
    // What a fork of another run has in its journal, it was created with.
    let by_then = if from.run == run.id { saved.journal } else { 0 };
    let mut said = said(store, run).await?;
    for effect in decided(store, run, &saved).await? {
        if !said.iter().any(|(_, it)| it.place == effect.place) {
            said.push((u64::MAX, effect));
        }
    }
    let known = said.into_iter().filter(|(count, _)| *count > by_then);
    Ok(known.map(|(_, effect)| effect).collect())
}

/// What the journal keeps of what was said, each with the count at which it was recorded whole.
async fn said(store: &dyn Store, run: &Run) -> Result<Vec<(u64, KnownEffect)>, StoreError> {
    let (mut after, mut said) = (0, Vec::new());
    loop {
        let page = Page { after, limit: PAGE };
        let entries = store.journal(run.id, page).await?;
        let Some(last) = entries.last() else {
            return Ok(said);
        };
        after = last.position;
        for entry in entries {
            let intent = entry.intent;
            if let (INPUT, Some(place)) = (intent.kind.as_str(), intent.place) {
                let effect = KnownEffect {
                    node: intent.node,
                    kind: intent.kind,
                    place,
                    content: intent.content,
                    result: "{}".to_owned(),
                };
                said.push((entry.result.map_or(u64::MAX, |it| it.count), effect));
            }
        }
    }
}

/// What was decided about the pauses of a run, and about a failure of its plan, and is not in its journal yet.
async fn decided(
    store: &dyn Store,
    run: &Run,
    saved: &Checkpoint,
) -> Result<Vec<KnownEffect>, StoreError> {
    // What cannot be read says nothing about what is carried out.
    let standing = is_plan(run).then(|| PlanStanding::of(saved).ok()).flatten();
    let mut decided = Vec::new();
    let filter = Filter {
        run: Some(run.id),
        ..Filter::default()
    };
    let mut after = 0;
    loop {
        let page = Page { after, limit: PAGE };
        let found = store.interrupts(&filter, page).await?;
        let Some((last, _)) = found.last() else {
            return Ok(decided);
        };
        after = *last;
        for (_, interrupt) in &found {
            if is_left(interrupt, run, saved.id, standing.as_ref()) {
                decided.extend(effect_of(interrupt, standing.is_some()));
            }
        }
    }
}

/// Whether a decision about it is one that only a run that goes on carries out, and none has.
fn is_left(
    interrupt: &Interrupt,
    run: &Run,
    from: CheckpointId,
    standing: Option<&PlanStanding>,
) -> bool {
    let is_pause = interrupt.interrupt_type == InterruptType::Pause
        && !interrupt.is_raised_by_agent()
        && event_of(interrupt).is_none();
    // The question of another run's checkpoint is that run's.
    let is_failure = |standing: &PlanStanding| {
        let question = standing.question.as_ref().filter(|_| from.run == run.id);
        question.is_some_and(|it| it.interrupt == interrupt.id) && standing.is_at_a_failure()
    };
    match standing {
        Some(standing) => {
            (is_pause && (from.run != run.id || !standing.applied.contains(&interrupt.id)))
                || is_failure(standing)
        }
        None => is_pause,
    }
}

/// What was decided, as the fork has it in its journal; `None` where nothing was said.
fn effect_of(interrupt: &Interrupt, is_plan: bool) -> Option<KnownEffect> {
    let decision = interrupt.decision.as_ref()?;
    let says_how_to_go_on = matches!(
        decision.verdict,
        Verdict::Resume | Verdict::Respond | Verdict::ModifyPlan | Verdict::Edit
    );
    let content = decision.content.as_deref().filter(|_| says_how_to_go_on)?;
    let said: Value = serde_json::from_str(content).ok()?;
    let kept = content_of_decision(&said, is_plan)?;
    Some(KnownEffect {
        node: interrupt.node.clone(),
        kind: KindName::new(INPUT).ok()?,
        place: said_with(interrupt.id),
        content: kept,
        result: "{}".to_owned(),
    })
}
