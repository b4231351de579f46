//! The events of a server's feed as run events, so that a run reads the same wherever it is executed.

use std::collections::{HashMap, HashSet};

use engine::run::RunEvent;
use interrupt_router::handler::{DecidedBy, FilledBy};
use interrupt_router::model::TokenUsage;
use interrupt_router::review::Answer;
use interrupt_router::{EventId, InterruptDetails, InterruptId, InterruptType, NodeId};
use interrupts::store::NodeActivity;
use serde::Deserialize;
use serde_json::Value;

use super::rendering::FeedEntry;
use crate::interned_name::interned_name;

/// An event about an agent.
#[derive(Deserialize)]
struct AgentEvent {
    agent_type: String,
    status: NodeActivity,
    step: u32,
}

/// An event about a model call.
#[derive(Deserialize)]
struct CallEvent {
    turn: u32,
    correction: u32,
    /// Only with the first call of a turn: not with tool rounds or corrections.
    #[serde(default)]
    step: Option<u32>,
    #[serde(default)]
    field: Option<String>,
    #[serde(default)]
    summary: String,
    #[serde(default)]
    usage: TokenUsage,
}

/// An event about an agent's interrupt that leaves along a route.
#[derive(Deserialize)]
struct RoutedEvent {
    interrupt_id: InterruptId,
    origin: String,
    target: String,
    decided_by: DecidedBy,
    filled_by: FilledBy,
    #[serde(default)]
    event_id: Option<EventId>,
}

/// Converts the feed events of one run.
#[derive(Default)]
pub(super) struct FeedOccurrences {
    agents: HashMap<NodeId, AgentSoFar>,
    /// The interrupts that paused the run.
    pauses: HashSet<InterruptId>,
    /// The last answer. The next event shows whether it fits: its agent is asked to correct it, or not.
    answered: Option<RunEvent>,
    /// The tokens that all calls have used.
    usage: TokenUsage,
}

/// What is known of an agent.
#[derive(Default)]
struct AgentSoFar {
    kind: &'static str,
    step: u32,
    /// The tokens of its calls since its last step.
    usage: TokenUsage,
}

impl FeedOccurrences {
    /// The tokens that all calls have used, as far as reported.
    pub(super) const fn usage(&self) -> TokenUsage {
        self.usage
    }

    /// The run events of a feed event: empty if a run of this process would not report it in these words.
    pub(super) fn of(&mut self, event: &FeedEntry) -> Vec<RunEvent> {
        let answered = self.answered.take();
        let fits = answered.filter(|answered| !corrects(event, answered));
        let mut events: Vec<RunEvent> = fits.into_iter().collect();
        events.extend(self.new_of(event));
        events
    }

    fn new_of(&mut self, event: &FeedEntry) -> Vec<RunEvent> {
        match event.topic.as_str() {
            "run.created" => started(event).into_iter().collect(),
            "agent.status_changed" | "agent.finished" => self.agent(event).unwrap_or_default(),
            "llm.call_started" => {
                let read = messages(event).into_iter();
                read.chain(self.step_started(event)).collect()
            }
            "llm.call_finished" => {
                self.answered = self.step_finished(event);
                Vec::new()
            }
            "interrupt.requested" => self.requested(event).into_iter().collect(),
            "interrupt.acknowledged" => bound(event).into_iter().collect(),
            "interrupt.resolved" | "interrupt.rerouted" => {
                self.decided(event).into_iter().collect()
            }
            "effect.finished" => match event.text_of("kind") {
                Some("interrupt") => routed(event)
                    .or_else(|| declined(event))
                    .into_iter()
                    .collect(),
                Some("mail") => messages(event),
                _ => Vec::new(),
            },
            _ => Vec::new(),
        }
    }

    /// An agent that appears for the first time was spawned.
    fn agent(&mut self, event: &FeedEntry) -> Option<Vec<RunEvent>> {
        let (node, told) = (event.node()?, event.data_as::<AgentEvent>()?);
        let kind = interned_name(&told.agent_type);
        let mut events = Vec::new();
        let is_new = !self.agents.contains_key(&node);
        let agent = self.agents.entry(node.clone()).or_default();
        (agent.kind, agent.step) = (kind, told.step);
        if is_new {
            events.push(RunEvent::AgentSpawned {
                parent: node.parent(),
                node: node.clone(),
                kind,
            });
        }
        let status = told.status;
        events.push(if told.status.is_final() {
            RunEvent::AgentFinished { node, kind, status }
        } else {
            RunEvent::AgentStatusChanged { node, kind, status }
        });
        Some(events)
    }

