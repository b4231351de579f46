//! The agents of a run, as reported by their worker.

use std::collections::HashSet;

use interrupt_router::NodeId;
use interrupts::KindName;
use interrupts::store::{NodeActivity, NodeRow, Pages};
use jiff::Timestamp;

use crate::error::WorkError;
use crate::owned::Owned;
use crate::question::known_kind;

/// How many agents are read at a time.
const PAGE: u32 = 1_000;

/// What an agent does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentReport {
    /// Its id.
    pub node: NodeId,
    /// Its kind.
    pub kind: String,
    /// What it does.
    pub activity: NodeActivity,
    /// The last step of the run that it took; the last reported value if absent.
    pub step: Option<u32>,
    /// The tokens that its model calls have read and written; the last reported value if absent.
    pub tokens: Option<u64>,
}

impl Owned<'_> {
    /// Reports what agents do, and returns the state of each afterwards. An unknown agent is created. An agent that has
    /// ended stays ended, whatever is reported: code that runs again passes over what it did before.
    ///
    /// # Errors
    ///
    /// [`WorkError::UnknownKind`], [`WorkError::OtherKind`]; [`WorkError::Field`] if an agent is named twice;
    /// [`WorkError::LeaseLost`].
    ///
    /// # Cancel safety
    ///
    /// Safe to repeat.
    pub async fn tell(&self, agents: Vec<AgentReport>) -> Result<Vec<NodeRow>, WorkError> {
        let mut rows = Vec::with_capacity(agents.len());
        let mut ended = Vec::new();
        let mut named = HashSet::with_capacity(agents.len());
        for agent in agents {
            if !named.insert(agent.node.clone()) {
                let reason = format!("{} is named twice; name each agent once", agent.node);
                return Err(WorkError::field("/agents", reason));
            }
            let known = self.store().node(self.run.id, &agent.node).await?;
            let row = match known {
                Some(known) if known.activity.is_final() => same_kind(known, &agent)?,
                Some(known) => told_again(known, &agent)?,
                None => self.first_told(&agent).await?,
            };
            if row.activity.is_final() {
                ended.push(agent.node);
            }
            rows.push(row);
        }
        self.put(rows.clone()).await?;
        for node in ended {
            self.has_ended(&node).await?;
        }
        Ok(rows)
    }

    pub(crate) async fn put(&self, rows: Vec<NodeRow>) -> Result<(), WorkError> {
        if rows.is_empty() {
            return Ok(());
        }
        let put = self.store().put_nodes(self.run.id, self.epoch(), rows);
        Ok(put.await?)
    }

    async fn first_told(&self, agent: &AgentReport) -> Result<NodeRow, WorkError> {
        Ok(NodeRow {
            run: self.run.id,
            node: agent.node.clone(),
            kind: self.kind(&agent.kind).await?,
            activity: agent.activity,
            takes_messages: !agent.activity.is_final(),
            turn: 0,
            step: agent.step.unwrap_or_default(),
            tokens: agent.tokens.unwrap_or_default(),
            // The store sets it.
            since: Timestamp::UNIX_EPOCH,
            waits: None,
        })
    }

    async fn kind(&self, name: &str) -> Result<KindName, WorkError> {
        let catalogue = self.catalogue().await?;
        Ok(known_kind(&catalogue, name)?.name.clone())
    }

    /// An agent works: it is there, of this kind, and has not ended.
    pub(crate) async fn works(&self, node: &NodeId, kind: &str) -> Result<NodeRow, WorkError> {
        let report = AgentReport {
            node: node.clone(),
            kind: kind.to_owned(),
            activity: NodeActivity::Running,
            step: None,
            tokens: None,
        };
        let known = self.store().node(self.run.id, node).await?;
        if let Some(known) = known {
            let is_told = known.activity == NodeActivity::Running && known.takes_messages;
            let row = told_again(known, &report)?;
            if !is_told {
                self.put(vec![row.clone()]).await?;
            }
            return Ok(row);
        }
        let row = self.first_told(&report).await?;
        self.put(vec![row.clone()]).await?;
        Ok(row)
    }

    /// All agents of the run.
    pub(crate) async fn all_agents(&self) -> Result<Vec<NodeRow>, WorkError> {
        let all = Pages::of(PAGE).values(|page| self.store().nodes(Some(self.run.id), page));
        Ok(all.await?)
    }
}

fn same_kind(known: NodeRow, agent: &AgentReport) -> Result<NodeRow, WorkError> {
    if known.kind.as_str() == agent.kind {
        return Ok(known);
    }
    Err(WorkError::OtherKind {
        node: known.node,
        is: known.kind.to_string(),
        given: agent.kind.clone(),
    })
}

fn told_again(known: NodeRow, agent: &AgentReport) -> Result<NodeRow, WorkError> {
    let known = same_kind(known, agent)?;
    if known.activity.is_final() && known.activity != agent.activity {
        return Err(WorkError::AgentEnded { node: known.node });
    }
    Ok(NodeRow {
        activity: agent.activity,
        takes_messages: !agent.activity.is_final(),
        step: agent.step.unwrap_or(known.step),
        tokens: agent.tokens.unwrap_or(known.tokens),
        ..known
    })
}

/// The row of an agent that has ended.
pub(crate) fn ended(row: NodeRow, activity: NodeActivity) -> NodeRow {
    NodeRow {
        activity,
        takes_messages: false,
        ..row
    }
}
