//! An agent as callers see it.

use std::collections::{BTreeMap, BTreeSet};

use control::AgentAddress;
use interrupt_router::{NodeId, RunId};
use interrupts::catalogue::Catalogue;
use interrupts::life::{Interrupt, RunState};
use interrupts::store::{CallWait, NodeActivity, NodeRow};
use jiff::Timestamp;
use serde::Serialize;
use utoipa::ToSchema;

use super::names::ActivityName;

/// What agents can do.
pub(crate) const ACTIVITIES: [NodeActivity; 9] = [
    NodeActivity::Pending,
    NodeActivity::Ready,
    NodeActivity::Running,
    NodeActivity::WaitingReview,
    NodeActivity::Paused,
    NodeActivity::Completed,
    NodeActivity::Failed,
    NodeActivity::Cancelled,
    NodeActivity::Pruned,
];

/// An agent as callers see it.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct AgentView {
    /// Its full address.
    pub(crate) agent_id: String,
    /// Its id in its run.
    pub(crate) node_id: String,
    /// Its kind.
    pub(crate) agent_type: String,
    /// The agent that started it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) parent_id: Option<String>,
    /// Its run.
    pub(crate) run_id: String,
    /// What it does.
    #[schema(value_type = ActivityName)]
    pub(crate) status: String,
    /// Since when.
    pub(crate) since: String,
    /// The step of its run that it took last.
    pub(crate) current_step: u32,
    /// How many answers it was asked for.
    pub(crate) turn: u32,
    /// The tokens that its model calls have read and written, as far as the provider said.
    pub(crate) tokens: u64,
    /// What the call to its model waits for, where it is made again after a wait.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) waits: Option<WaitView>,
    /// Whether a message or an event can reach it.
    pub(crate) takes_messages: bool,
    /// Its open interrupts.
    pub(crate) open_interrupts: Vec<String>,
    /// Where an answer to its interrupt may be sent.
    pub(crate) can_route_to: Vec<String>,
}

/// A call to a model that failed and is made again.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct WaitView {
    /// Why, in a few words.
    pub(crate) why: String,
    /// When it is made again.
    pub(crate) until: String,
}

impl WaitView {
    fn of(wait: &CallWait) -> Self {
        Self {
            why: wait.why.clone(),
            until: wait.until.to_string(),
        }
    }
}

/// A part of the list of agents.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct AgentPage {
    /// The agents.
    pub(crate) agents: Vec<AgentView>,
    /// Where the next part begins; absent at the end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) next_cursor: Option<String>,
}

/// An agent with those that it started.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct TreeNode {
    /// The agent.
    #[serde(flatten)]
    pub(crate) agent: AgentView,
    /// Those that it started.
    #[schema(no_recursion)]
    pub(crate) children: Vec<TreeNode>,
}

impl AgentView {
    /// An agent of a run in this state, with those of the open interrupts that are its own.
    pub(crate) fn of(
        row: &NodeRow,
        run: RunState,
        catalogue: Option<&Catalogue>,
        open: &[Interrupt],
        now: Timestamp,
    ) -> Self {
        let activity = row.activity_in(run, open);
        let own = open
            .iter()
            .filter(|one| one.run == row.run && one.node == row.node);
        let at = |node: &NodeId| AgentAddress {
            run: row.run,
            node: node.clone(),
        };
        Self {
            agent_id: at(&row.node).to_string(),
            node_id: row.node.to_string(),
            agent_type: row.kind.as_str().to_owned(),
            parent_id: row.node.parent().map(|parent| at(&parent).to_string()),
            run_id: row.run.to_string(),
            status: activity.name().to_owned(),
            since: row.since.to_string(),
            current_step: row.step,
            turn: row.turn,
            tokens: row.tokens,
            waits: row.waits_at(activity, now).map(WaitView::of),
            takes_messages: row.takes_messages,
            open_interrupts: own.map(|interrupt| interrupt.id.to_string()).collect(),
            can_route_to: ways_of(row, catalogue),
        }
    }
}

fn ways_of(row: &NodeRow, catalogue: Option<&Catalogue>) -> Vec<String> {
    let agent_routes = catalogue.and_then(|it| it.agent_routes(Some(&row.kind)));
    let routes = agent_routes.map_or_else(Vec::new, |agent_routes| agent_routes.routes);
    routes
        .iter()
        .map(|route| route.as_str().to_owned())
        .collect()
}

/// The agents of a run as a tree. An agent whose parent is not in the run is at the top.
pub(crate) fn tree_of(run: RunId, agents: Vec<AgentView>) -> Vec<TreeNode> {
    let known: BTreeSet<String> = agents.iter().map(|agent| agent.agent_id.clone()).collect();
    let mut below: BTreeMap<Option<String>, Vec<AgentView>> = BTreeMap::new();
    for agent in agents {
        let parent = agent
            .parent_id
            .clone()
            .filter(|parent| known.contains(parent));
        below.entry(parent).or_default().push(agent);
    }
    tracing::trace!(%run, "made a tree");
    children(&mut below, &None)
}

fn children(
    below: &mut BTreeMap<Option<String>, Vec<AgentView>>,
    parent: &Option<String>,
) -> Vec<TreeNode> {
    let agents = below.remove(parent).unwrap_or_default();
    agents
        .into_iter()
        .map(|agent| {
            let id = Some(agent.agent_id.clone());
            let children = children(below, &id);
            TreeNode { agent, children }
        })
        .collect()
}
