//! What every order says of its run, in any form: its workflow, and how far it may go.

use std::fmt;

use interrupts::{Labels, NameError, WorkflowName};
use serde::{Deserialize, Serialize};

/// The newest version of the form of orders.
const VERSION: u32 = 4;

/// The version of the form in which orders are of workflows that a program has beside the built-in two.
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
    /// [`NameError`] if no workflow has such a name.
    pub fn named(name: &str) -> Result<Self, NameError> {
        let mut built_in = [Self::Agents, Self::PlanExecute].into_iter();
        match built_in.find(|it| it.name() == name) {
            Some(built_in) => Ok(built_in),
            None => WorkflowName::new(name).map(Self::Embedded),
        }
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

    /// Whether it is the workflow that orders meant before they named one.
    pub const fn is_agents(&self) -> bool {
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

/// The part of an order that describes its run; other fields are ignored.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct RunHeader {
    /// The version of the order's form.
    pub version: u32,
    /// What is executed.
    #[serde(default)]
    pub workflow: Workflow,
    limits: Option<HeaderLimits>,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
struct HeaderLimits {
    max_steps: u32,
}

impl RunHeader {
    /// The newest version of the form of orders.
    pub const VERSION: u32 = VERSION;

    /// Reads the head of the order that a run keeps as its content.
    ///
    /// # Errors
    ///
    /// [`OrderError`] if it is no order, or one of a newer version.
    pub fn from_content(content: &str) -> Result<Self, OrderError> {
        #[derive(Deserialize)]
        struct HeaderVersion {
            version: u32,
        }
        let form: HeaderVersion = serde_json::from_str(content).map_err(OrderError::Unreadable)?;
        if form.version > VERSION {
            return Err(OrderError::Newer {
                found: form.version,
            });
        }
        serde_json::from_str(content).map_err(OrderError::Unreadable)
    }

    /// How many steps the run was ordered to take at most.
    pub fn max_steps(&self) -> Option<u32> {
        self.limits.as_ref().map(|limits| limits.max_steps)
    }
}

impl Workflow {
    /// The workflow of a run that has this content, whether its order can be read whole or not. One that names none is of
    /// the workflow that orders had before they named one.
    pub fn in_content(content: &str) -> Self {
        #[derive(Default, Deserialize)]
        struct NamedWorkflow {
            #[serde(default)]
            workflow: Workflow,
        }
        let named: NamedWorkflow = serde_json::from_str(content).unwrap_or_default();
        named.workflow
    }
}

/// The field of an order with the labels that a worker needs to execute its run.
pub const NEEDS: &str = "needs";

/// The labels that the order of a run asks for.
pub fn needs_in(content: &str) -> Labels {
    #[derive(Default, Deserialize)]
    #[serde(default)]
    struct StoredNeeds {
        needs: Labels,
    }
    let stored: StoredNeeds = serde_json::from_str(content).unwrap_or_default();
    stored.needs
}

/// Whether a worker executes a run that has this content, and no process of ours does.
pub fn executed_by_worker(content: &str) -> bool {
    #[derive(Default, Deserialize)]
    struct Executed {
        #[serde(default)]
        executor: Option<String>,
    }
    let executed: Executed = serde_json::from_str(content).unwrap_or_default();
    executed.executor.as_deref() == Some("worker")
}
