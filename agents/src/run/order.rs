//! What a run is to do, as the store keeps it: all that is needed to begin it again.

use interrupt_router::{AgentType as _, NodeId};
use interrupts::KindName;
use interrupts::store::RootNode;
use journal::{OrderError, RunHeader, Workflow};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::agent_kind::AgentKind;
use crate::workflow::kinds::place;
use engine::run::RunLimits;
use engine::tools::ToolPermissions;
use journal::Allowance;
use planning::PLAN_EXECUTE;

/// The version of the form that knows tools.
const WITH_TOOLS: u32 = 3;

/// The node that a run of a workflow begins with. `None` of an embedded one, whose program knows it.
pub fn root_of(workflow: &Workflow) -> Option<RootNode> {
    let (node, kind) = match workflow {
        Workflow::Embedded(_) => return None,
        Workflow::Agents => {
            let first = AgentKind::Orchestrator;
            (NodeId::new(place(first).1), first.name())
        }
        Workflow::PlanExecute => (Ok(NodeId::root()), PLAN_EXECUTE),
    };
    Some(RootNode {
        node: node.ok()?,
        kind: KindName::new(kind).ok()?,
    })
}

/// What a run is to do: all that is needed to begin or resume it in another process.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunOrder {
    /// The version of this form.
    pub version: u32,
    /// What is executed.
    #[serde(default, skip_serializing_if = "Workflow::is_agents")]
    pub workflow: Workflow,
    /// The goal, in a person's words.
    pub goal: String,
    /// The input of an embedded workflow, in the workflow's own form.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<Value>,
    /// The path of the folder that it speaks about.
    pub workspace: String,
    /// The model, as the caller named it.
    pub model: String,
    /// The address of the model's provider, if the caller gave one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base_url: Option<String>,
    /// The seed of the rehearsal model.
    #[serde(default)]
    pub seed: u64,
    /// The text of the script, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub script: Option<String>,
    /// How far the run may go.
    pub limits: RunLimits,
    /// What it may use in all.
    #[serde(default, skip_serializing_if = "Allowance::is_empty")]
    pub allowance: Allowance,
    /// What its agents may use, if they may use tools at all.
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
    /// The path of the file that names MCP servers, if there is one. The file's content is not kept: it may have
    /// secrets in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mcp: Option<String>,
}

impl RunOrder {
    /// The version of the form that an order of this workflow needs: the oldest one that knows the workflow and, if
    /// there are any, its tools.
    pub fn form(workflow: &Workflow, tools: Option<&ToolOrder>) -> u32 {
        let with_tools = tools.map_or(0, |_| WITH_TOOLS);
        workflow.form().max(with_tools)
    }

    /// The newest version that this program reads.
    pub const VERSION: u32 = RunHeader::VERSION;

    /// The form in which the store keeps it.
    ///
    /// # Errors
    ///
    /// If it cannot be written as JSON.
    pub fn to_content(&self) -> Result<String, serde_json::Error> {
        serde_json::to_string(self)
    }

    /// Reads an order from the store.
    ///
    /// # Errors
    ///
    /// [`OrderError`].
    pub fn from_content(content: &str) -> Result<Self, OrderError> {
        RunHeader::from_content(content)?;
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
