//! Plans of stored runs: read, previewed, changed and decided, from any terminal.

mod text;
mod view;

use std::sync::Arc;

use agents::catalogue;
use agents::plan_execute::{
    PlanBench, PlanChange, PlanEditError, PlanPreview, PlanReadError, PlanRevision, StoredPlan,
    change_plan, escape_taking_hold, is_plan,
};
use agents::run::RunOrder;
use agents::workspace::Workspace;
use interrupts::Digest;
use interrupts::life::{Choosing, Interrupt, Judge, Verdict};
use interrupts::store::{ChangeError, Run};
use llm::{JsonSchemaConstraints, Pace, Script};
use routing_core::model::LanguageModel;
use routing_core::{DecisionId, SystemClock};

use crate::actor::actor;
use crate::exit::{Exit, Failure, causes};
use crate::keep::{gone_owner, own_name};
use crate::model::{ModelChoice, Rehearsal};
use crate::refused::{by_change, by_store};
use crate::storage::Storage;

pub(crate) use text::{Page, change_text, preview_text, short};
pub(crate) use view::{preview_json, record};

/// The fewest characters of a digest.
const FEWEST: usize = 8;

/// A run that carries out a plan, or why there is none to look at.
///
/// # Errors
///
/// [`Exit::Usage`] where the run is of another workflow.
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
/// Where the store cannot be read, or it is not there any more.
///
/// # Cancel safety
///
/// Safe: it only reads.
pub(crate) async fn again(storage: &Storage, run: &Run) -> Result<Run, Failure> {
    let found = storage.store.run(run.id).await;
    let found = found.map_err(|error| by_store(&error))?;
    found.ok_or_else(|| Failure::new(Exit::NotFound, format!("there is no {}", run.id)))
}

/// The plan of a run, as it was saved last.
///
/// # Errors
///
/// [`Exit::Conflict`] where the run has none yet.
///
/// # Cancel safety
///
/// Safe: it only reads.
pub(crate) async fn stored(storage: &Storage, run: &Run) -> Result<StoredPlan, Failure> {
    let found = StoredPlan::read(&*storage.store, run).await;
    let found = found.map_err(|error| unreadable(&error))?;
    found.ok_or_else(|| no_plan(run.id))
}

fn no_plan(run: routing_core::RunId) -> Failure {
    Failure::new(Exit::Conflict, format!("{run} has no plan yet")).hint(format!(
        "its planner makes it first; `irq ps {run}` shows how it stands"
    ))
}

/// What is stored cannot be read as a plan.
pub(crate) fn unreadable(error: &PlanReadError) -> Failure {
    match error {
        PlanReadError::Store(error) => by_store(error),
        PlanReadError::OtherForm { .. } | PlanReadError::Unreadable { .. } | _ => {
            Failure::new(Exit::Failure, causes(error))
        }
    }
}

/// Changes the plan of a run that stands still.
///
/// # Errors
///
/// Where it does not stand still, somebody else has it in hand, or the change does not fit.
///
/// # Cancel safety
///
/// Dropped, it was changed or not: `irq plan` shows it.
pub(crate) async fn change(
    storage: &Storage,
    run: &Run,
    change: PlanChange,
    if_version: Option<usize>,
) -> Result<StoredPlan, Failure> {
    let named = |error: interrupts::NameError| Failure::new(Exit::Failure, error.to_string());
    let bench = PlanBench {
        store: Arc::clone(&storage.store),
        run: run.id,
        by: actor().map_err(named)?,
        owner: own_name().map_err(named)?,
        lost: gone_owner(run),
        if_version,
        clock: Arc::new(SystemClock),
    };
    let changed = change_plan(bench, change).await;
    changed.map_err(|error| unchanged(run, &error))
}

