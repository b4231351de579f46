//! Addresses of agents: `RUN/NODE`, or only the node's id if one live run has it.

use std::fmt::{self, Display};

use interrupt_router::{NodeId, RunId};
use interrupts::catalogue::Catalogue;
use interrupts::life::RunState;
use interrupts::store::{NodeRow, Page, Pages, Run, Store};

use crate::refusal::{Code, NotDone, Refusal, no_agent, no_run};
use crate::request::Target;

/// The states of runs that are under way.
pub const LIVE: [RunState; 5] = [
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
pub struct AgentAddress {
    /// Its run.
    pub run: RunId,
    /// Its id.
    pub node: NodeId,
}

impl Display for AgentAddress {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}/{}", self.run, self.node)
    }
}

/// An agent that was found.
#[derive(Debug, Clone)]
pub struct FoundAgent {
    /// Its run.
    pub run: Run,
    /// The agent.
    pub node: NodeRow,
}

impl FoundAgent {
    /// Its full address.
    pub fn address(&self) -> AgentAddress {
        AgentAddress {
            run: self.run.id,
            node: self.node.node.clone(),
        }
    }

    /// The agent as the target of a request, with the catalogue of its run.
    pub fn target<'a>(&'a self, catalogue: Option<&'a Catalogue>) -> Target<'a> {
        Target {
            run: &self.run,
            node: &self.node.node,
            kind: &self.node.kind,
            catalogue,
        }
    }
}

/// Finds the agent at an address.
pub(crate) async fn find_agent(store: &dyn Store, text: &str) -> Result<FoundAgent, NotDone> {
    if let Some((run, node)) = text.split_once('/')
        && let (Ok(run), Ok(node)) = (run.parse(), NodeId::new(node))
    {
        return in_run(store, run_with(store, run).await?, &node, text).await;
    }
    if let Ok(run) = text.parse() {
        return first_agent(store, run_with(store, run).await?).await;
    }
    let node = NodeId::new(text).map_err(|_error| no_agent(text))?;
    let mut found = everywhere(store, &node).await?;
    match (found.pop(), found.is_empty()) {
        (None, _) => Err(no_agent(text).into()),
        (Some(one), true) => Ok(one),
        (Some(last), false) => {
            found.push(last);
            let addresses: Vec<String> = found
                .iter()
                .map(|agent| agent.address().to_string())
                .collect();
            let refusal = Refusal::new(
                Code::AmbiguousAgent,
                format!("{} runs have an agent `{text}`", addresses.len()),
                format!("use the full address, as `{}`", addresses[0]),
            );
            Err(refusal.with("agents", addresses).into())
        }
    }
}

async fn run_with(store: &dyn Store, id: RunId) -> Result<Run, NotDone> {
    let run = store.run(id).await.map_err(NotDone::Store)?;
    run.ok_or_else(|| no_run(&id.to_string()).into())
}

/// An agent of a run; `text` is what the caller called it.
///
/// # Errors
///
/// [`Code::AgentNotFound`], or the store failed.
///
/// # Cancel safety
///
/// Safe, as all of these: it only reads.
pub async fn in_run(
    store: &dyn Store,
    run: Run,
    node: &NodeId,
    text: &str,
) -> Result<FoundAgent, NotDone> {
    let row = store.node(run.id, node).await.map_err(NotDone::Store)?;
    row.map(|node| FoundAgent { run, node })
        .ok_or_else(|| no_agent(text).into())
}

/// The first agent of a run, from which all others come.
///
/// # Errors
///
/// [`Code::AgentNotFound`] if it has none yet, or the store failed.
pub async fn first_agent(store: &dyn Store, run: Run) -> Result<FoundAgent, NotDone> {
    let page = Page { after: 0, limit: 1 };
    let nodes = store.nodes(Some(run.id), page).await;
    match nodes.map_err(NotDone::Store)?.into_iter().next() {
        Some((_position, node)) => Ok(FoundAgent { run, node }),
        None => Err(no_agent(&run.id.to_string()).into()),
    }
}

/// All agents of a run, in the order in which they came to be.
///
/// # Errors
///
/// The store failed.
pub async fn agents_of(store: &dyn Store, run: RunId) -> Result<Vec<NodeRow>, NotDone> {
    let all = Pages::of(CHUNK).values(|page| store.nodes(Some(run), page));
    all.await.map_err(NotDone::Store)
}

/// All runs that are not over, in the order of their creation.
///
/// # Errors
///
/// The store failed.
pub async fn live_runs(store: &dyn Store) -> Result<Vec<Run>, NotDone> {
    let all = Pages::of(CHUNK).values(|page| store.runs(&LIVE, page));
    all.await.map_err(NotDone::Store)
}

async fn everywhere(store: &dyn Store, node: &NodeId) -> Result<Vec<FoundAgent>, NotDone> {
    let mut found = Vec::new();
    for run in live_runs(store).await? {
        let row = store.node(run.id, node).await.map_err(NotDone::Store)?;
        found.extend(row.map(|node| FoundAgent { run, node }));
    }
    Ok(found)
}
