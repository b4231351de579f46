//! Plans of stored runs: read, previewed, changed and decided, from any terminal.

mod paying;
mod text;
mod view;

use std::sync::Arc;

use agents::plan_execute::{PlanChange, PlanEditing};
use agents::run::RunOrder;
use agents::workspace::Workspace;
use control::{AskCheckpoints, AskPlan, DecisionParts, NewDecision, no_plan, plan_not_read};
use interrupts::SystemClock;
use interrupts::life::{Actor, Interrupt, Verdict};
use interrupts::store::{CheckpointId, Page as Rows, Run, Store};
use llm::{JsonSchemaConstraints, Pace, RehearsalConfig};
use planning::{PlanChangeRequest, PlanPreview, PlanReading, PlanRevision, StoredPlan, is_plan};

use crate::backend::Backend;
use crate::exit::{Exit, Failure, causes};
use crate::model::{Manner, ModelChoice, OpenedModel};
use crate::refused::by_invalid;
use crate::run_owner::{gone_owner, own_name};
use crate::spending::Spending;
use crate::workflows;

pub(crate) use text::{PlanPage, change_text, preview_text, short};
pub(crate) use view::{preview_json, record};

/// The fewest characters of a digest.
const FEWEST: usize = 8;

/// Refuses a run that does not carry out a plan.
///
/// # Errors
///
/// [`Exit::Usage`] if the run is of another workflow.
pub(crate) fn refuse_other_workflow(run: &Run) -> Result<(), Failure> {
    if is_plan(run) {
        return Ok(());
    }
    let text = format!("{} carries out no plan of steps", run.id);
    Err(Failure::new(Exit::Usage, text).hint(format!(
        "`irq ps -v {}` shows what its agents do; `irq run --workflow plan-execute` makes a plan",
        run.id
    )))
}

/// The run as it is now.
///
/// # Errors
///
/// If the backend cannot be read, or the run is not there any more.
///
/// # Cancel safety
///
/// Safe: it only reads.
pub(crate) async fn again(at: &dyn Backend, run: &Run) -> Result<Run, Failure> {
    let found = at.run(run.id).await?;
    found.ok_or_else(|| Failure::new(Exit::NotFound, format!("there is no {}", run.id)))
}

/// The plan of a run, as it was saved last; `None` if it has saved none yet.
///
/// # Errors
///
/// If the backend cannot be read, or has no plan there.
///
/// # Cancel safety
///
/// Safe: it only reads.
pub(crate) async fn saved(at: &dyn Backend, run: &Run) -> Result<Option<StoredPlan>, Failure> {
    match run.goes_on_from() {
        Some(place) => saved_at(at, place).await,
        None => Ok(None),
    }
}

/// The plan in a checkpoint.
///
/// # Errors
///
/// As [`saved`].
///
/// # Cancel safety
///
/// Safe: it only reads.
pub(crate) async fn saved_at(
    at: &dyn Backend,
    place: CheckpointId,
) -> Result<Option<StoredPlan>, Failure> {
    let page = Rows {
        after: place.number.saturating_sub(1),
        limit: 1,
    };
    let run = place.run;
    let found = at.ask(AskCheckpoints { run, page }).await?;
    let checkpoint = found.first().filter(|checkpoint| checkpoint.id == place);
    let plan = checkpoint.map(StoredPlan::of).transpose();
    Ok(plan.map_err(plan_not_read)?)
}

/// The plan of a run with all its details.
///
/// # Errors
///
/// [`Exit::Conflict`] if the run has none yet.
///
/// # Cancel safety
///
/// Safe: it only reads.
pub(crate) async fn read(at: &dyn Backend, run: &Run) -> Result<PlanReading, Failure> {
    let reading = at.ask(AskPlan { run: run.id }).await?;
    Ok(reading.ok_or_else(|| no_plan(run.id))?)
}

