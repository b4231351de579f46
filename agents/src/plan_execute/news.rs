//! Events of a plan, for observers.

use engine::run::RunEvent;
use interrupt_router::NodeId;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use planning::{Fact, FinishedStep, PlanRole, PlanStep};

/// The names of the events.
const TOLD: &str = "run.plan_told";
const STANDS: &str = "run.plan_stands";
const STEP_STARTED: &str = "run.step_started";

/// An event of a plan.
#[derive(Debug, Clone, PartialEq)]
pub enum PlanNews {
    /// Something happened to it.
    Fact(Fact),
    /// The plan's steps: sent when a run continues, and whenever they have changed.
    Progress(PlanProgress),
    /// One of its agents asks its model.
    StepStarted(PlanStepStarted),
}

/// The steps of a plan.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PlanProgress {
    /// The finished steps, in the order in which they were done.
    pub done: Vec<FinishedStep>,
    /// The remaining steps, in their order.
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
    /// The task, if a step of the plan is carried out.
    pub task: Option<String>,
}

impl PlanNews {
    /// The plan's event in an event of its run, if there is one.
    pub fn of(event: &RunEvent) -> Option<Self> {
        let RunEvent::Told { name, data, .. } = event else {
            return None;
        };
        match *name {
            TOLD => Fact::deserialize(data).ok().map(Self::Fact),
            STANDS => PlanProgress::deserialize(data).ok().map(Self::Progress),
            STEP_STARTED => PlanStepStarted::deserialize(data)
                .ok()
                .map(Self::StepStarted),
            _ => None,
        }
    }
}

impl From<PlanNews> for RunEvent {
    fn from(news: PlanNews) -> Self {
        // No map in them has keys that are not texts, so each is JSON.
        let json = |value: serde_json::Result<Value>| value.unwrap_or_default();
        let (node, name, data) = match news {
            PlanNews::Fact(fact) => (None, TOLD, json(serde_json::to_value(fact))),
            PlanNews::Progress(stands) => (None, STANDS, json(serde_json::to_value(stands))),
            PlanNews::StepStarted(step) => {
                let data = json(serde_json::to_value(&step));
                (Some(step.node), STEP_STARTED, data)
            }
        };
        Self::Told { node, name, data }
    }
}
