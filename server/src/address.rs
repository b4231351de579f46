//! Addresses of agents: `RUN/NODE`, or only the node's id if one live run has it.

use std::fmt::{self, Display};

use control::Target;
use interrupts::catalogue::Catalogue;
use interrupts::life::RunState;
use interrupts::store::{NodeRow, Page, Pages, Run};
use routing_core::{NodeId, RunId};

use crate::app::App;
use crate::problem::{Code, Problem};

/// The states of runs that are under way.
pub(crate) const LIVE: [RunState; 5] = [
    RunState::Created,
    RunState::Running,
    RunState::Stopping,
    RunState::Paused,
    RunState::Waiting,
];

/// How many runs or nodes are read at once.
const CHUNK: u32 = 500;

/// The full address of an agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct AgentAddress {
    pub(crate) run: RunId,
    pub(crate) node: NodeId,
}

impl Display for AgentAddress {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}/{}", self.run, self.node)
    }
}

/// An agent that was found.
#[derive(Debug, Clone)]
pub(crate) struct Found {
    pub(crate) run: Run,
    pub(crate) node: NodeRow,
}

impl Found {
    /// Its full address.
    pub(crate) fn address(&self) -> AgentAddress {
        AgentAddress {
            run: self.run.id,
            node: self.node.node.clone(),
        }
    }

    /// The agent as the target of a request, with the catalogue of its run.
    pub(crate) fn target<'a>(&'a self, catalogue: Option<&'a Catalogue>) -> Target<'a> {
        Target {
            run: &self.run,
            node: &self.node.node,
            kind: &self.node.kind,
            catalogue,
        }
    }
}

/// Finds the agent at an address.
pub(crate) async fn find_agent(app: &App, text: &str) -> Result<Found, Problem> {
    if let Some((run, node)) = text.split_once('/')
        && let (Ok(run), Ok(node)) = (run.parse(), NodeId::new(node))
    {
        return in_run(app, app.run(run).await?, &node, text).await;
    }
    if let Ok(run) = text.parse() {
        return first_of(app, app.run(run).await?).await;
    }
    let node = NodeId::new(text).map_err(|_error| nobody(text))?;
    let mut found = everywhere(app, &node).await?;
    match (found.pop(), found.is_empty()) {
        (None, _) => Err(nobody(text)),
        (Some(one), true) => Ok(one),
        (Some(last), false) => {
            found.push(last);
            let addresses: Vec<String> = found
                .iter()
                .map(|agent| agent.address().to_string())
                .collect();
            Err(Problem::new(
                Code::AmbiguousAgent,
                format!("{} runs have an agent `{text}`", addresses.len()),
                format!("use the full address, as `{}`", addresses[0]),
            )
            .with("agents", addresses))
        }
    }
}

/// An agent of a run.
pub(crate) async fn in_run(
    app: &App,
    run: Run,
    node: &NodeId,
    text: &str,
) -> Result<Found, Problem> {
    let row = app.store().node(run.id, node).await?;
    row.map(|node| Found { run, node })
        .ok_or_else(|| nobody(text))
}

/// The first agent of a run, from which all others come.
pub(crate) async fn first_of(app: &App, run: Run) -> Result<Found, Problem> {
    let page = Page { after: 0, limit: 1 };
    let nodes = app.store().nodes(Some(run.id), page).await?;
    match nodes.into_iter().next() {
        Some((_position, node)) => Ok(Found { run, node }),
        None => Err(nobody(&run.id.to_string())),
    }
}

/// All agents of a run, in the order in which they came to be.
pub(crate) async fn agents_of(app: &App, run: RunId) -> Result<Vec<NodeRow>, Problem> {
    let all = Pages::of(CHUNK).values(|page| app.store().nodes(Some(run), page));
    Ok(all.await?)
}

/// All runs that are not over, in the order of their creation.
pub(crate) async fn live_runs(app: &App) -> Result<Vec<Run>, Problem> {
    let all = Pages::of(CHUNK).values(|page| app.store().runs(&LIVE, page));
    Ok(all.await?)
}

async fn everywhere(app: &App, node: &NodeId) -> Result<Vec<Found>, Problem> {
    let mut found = Vec::new();
    for run in live_runs(app).await? {
        let row = app.store().node(run.id, node).await?;
        found.extend(row.map(|node| Found { run, node }));
    }
    Ok(found)
}

/// The problem for an unknown agent.
pub(crate) fn nobody(text: &str) -> Problem {
    Problem::new(
        Code::AgentNotFound,
        format!("there is no agent `{text}`"),
        "`irq ps` lists the agents with their addresses",
    )
}
