//! What a suggestion may cost: it is paid from what its run may spend in all.

use std::sync::Arc;

use agents::run::RunOrder;
use engine::run::RunUse;
use interrupt_router::model::LanguageModel;
use interrupts::money::{CallBound, Usage};
use interrupts::store::{Run, Store};

use super::model_of;
use crate::exit::{Exit, Failure, causes};
use crate::spending::{RefusedCallSays, Spending};

/// The model that plays the agents of a run, its calls paid.
pub(super) async fn model(
    store: &dyn Store,
    run: &Run,
    allows: Option<Spending>,
) -> Result<Arc<dyn LanguageModel>, Failure> {
    let order = RunOrder::from_content(&run.content)
        .map_err(|error| Failure::new(Exit::Failure, causes(&error)))?;
    let opened = model_of(&order)?;
    let used = RunUse::of(store, run.id).await?;
    let allowance = used.allowance.unwrap_or(order.allowance);
    let own = allowance.budget.as_ref().map(Spending::ordered);
    let spending = [own.transpose()?, allows].into_iter().flatten();
    let Some(spending) = spending.min_by_key(|spending| spending.limit) else {
        return opened.paid(None);
    };
    let budget = spending.budget(&opened, &used.calls, Arc::new(RefusedCallSays))?;
    if let Some(first) = opened.names().next() {
        let probe = budget.reserve(first, 0, CallBound::default().longest_answer);
        probe
            .map_err(|refusal| too_dear(run, &refusal.to_string()))?
            .settle(Usage::NOT_BILLED);
    }
    opened.paid(Some(&budget))
}

/// The failure if the budget of a run does not cover a suggestion.
fn too_dear(run: &Run, reached: &str) -> Failure {
    let text = format!("the model was not asked: {reached}");
    Failure::new(Exit::Failure, text).hint(format!(
        "write the steps yourself: irq plan {0} --preview @FILE; `irq resume {0} --budget-usd AMOUNT` allows more",
        run.id
    ))
}