/// What changes a plan in this process.
///
/// # Errors
///
/// If this process cannot be named.
pub(crate) fn bench(
    store: &Arc<dyn Store>,
    run: &Run,
    by: Actor,
    if_version: Option<usize>,
) -> Result<PlanEditing, Failure> {
    let owner = own_name().map_err(|error| Failure::new(Exit::Failure, error.to_string()))?;
    Ok(PlanEditing {
        store: Arc::clone(store),
        run: run.id,
        by,
        owner,
        lost: gone_owner(run),
        if_version,
        clock: Arc::new(SystemClock),
    })
}

/// A change with the model that it needs. Its calls are paid from what the run may spend in all, and from what a server
/// `allows` it; what the run has used before counts.
///
/// # Errors
///
/// If the run's model cannot be opened or has no price, no call can be paid, or what the run has used cannot be read.
///
/// # Cancel safety
///
/// Safe: it only reads.
pub(crate) async fn wanted(
    store: &dyn Store,
    run: &Run,
    wish: PlanChangeRequest,
    allows: Option<Spending>,
) -> Result<PlanChange, Failure> {
    Ok(match wish {
        PlanChangeRequest::Propose { tasks } => PlanChange::Propose { tasks },
        PlanChangeRequest::Suggest { request } => PlanChange::Suggest {
            request,
            model: paying::model(store, run, allows).await?,
            constraints: Arc::new(JsonSchemaConstraints::new()),
        },
        PlanChangeRequest::Undo => PlanChange::Undo,
        PlanChangeRequest::Redo => PlanChange::Redo,
    })
}

/// A change that a model proposes for these words.
///
/// # Errors
///
/// [`Exit::Usage`] if there are none.
pub(crate) fn suggestion(request: &str) -> Result<PlanChangeRequest, Failure> {
    if request.trim().is_empty() {
        let text = "the request says nothing";
        return Err(Failure::new(Exit::Usage, text).hint("say how the plan shall change"));
    }
    let request = request.to_owned();
    Ok(PlanChangeRequest::Suggest { request })
}

/// The model that plays the agents of a run.
fn model_of(order: &RunOrder) -> Result<OpenedModel, Failure> {
    let workspace = Workspace::open(std::path::Path::new(&order.workspace))
        .map_err(|error| Failure::new(Exit::NotFound, causes(&error)).hint(error.hint()))?;
    let script = match &order.script {
        Some(text) => Some(
            workflows::script(&order.workflow, text)
                .map_err(|error| Failure::new(Exit::Usage, format!("the script: {error}")))?,
        ),
        None => None,
    };
    let rehearsal = RehearsalConfig {
        seed: order.seed,
        pace: Pace::from_tokens_per_second(0),
        facts: workspace.facts(),
        script,
    };
    let choice = ModelChoice::parse(&order.model, order.base_url.clone())?;
    choice.open(rehearsal, &Manner::default())
}

/// The change that is proposed for a plan.
///
/// # Errors
///
/// If it does not make a plan any more.
pub(crate) fn proposal_of(plan: &StoredPlan) -> Result<Option<PlanPreview>, Failure> {
    let proposal = plan.proposal();
    proposal.map_err(|refused| Failure::new(Exit::Failure, refused.to_string()))
}

/// The failure if no change is proposed that could be applied.
pub(crate) fn none_proposed(run: &Run) -> Failure {
    let text = format!("no change of the plan of {} is proposed", run.id);
    Failure::new(Exit::Conflict, text).hint(format!(
        "look at one first: irq plan {0} --suggest TEXT, or irq plan {0} --preview @FILE",
        run.id
    ))
}