/// A change that a model thinks of, by its words.
///
/// # Errors
///
/// Where the run's model cannot be had.
pub(crate) fn suggestion(run: &Run, request: &str) -> Result<PlanChange, Failure> {
    if request.trim().is_empty() {
        let text = "the request says nothing";
        return Err(Failure::new(Exit::Usage, text).hint("say how the plan shall change"));
    }
    Ok(PlanChange::Suggest {
        request: request.to_owned(),
        model: model_of(run)?,
        constraints: Arc::new(JsonSchemaConstraints::new()),
    })
}

/// The model that plays the agents of a run, as its order names it.
fn model_of(run: &Run) -> Result<Arc<dyn LanguageModel>, Failure> {
    let order = RunOrder::from_content(&run.content)
        .map_err(|error| Failure::new(Exit::Failure, causes(&error)))?;
    let workspace = Workspace::open(std::path::Path::new(&order.workspace))
        .map_err(|error| Failure::new(Exit::NotFound, causes(&error)).hint(error.hint()))?;
    let script = match &order.script {
        Some(text) => Some(
            Script::parse(text, &catalogue::script_vocabulary())
                .map_err(|error| Failure::new(Exit::Usage, format!("the script: {error}")))?,
        ),
        None => None,
    };
    ModelChoice::parse(&order.model, order.base_url)?.open(Rehearsal {
        seed: order.seed,
        pace: Pace::from_tokens_per_second(0),
        material: workspace.material(),
        script,
    })
}

/// Why a plan was not changed, and what may help.
fn unchanged(run: &Run, error: &PlanEditError) -> Failure {
    let run = run.id;
    let conflict = |hint: String| Failure::new(Exit::Conflict, error.to_string()).hint(hint);
    let look = format!("`irq plan {run}` shows how it stands; nothing was changed");
    match error {
        PlanEditError::NoPlan { .. } => no_plan(run),
        PlanEditError::NotHeld { state, .. } => {
            let hint = if state.is_final() {
                format!("`irq fork {run}` begins another run from one of its checkpoints")
            } else {
                format!("`irq interrupt {run} --wait` lets it stand still before its next step")
            };
            conflict(hint)
        }
        PlanEditError::Owned { .. } => conflict(format!(
            "`irq interrupt {run} --wait` stops it; then its plan can be changed"
        )),
        PlanEditError::Unclaimed {
            interrupt,
            source: source @ (ChangeError::Refused(_) | ChangeError::Unknown { .. }),
        } => by_change(*interrupt, source),
        PlanEditError::OtherVersion { .. } => conflict(look),
        PlanEditError::Refused(refused) => {
            Failure::new(Exit::Usage, refused.to_string()).hint(look)
        }
        PlanEditError::NoSuggestion { .. } => Failure::new(Exit::Failure, error.to_string()).hint(
            format!("say it in other words, or write the steps: irq plan {run} --preview @FILE"),
        ),
        PlanEditError::Unreadable(error) => unreadable(error),
        PlanEditError::Store(error) => by_store(error),
        PlanEditError::NoRun { .. } => Failure::new(Exit::NotFound, error.to_string()),
        PlanEditError::Unclaimed { .. } | PlanEditError::Unrecorded(_) | _ => {
            Failure::new(Exit::Failure, causes(error))
        }
    }
}

/// The change that is proposed for a plan.
///
/// # Errors
///
/// Where it makes no plan any more.
pub(crate) fn proposal_of(plan: &StoredPlan) -> Result<Option<PlanPreview>, Failure> {
    let proposal = plan.proposal();
    proposal.map_err(|refused| Failure::new(Exit::Failure, refused.to_string()))
}

/// Nothing is proposed that could be applied.
pub(crate) fn none_proposed(run: &Run) -> Failure {
    let text = format!("no change of the plan of {} is proposed", run.id);
    Failure::new(Exit::Conflict, text).hint(format!(
        "look at one first: irq plan {0} --suggest TEXT, or irq plan {0} --preview @FILE",
        run.id
    ))
}

