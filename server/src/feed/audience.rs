//! Which events of the feed reach a caller.

use control::Caller;
use interrupts::store::{Store, TokenScope};

use super::Filter;
use crate::problem::Problem;

/// The events of the feed that the caller gets: those requested, as far as the caller reaches.
pub(crate) async fn heard_by(
    caller: &Caller,
    store: &dyn Store,
    filter: Filter,
    run: Option<&str>,
    agent: Option<&str>,
) -> Result<Filter, Problem> {
    let mut filter = filter;
    if let Some(TokenScope::Run { run, node }) = &caller.reach.0 {
        filter.run = Some(*run);
        filter.node.clone_from(node);
    }
    if let Some(run) = run {
        filter.run = Some(caller.reach.run(store, run).await?.id);
    }
    if let Some(agent) = agent {
        let found = caller.reach.agent(store, agent).await?;
        filter.run = Some(found.run.id);
        filter.node = Some(found.node.node);
    }
    Ok(filter)
}