    fn step_started(&mut self, event: &FeedEntry) -> Option<RunEvent> {
        let (node, told) = (event.node()?, event.data_as::<CallEvent>()?);
        let agent = self.agents.get_mut(&node)?;
        agent.step = told.step?;
        Some(RunEvent::StepStarted {
            node,
            kind: agent.kind,
            step: agent.step,
            turn: told.turn,
        })
    }

    fn step_finished(&mut self, event: &FeedEntry) -> Option<RunEvent> {
        let (node, told) = (event.node()?, event.data_as::<CallEvent>()?);
        self.usage = self.usage.plus(told.usage);
        let agent = self.agents.get_mut(&node)?;
        agent.usage = agent.usage.plus(told.usage);
        Some(RunEvent::StepFinished {
            kind: agent.kind,
            node,
            step: agent.step,
            field: interned_name(&told.field?),
            summary: told.summary,
            usage: std::mem::take(&mut agent.usage),
            corrections: told.correction,
        })
    }

    fn requested(&mut self, event: &FeedEntry) -> Option<RunEvent> {
        let interrupt = event.read_member("interrupt_id")?;
        let r#type: InterruptType = event.read_member("type")?;
        let reason = event.text_of("reason")?.to_owned();
        if r#type == InterruptType::Pause {
            self.pauses.insert(interrupt);
            return Some(RunEvent::Paused { interrupt, reason });
        }
        let node = event.node()?;
        Some(RunEvent::InterruptRaised {
            interrupt,
            kind: self.agents.get(&node).map_or("", |agent| agent.kind),
            node,
            details: InterruptDetails::new(r#type, reason),
            payload: Value::Null,
        })
    }

    fn decided(&self, event: &FeedEntry) -> Option<RunEvent> {
        let interrupt = event.read_member("interrupt_id")?;
        if self.pauses.contains(&interrupt) {
            let input = event.member("answer").and_then(|it| it.get("input"));
            let input = input.and_then(Value::as_str).map(str::to_owned);
            return Some(RunEvent::Resumed { interrupt, input });
        }
        let answer: Answer = event.read_member("answer")?;
        Some(RunEvent::InterruptAnswered { interrupt, answer })
    }
}

/// Whether an event says that an answer did not fit: its agent's model is asked for a correction.
fn corrects(event: &FeedEntry, answered: &RunEvent) -> bool {
    let RunEvent::StepFinished { node, .. } = answered else {
        return false;
    };
    let correction: Option<u32> = event.read_member("correction");
    event.topic == "llm.call_started"
        && event.node().as_ref() == Some(node)
        && correction.is_some_and(|correction| correction > 0)
}

fn started(event: &FeedEntry) -> Option<RunEvent> {
    let text = |name| event.text_of(name).unwrap_or_default().to_owned();
    Some(RunEvent::Started {
        goal: event.text_of("goal")?.to_owned(),
        model: text("model"),
        workspace: text("workspace"),
    })
}

/// The messages that an agent reads.
fn messages(event: &FeedEntry) -> Vec<RunEvent> {
    let Some(node) = event.node() else {
        return Vec::new();
    };
    let texts: Vec<String> = event.read_member("reads").unwrap_or_default();
    let message = |text| RunEvent::MessageAdded {
        node: node.clone(),
        text,
    };
    texts.into_iter().map(message).collect()
}

fn bound(event: &FeedEntry) -> Option<RunEvent> {
    Some(RunEvent::InterruptBound {
        interrupt: event.read_member("interrupt_id")?,
        event: event.read_member("event_id")?,
        target: event.text_of("reroute_to")?.to_owned(),
    })
}

fn declined(event: &FeedEntry) -> Option<RunEvent> {
    Some(RunEvent::InterruptDeclined {
        interrupt: event.read_member("interrupt_id")?,
        verdict: event.read_member("verdict")?,
        decided_by: event.read_member("decided_by")?,
    })
}

fn routed(event: &FeedEntry) -> Option<RunEvent> {
    let told: RoutedEvent = event.data_as()?;
    Some(RunEvent::InterruptResolved {
        interrupt: told.interrupt_id,
        origin: told.origin,
        target: told.target,
        decided_by: told.decided_by,
        filled_by: told.filled_by,
        reroute: told.event_id,
    })
}
