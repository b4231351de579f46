//! What a suggestion may cost: it is paid from what its run may spend in all.

use std::sync::Arc;

use agents::plan_execute::PlanChange;
use agents::run::RunOrder;
use engine::run::RunUse;
use interrupt_router::model::LanguageModel;
use interrupts::money::{CallBound, Usage};
use interrupts::store::{Run, Store};

use crate::exit::{Exit, Failure, causes};
use crate::spending::{self, RefusedCallSays, Spending};

/// The change; if a model proposes it, its calls are paid from what the run may spend in all, and from what a server
/// `allows` it. What the run has used before counts.
///
/// # Errors
///
/// If no call can be paid, the model has no price, or what the run has used cannot be read.
///
/// # Cancel safety
///
/// Safe: it only reads.
pub(crate) async fn paid(
    store: &dyn Store,
    run: &Run,
    change: PlanChange,
    allows: Option<Spending>,
) -> Result<PlanChange, Failure> {
    Ok(match change {
        PlanChange::Suggest {
            request,
            model,
            constraints,
        } => PlanChange::Suggest {
            request,
            model: paying(store, run, model, allows).await?,
            constraints,
        },
        change @ (PlanChange::Propose { .. } | PlanChange::Undo | PlanChange::Redo) => change,
    })
}

async fn paying(
    store: &dyn Store,
    run: &Run,
    model: Arc<dyn LanguageModel>,
    allows: Option<Spending>,
) -> Result<Arc<dyn LanguageModel>, Failure> {
    let order = RunOrder::from_content(&run.content)
        .map_err(|error| Failure::new(Exit::Failure, causes(&error)))?;
    let used = RunUse::of(store, run.id).await?;
    let allowance = used.allowance.unwrap_or(order.allowance);
    let own = allowance.budget.as_ref().map(Spending::ordered);
    let spending = [own.transpose()?, allows].into_iter().flatten();
    let Some(spending) = spending.min_by_key(|spending| spending.limit) else {
        return Ok(model);
    };
    let sink = Arc::new(RefusedCallSays);
    let budget = spending.budget(model.name(), &used.calls, sink)?;
    let probe = budget.reserve(model.name(), 0, CallBound::default().longest_answer);
    probe
        .map_err(|refusal| too_dear(run, &refusal.to_string()))?
        .settle(Usage::NOT_BILLED);
    spending::paying(model, budget)
}

/// The failure if the budget of a run does not cover a suggestion.
fn too_dear(run: &Run, reached: &str) -> Failure {
    let text = format!("the model was not asked: {reached}");
    Failure::new(Exit::Failure, text).hint(format!(
        "write the steps yourself: irq plan {0} --preview @FILE; `irq resume {0} --budget-usd AMOUNT` allows more",
        run.id
    ))
}
