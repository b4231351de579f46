//! The state of a run whose process died at work, saved by the process that makes a stop of it take effect.

use std::collections::HashSet;

use interrupt_router::{InterruptId, RunId};
use interrupts::EffectId;
use interrupts::life::{Family, RunState};
use interrupts::store::{
    CheckpointDraft, CheckpointError, CheckpointId, Filter, Pages, Run, Store, StoreError,
};

use journal::Workflow;
use journal::kind::{DISPATCH, MODEL_CALL};
use journal::{NodeSnapshot, RunSnapshot, place};

/// How many rows are read at a time.
const PAGE: u32 = 500;

/// Why such a checkpoint is saved.
const REASON: &str = "stopped after its process had died";

/// Saves a checkpoint of a run whose process died at work and that no process executes: a run resumed from there has
/// all that its journal has by then. `epoch` is its owner's. `None` if nothing had to be saved: it never began, it was
/// at rest, or its workflow is plan and execute, whose every step has a checkpoint of its own.
///
/// # Errors
///
/// [`CheckpointError`].
///
/// # Cancel safety
///
/// Dropped, a checkpoint was saved or not; a second one says the same.
pub async fn save_orphaned(
    store: &dyn Store,
    run: &Run,
    epoch: u64,
) -> Result<Option<CheckpointId>, CheckpointError> {
    let worked = matches!(run.state, RunState::Running | RunState::Stopping);
    if !worked || Workflow::in_content(&run.content) != Workflow::Agents {
        return Ok(None);
    }
    let done = Done::of(store, run.id).await?;
    let snapshot = RunSnapshot {
        reason: REASON.to_owned(),
        steps: u32::try_from(done.steps.len()).unwrap_or(u32::MAX),
        nodes: nodes(store, run.id).await?,
        interrupts: questions(store, run.id).await?,
        result: None,
    };
    let content = serde_json::to_string(&snapshot).map_err(|error| StoreError::Unavailable {
        detail: format!("a checkpoint cannot be written as JSON: {error}"),
    })?;
    let draft = CheckpointDraft {
        run: run.id,
        epoch,
        parent: run.goes_on_from(),
        form: RunSnapshot::FORM,
        content,
        intents: Vec::new(),
        pending: done.pending,
    };
    Ok(Some(store.save(draft).await?.id))
}

/// What the journal of a run holds.
#[derive(Default)]
struct Done {
    /// The steps that were begun.
    steps: HashSet<String>,
    /// What was begun and has no result.
    pending: Vec<EffectId>,
}

impl Done {
    async fn of(store: &dyn Store, run: RunId) -> Result<Self, StoreError> {
        let mut done = Self::default();
        let mut pages = Pages::of(PAGE);
        while let Some(entries) = pages.next(|page| store.journal(run, page)).await? {
            for entry in entries {
                let Some(place) = entry.intent.place else {
                    continue;
                };
                let kind = entry.intent.kind.as_str();
                if kind == MODEL_CALL
                    && let Some(step) = place::step_of(&place)
                {
                    done.steps.insert(step.to_owned());
                }
                // The process that resumes the run finishes a dispatch.
                if kind != DISPATCH && entry.result.is_none() {
                    done.pending.push(entry.intent.effect);
                }
            }
        }
        Ok(done)
    }
}

async fn nodes(store: &dyn Store, run: RunId) -> Result<Vec<NodeSnapshot>, StoreError> {
    let mut nodes = Vec::new();
    let mut pages = Pages::of(PAGE);
    while let Some(rows) = pages.next(|page| store.nodes(Some(run), page)).await? {
        nodes.extend(rows.into_iter().map(|(_position, row)| row.into()));
    }
    Ok(nodes)
}

/// The open questions of its agents.
async fn questions(store: &dyn Store, run: RunId) -> Result<Vec<InterruptId>, StoreError> {
    let filter = Filter {
        run: Some(run),
        ..Filter::default()
    };
    let mut open = Vec::new();
    let mut pages = Pages::of(PAGE);
    while let Some(found) = pages.next(|page| store.interrupts(&filter, page)).await? {
        let live = found
            .into_iter()
            .map(|(_position, interrupt)| interrupt)
            .filter(|it| it.state.is_live() && it.family() == Family::Question);
        open.extend(live.map(|interrupt| interrupt.id));
    }
    Ok(open)
}