/// Decides the interrupt that a plan waits for, with the change that was previewed, by its digest or the beginning of
/// it.
///
/// # Errors
///
/// [`Exit::Conflict`] if another change is proposed by now, or the plan has changed; nothing is decided then.
///
/// # Cancel safety
///
/// Dropped, it was decided or not: look to see.
pub(crate) async fn apply(
    at: &dyn Backend,
    run: &Run,
    digest: &str,
) -> Result<(Interrupt, PlanPreview), Failure> {
    if digest.len() < FEWEST {
        let text =
            format!("--apply: `{digest}` is too short; {FEWEST} characters tell changes apart");
        return Err(Failure::new(Exit::Usage, text));
    }
    // The interrupt is read before the plan. Any change of the plan after that changes its version too, so a decision
    // about an older proposal is refused.
    let reading = read(at, run).await?;
    let Some(escape) = &reading.escape else {
        return Err(not_held(run));
    };
    let proposal = proposal_of(&reading.plan)?;
    let preview = proposal.ok_or_else(|| none_proposed(run))?;
    if !preview
        .digest
        .to_string()
        .starts_with(&digest.to_lowercase())
    {
        let text = format!(
            "the change that is proposed now is {}, not {digest}; nothing was applied",
            short(&preview.digest)
        );
        return Err(Failure::new(Exit::Conflict, text)
            .hint(format!("`irq plan {}` shows what is proposed", run.id)));
    }
    let decision = NewDecision {
        version: Some(escape.version),
        shown: escape.review.as_ref().map(|review| review.shown),
        parts: revision_of(&preview, None)?,
        remember: None,
    };
    let decided = at.decide(escape.id, decision).await?;
    Ok((decided, preview))
}

/// A plan that was not stopped for a person cannot be changed.
pub(crate) fn not_held(run: &Run) -> Failure {
    let text = format!("{} is not paused for review", run.id);
    Failure::new(Exit::Conflict, text).hint(format!("`irq plan {}` shows the plan", run.id))
}

/// What a decision would do to the steps of a plan, and the decision, bound to just that change. `None` if it does not
/// concern steps.
///
/// # Errors
///
/// [`Exit::Usage`] if the steps make no plan, [`Exit::Conflict`] if another change was previewed.
///
/// # Cancel safety
///
/// Safe: it only reads.
pub(crate) async fn checked(
    at: &dyn Backend,
    interrupt: &Interrupt,
    parts: &DecisionParts,
) -> Result<Option<(PlanPreview, DecisionParts)>, Failure> {
    if !parts.revises_plan() {
        return Ok(None);
    }
    let revision = parts.revision();
    let revision = revision.map_err(|error| by_invalid(interrupt, parts.verdict, &error))?;
    let Some(run) = at.run(interrupt.run).await?.filter(is_plan) else {
        let text = "the run carries out no plan, so no steps of it can be changed";
        return Err(Failure::new(Exit::Usage, text).hint("say it in words: --message TEXT"));
    };
    let plan = saved(at, &run)
        .await?
        .ok_or_else(|| Failure::from(no_plan(run.id)))?;
    let preview = revision.check(plan.state()).map_err(|unfit| {
        let exit = match unfit {
            planning::RevisionError::Other { .. } => Exit::Conflict,
            planning::RevisionError::Refused(_) | planning::RevisionError::Empty | _ => Exit::Usage,
        };
        Failure::new(exit, format!("plan: {unfit}")).hint(format!(
            "`irq plan {} --preview` shows what steps would do",
            run.id
        ))
    })?;
    let Some(preview) = preview else {
        return Ok(None);
    };
    let bound = revision_of(&preview, revision.input);
    Ok(Some((preview, bound?)))
}

/// The decision that applies a previewed change, and no other.
///
/// # Errors
///
/// If it cannot be written as JSON.
pub(crate) fn revision_of(
    preview: &PlanPreview,
    input: Option<String>,
) -> Result<DecisionParts, Failure> {
    let revision = PlanRevision {
        plan: Some(preview.plan.clone()),
        input,
        previewed: Some(preview.digest),
    };
    let payload = serde_json::to_value(&revision)
        .map_err(|error| Failure::new(Exit::Failure, error.to_string()))?;
    Ok(DecisionParts {
        payload: Some(payload),
        ..DecisionParts::new(Verdict::ModifyPlan)
    })
}
