//! A plan and its history, read together: what a person looks at before changing it.

use interrupts::life::Interrupt;
use interrupts::store::{Run, Store};
use serde::{Deserialize, Serialize};

use crate::observer::PlanReadError;
use crate::stored::{
    PlanVersion, StoredPlan, decided_escape, escape_taking_hold, plan_versions, unread_messages,
};

/// A plan, its versions, its interrupts, and how many messages it has not read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanReading {
    /// The plan as it was saved last.
    pub plan: StoredPlan,
    /// Its versions, the first one first.
    pub versions: Vec<PlanVersion>,
    /// The interrupt that it waits on, and whose decision may change it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub escape: Option<Interrupt>,
    /// The pause that has been decided; the decision is carried out when the run goes on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decided: Option<Interrupt>,
    /// How many messages have come for it that it has not read yet.
    pub unread: usize,
}

impl PlanReading {
    /// Reads the plan of a run; `None` if the run has saved none yet. Waits some seconds at most for a pause that has
    /// just taken effect, until it can be decided.
    ///
    /// The interrupt is read before the plan: any later change of the plan changes its version too, so a decision about
    /// an older plan is refused.
    ///
    /// # Errors
    ///
    /// [`PlanReadError`].
    ///
    /// # Cancel safety
    ///
    /// Safe: it only reads.
    pub async fn of(store: &dyn Store, run: &Run) -> Result<Option<Self>, PlanReadError> {
        let escape = escape_taking_hold(store, run).await?;
        let Some(run) = store.run(run.id).await? else {
            return Ok(None);
        };
        let Some(plan) = StoredPlan::read(store, &run).await? else {
            return Ok(None);
        };
        Ok(Some(Self {
            versions: plan_versions(store, &run).await?,
            decided: decided_escape(store, &run, &plan).await?,
            unread: unread_messages(store, &run, &plan).await?,
            escape,
            plan,
        }))
    }
}