/// Decides the interrupt on which a plan stands still with the change that was previewed, by its digest or the
/// beginning of it.
///
/// # Errors
///
/// [`Exit::Conflict`] where another change is proposed by now, or the plan has changed; nothing is decided then.
///
/// # Cancel safety
///
/// Dropped, it was decided or not: look to see.
pub(crate) async fn apply(
    storage: &Storage,
    run: &Run,
    digest: &str,
) -> Result<(Interrupt, PlanPreview), Failure> {
    if digest.len() < FEWEST {
        let text =
            format!("--apply: `{digest}` is too short; {FEWEST} characters tell changes apart");
        return Err(Failure::new(Exit::Usage, text));
    }
    // The interrupt is read first. Whatever changes the plan after that changes its version too, so a decision
    // about an older proposal is refused.
    let escape = escape_taking_hold(&*storage.store, run).await;
    let Some(escape) = escape.map_err(|error| by_store(&error))? else {
        return Err(not_held(run));
    };
    let run = again(storage, run).await?;
    let proposal = proposal_of(&stored(storage, &run).await?)?;
    let preview = proposal.ok_or_else(|| none_proposed(&run))?;
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
    let judge = Judge::Person {
        actor: actor().map_err(|error| Failure::new(Exit::Failure, error.to_string()))?,
        version: escape.version,
        shown: escape
            .review
            .as_ref()
            .map_or(Digest::ZERO, |review| review.shown),
    };
    let choosing = Choosing {
        id: DecisionId::generate(),
        verdict: Verdict::ModifyPlan,
        target: None,
        content: Some(revision_of(&preview, None)?),
    };
    let decided = storage.store.decide(escape.id, judge, choosing).await;
    let decided = decided.map_err(|error| by_change(escape.id, &error))?;
    storage.ring(&run).await;
    Ok((decided, preview))
}

/// A plan that nobody has stopped cannot be changed.
pub(crate) fn not_held(run: &Run) -> Failure {
    let text = format!("{} does not stand still for a person", run.id);
    Failure::new(Exit::Conflict, text).hint(format!("`irq plan {}` shows how it stands", run.id))
}

/// What a decision would do to the steps of a plan, and the content of the decision, bound to just that change.
/// `None` where it says nothing of steps.
///
/// # Errors
///
/// [`Exit::Usage`] where the steps make no plan, [`Exit::Conflict`] where another change was previewed.
///
/// # Cancel safety
///
/// Safe: it only reads.
pub(crate) async fn checked(
    storage: &Storage,
    interrupt: &Interrupt,
    verdict: Verdict,
    content: Option<&str>,
) -> Result<Option<(PlanPreview, String)>, Failure> {
    let revision = content.and_then(|content| serde_json::from_str::<PlanRevision>(content).ok());
    let Some(revision) = revision.filter(|it| verdict == Verdict::ModifyPlan && it.plan.is_some())
    else {
        return Ok(None);
    };
    let found = storage.store.run(interrupt.run).await;
    let Some(run) = found.map_err(|error| by_store(&error))?.filter(is_plan) else {
        let text = "the run carries out no plan, so no steps of it can be changed";
        return Err(Failure::new(Exit::Usage, text).hint("say it in words: --message TEXT"));
    };
    let plan = stored(storage, &run).await?;
    let preview = revision.check(plan.state()).map_err(|unfit| {
        let exit = match unfit {
            agents::plan_execute::Unfit::Other { .. } => Exit::Conflict,
            agents::plan_execute::Unfit::Refused(_) | agents::plan_execute::Unfit::Empty | _ => {
                Exit::Usage
            }
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

/// The content of the decision that applies a previewed change, and no other.
///
/// # Errors
///
/// Where it cannot be written as JSON.
pub(crate) fn revision_of(preview: &PlanPreview, input: Option<String>) -> Result<String, Failure> {
    let revision = PlanRevision {
        plan: Some(preview.plan.clone()),
        input,
        previewed: Some(preview.digest),
    };
    serde_json::to_string(&revision).map_err(|error| Failure::new(Exit::Failure, error.to_string()))
}
