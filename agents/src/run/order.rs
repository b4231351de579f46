//! What a run is to do, as the store keeps it: everything that is needed to begin it again.

use std::fmt;

use interrupts::store::RootNode;
use interrupts::{KindName, NameError, WorkflowName};
use routing_core::{AgentType as _, NodeId};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::agent_kind::AgentKind;
use crate::plan_execute::PLAN_EXECUTE;
use crate::workflow::kinds::place;
use engine::run::{Allowance, RunLimits};
use engine::tools::ToolPermissions;

/// The newest version of the form.
const VERSION: u32 = 4;

/// The version of the form in which orders speak of tools.
const WITH_TOOLS: u32 = 3;

/// The version of the form in which orders are of workflows that a program has beside these two.
const EMBEDDED: u32 = 4;

/// Which workflow a run executes.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Workflow {
    /// The agents: discovery, planning, tickets.
    #[default]
    Agents,
    /// A plan, made, carried out step by step, and changed on the way.
    PlanExecute,
    /// One that only the program which embeds it knows.
    Embedded(WorkflowName),
}

impl Workflow {
    /// The name on command lines and in orders.
    pub fn name(&self) -> &str {
        match self {
            Self::Agents => "agents",
            Self::PlanExecute => "plan-execute",
            Self::Embedded(name) => name.as_str(),
        }
    }

    /// The workflow of this name.
    ///
    /// # Errors
    ///
    /// [`NameError`] where no workflow has such a name.
    pub fn named(name: &str) -> Result<Self, NameError> {
        let mut built_in = [Self::Agents, Self::PlanExecute].into_iter();
        match built_in.find(|it| it.name() == name) {
            Some(built_in) => Ok(built_in),
            None => WorkflowName::new(name).map(Self::Embedded),
        }
    }

    /// The node that a run of it begins with. `None` of an embedded one, whose program knows it.
    pub fn root(&self) -> Option<RootNode> {
        let (node, kind) = match self {
            Self::Embedded(_) => return None,
            Self::Agents => {
                let first = AgentKind::Orchestrator;
                (NodeId::new(place(first).1), first.name())
            }
            Self::PlanExecute => (Ok(NodeId::root()), PLAN_EXECUTE),
        };
        Some(RootNode {
            node: node.ok()?,
            kind: KindName::new(kind).ok()?,
        })
    }

    /// The version of the form that an order of this workflow has: the oldest one that knows it, so that an
    /// older program refuses what it would carry out as something else.
    pub const fn form(&self) -> u32 {
        match self {
            Self::Agents => 1,
            Self::PlanExecute => 2,
            Self::Embedded(_) => EMBEDDED,
        }
    }

    const fn is_agents(&self) -> bool {
        matches!(self, Self::Agents)
    }
}

impl fmt::Display for Workflow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl From<Workflow> for String {
    fn from(workflow: Workflow) -> Self {
        workflow.name().to_owned()
    }
}

impl TryFrom<String> for Workflow {
    type Error = NameError;

    fn try_from(name: String) -> Result<Self, NameError> {
        Self::named(&name)
    }
}

/// What a run is to do: everything that is needed to begin it, or go on with it, in another process.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunOrder {
    /// The version of this form.
    pub version: u32,
    /// What is executed.
    #[serde(default, skip_serializing_if = "Workflow::is_agents")]
    pub workflow: Workflow,
    /// The goal, in a person's words.
    pub goal: String,
    /// The input of an embedded workflow, in the form that it keeps.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<Value>,
    /// The path of the folder that it speaks about.
    pub workspace: String,
    /// The model, as the caller named it.
    pub model: String,
    /// Where the model's provider is, where the caller said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base_url: Option<String>,
    /// The seed of the rehearsal model.
    #[serde(default)]
    pub seed: u64,
    /// The text of the script, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub script: Option<String>,
    /// How far the run may go.
    pub limits: RunLimits,
    /// What it may use in all.
    #[serde(default, skip_serializing_if = "Allowance::is_empty")]
    pub allowance: Allowance,
    /// What its agents may use, where they may use tools at all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tools: Option<ToolOrder>,
}

/// What a run's agents may use.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolOrder {
    /// The path of the folder that they work in.
    pub folder: String,
    /// What is allowed.
    pub permissions: ToolPermissions,
    /// The path of the file that names MCP servers, where there is one. What the file says is not kept: it may hold
    /// secrets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mcp: Option<String>,
}

/// A stored order that this version cannot carry out.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OrderError {
    /// It is no order.
    #[error("what the run is to do cannot be read")]
    Unreadable(#[source] serde_json::Error),
    /// A newer version of the program wrote it.
    #[error(
        "the run was begun by a newer version: its order has form {found}, this one knows {VERSION}"
    )]
    Newer {
        /// The version of its form.
        found: u32,
    },
}

impl RunOrder {
    /// The version of the form of an order of this workflow, with tools or without: the oldest one that knows both.
    pub fn form(workflow: &Workflow, tools: Option<&ToolOrder>) -> u32 {
        let with_tools = tools.map_or(0, |_| WITH_TOOLS);
        workflow.form().max(with_tools)
    }

    /// The workflow of a run that has this content, whether its order can be read whole or not. One that names none is of
    /// the workflow that orders had before they named one.
    pub fn workflow_in(content: &str) -> Workflow {
        #[derive(Default, Deserialize)]
        struct Named {
            #[serde(default)]
            workflow: Workflow,
        }
        let named: Named = serde_json::from_str(content).unwrap_or_default();
        named.workflow
    }

    /// The newest version that this program reads.
    pub const VERSION: u32 = VERSION;

    /// As the store keeps it.
    ///
    /// # Errors
    ///
    /// Where it cannot be written as JSON.
    pub fn to_content(&self) -> Result<String, serde_json::Error> {
        serde_json::to_string(self)
    }

    /// Reads what a store has kept.
    ///
    /// # Errors
    ///
    /// [`OrderError`].
    pub fn from_content(content: &str) -> Result<Self, OrderError> {
        #[derive(Deserialize)]
        struct Form {
            version: u32,
        }
        let form: Form = serde_json::from_str(content).map_err(OrderError::Unreadable)?;
        if form.version > VERSION {
            return Err(OrderError::Newer {
                found: form.version,
            });
        }
        serde_json::from_str(content).map_err(OrderError::Unreadable)
    }
}

#[cfg(test)]
mod tests {
    use super::RunOrder;

    #[test]
    fn an_order_of_before_there_were_tools_is_read_and_has_none() {
        let order = r#"{"version":1,"goal":"bake","workspace":"/a","model":"rehearsal","seed":1,"limits":{"max_steps":200,"parallel_workers":4,"corrections":3}}"#;
        let read = RunOrder::from_content(order).unwrap();
        assert!(read.tools.is_none());
        assert_eq!(read.to_content().unwrap(), order);
    }
}
