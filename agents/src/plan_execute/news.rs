//! Events of a plan, for observers.

use engine::run::RunEvent;
use routing_core::NodeId;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use planning::{Fact, FinishedStep, PlanRole, PlanStep};

/// The names of what is told.
const TOLD: &str = "run.plan_told";
const STANDS: &str = "run.plan_stands";
const STEP_STARTED: &str = "run.step_started";

/// Something that is told of a plan.
#[derive(Debug, Clone, PartialEq)]
pub enum PlanNews {
    /// Something happened to it.
    Told(Fact),
    /// How it stands: told where a run goes on, and whenever something of it has changed.
    Stands(PlanStands),
    /// One of its agents asks its model.
    StepStarted(PlanStepStarted),
}

/// How a plan stands.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PlanStands {
    /// The steps that are done, in the order in which they were done.
    pub done: Vec<FinishedStep>,
    /// The steps that are left, in their order.
    pub left: Vec<PlanStep>,
}

/// An agent of a plan asks its model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PlanStepStarted {
    /// The agent.
    #[serde(rename = "agent_id")]
    pub node: NodeId,
    /// Which one it is.
    #[serde(rename = "agent_type")]
    pub role: PlanRole,
    /// How many answers the run has asked for, this one included.
    pub step: u32,
    /// What is carried out, where it is a step of the plan.
    pub task: Option<String>,
}

impl PlanNews {
    /// What is told of a plan by an event of its run, where that is something of the plan's.
    pub fn of(event: &RunEvent) -> Option<Self> {
        let RunEvent::Told { name, data, .. } = event else {
            return None;
        };
        match *name {
            TOLD => Fact::deserialize(data).ok().map(Self::Told),
            STANDS => PlanStands::deserialize(data).ok().map(Self::Stands),
            STEP_STARTED => PlanStepStarted::deserialize(data)
                .ok()
                .map(Self::StepStarted),
            _ => None,
        }
    }
}

impl From<PlanNews> for RunEvent {
    fn from(news: PlanNews) -> Self {
        // None of them holds a map whose keys are no texts, so each is JSON.
        let json = |value: serde_json::Result<Value>| value.unwrap_or_default();
        let (node, name, data) = match news {
            PlanNews::Told(fact) => (None, TOLD, json(serde_json::to_value(fact))),
            PlanNews::Stands(stands) => (None, STANDS, json(serde_json::to_value(stands))),
            PlanNews::StepStarted(step) => {
                let data = json(serde_json::to_value(&step));
                (Some(step.node), STEP_STARTED, data)
            }
        };
        Self::Told { node, name, data }
    }
}
