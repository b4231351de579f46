//! Interrupting an agent or a run.

use control::{
    AgentAddress, Caller, FoundAgent, Right, StopOrder, StopRequester, agents_of, not_asked,
};
use interrupts::life::{Interrupt, Scope};
use interrupts::manager::StopCause;
use interrupts::store::Admitted;
use routing_core::StopSource;

use super::request_key;
use crate::app::App;
use crate::problem::Problem;

/// The result of requesting a stop.
#[derive(Debug)]
pub(crate) enum StopResult {
    /// It is new.
    New(Interrupt),
    /// One is under way already; if this one is harder, the stop is raised to it.
    UnderWay(Interrupt),
}

impl StopResult {
    /// The interrupt.
    pub(crate) fn interrupt(&self) -> &Interrupt {
        match self {
            Self::New(interrupt) | Self::UnderWay(interrupt) => interrupt,
        }
    }
}

/// Requests a stop of an agent. It is recorded when this returns, but not applied yet.
pub(crate) async fn stop(
    app: &App,
    caller: &Caller,
    agent: &FoundAgent,
    order: StopOrder,
    key: Option<String>,
) -> Result<StopResult, Problem> {
    Right::Request.demand(caller)?;
    let catalogue = app.catalogue_of_run(&agent.run).await?;
    let target = agent.target(catalogue.as_deref());
    order.check(&target).map_err(not_asked)?;
    if order.scope == Scope::Run {
        caller.reach.demand_whole_run()?;
    }
    if order.ends_run(&target) {
        Right::Direct.demand(caller)?;
    }
    let key = request_key(caller, "stop", key.as_deref())?;
    let (control, by) = (app.control(), asker(caller));
    let admitted = control.stop(&target, &order, by, key).await?;
    app.wake(&agent.run);
    Ok(match admitted {
        Admitted::New(interrupt) => StopResult::New(interrupt),
        Admitted::Known(interrupt) => StopResult::UnderWay(interrupt),
    })
}

/// The requester, in the store's form.
pub(super) fn asker(caller: &Caller) -> StopRequester {
    let source = source_of(caller);
    StopRequester {
        actor: caller.actor.clone(),
        source,
        cause: match source {
            StopSource::User => StopCause::UserEscape,
            StopSource::Programmatic | StopSource::System => StopCause::Code,
        },
    }
}

/// An agent's token speaks for a program, all others for people.
fn source_of(caller: &Caller) -> StopSource {
    if caller.actor.role == interrupts::life::Role::Requester {
        StopSource::Programmatic
    } else {
        StopSource::User
    }
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
