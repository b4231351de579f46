//! What callers do, whether by REST, over a socket or on the page: the same for all three.

mod decide;
mod plan;
mod plan_change;
mod publish;
mod readable;
mod resume;
mod rule;
mod stop;

pub(crate) use decide::{DecideOutcome, DecisionOrder, RefusedAt, decide, decide_all};
pub(crate) use plan::plan_of;
pub(crate) use plan_change::{PlanChangeOrder, change_plan, reading_of};
pub(crate) use publish::publish;
pub(crate) use resume::{KeyedResume, resume};
pub(crate) use rule::{make_rule, revoke_rule, rule_named};
pub(crate) use stop::affected;

use control::{Caller, no_interrupt};
use interrupt_router::{InterruptId, RunId};

use crate::app::App;
use crate::problem::Problem;
use interrupts::life::Interrupt;

/// The longest key that a caller may give to a request.
const LONGEST_KEY: usize = 200;

/// Reads an interrupt by the text of its id.
pub(crate) async fn interrupt_named(app: &App, text: &str) -> Result<Interrupt, Problem> {
    let id: InterruptId = text.parse().map_err(|_error| no_interrupt(text))?;
    let interrupt = app.store().interrupt(id).await?;
    Ok(interrupt.ok_or_else(|| no_interrupt(text))?)
}

/// The key that a caller gave to a request, validated.
pub(crate) fn checked_key(key: Option<&str>) -> Result<Option<String>, Problem> {
    match key {
        None => Ok(None),
        Some(key)
            if !key.is_empty()
                && key.len() <= LONGEST_KEY
                && key.bytes().all(|byte| byte.is_ascii_graphic()) =>
        {
            Ok(Some(key.to_owned()))
        }
        Some(_) => Err(crate::parameters::wrong(
            "Idempotency-Key",
            format!("1 to {LONGEST_KEY} visible ASCII characters"),
        )),
    }
}

/// The id of a run that a caller starts: derived from the caller's key, so that a repeated request has the same.
pub(crate) fn run_id(caller: &Caller, key: Option<&str>) -> RunId {
    match key {
        Some(key) => RunId::from_uuid(caller.keyed("run", key)),
        None => RunId::generate(),
    }
}
