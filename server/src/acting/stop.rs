//! Interrupting an agent or a run.

use control::{AgentAddress, Caller, FoundAgent, Requester, StopOrder, agents_of};
use interrupts::life::{Interrupt, Scope};
use interrupts::store::Admitted;

use crate::app::App;
use crate::parameters::wrong;
use crate::problem::Problem;

/// Requests a stop of an agent. It is recorded when this returns, but not applied yet. What is known already is under way;
/// if this one is harder, it is raised to it.
pub(crate) async fn stop(
    app: &App,
    caller: &Caller,
    agent: &FoundAgent,
    order: StopOrder,
    key: Option<String>,
) -> Result<Admitted, Problem> {
    let catalogue = app.catalogue_of_run(&agent.run).await?;
    let target = agent.target(catalogue.as_deref());
    let key = caller.request_key("stop", key.as_deref());
    let key = key.map_err(|error| wrong("Idempotency-Key", error.to_string()))?;
    let (control, by) = (app.control(), Requester::of(caller));
    let admitted = control.stop(&target, &order, by, key).await?;
    app.wake(&agent.run);
    Ok(admitted)
}

/// The agents that an interrupt concerns: those in its scope that have not ended.
pub(crate) async fn affected(app: &App, interrupt: &Interrupt) -> Result<Vec<String>, Problem> {
    let rows = agents_of(app.store(), interrupt.run).await?;
    Ok(rows
        .into_iter()
        .filter(|row| !row.activity.is_final())
        .filter(|row| interrupt.scope == Scope::Run || row.node.is_within(&interrupt.node))
        .map(|row| {
            let address = AgentAddress {
                run: row.run,
                node: row.node,
            };
            address.to_string()
        })
        .collect())
}
