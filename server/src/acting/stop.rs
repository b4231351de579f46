//! Whom an interrupt concerns.

use control::{AgentAddress, agents_of};
use interrupts::life::{Interrupt, Scope};

use crate::app::App;
use crate::problem::Problem;

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
