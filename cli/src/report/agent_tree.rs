//! The agents of a run as a tree: what each does, and since when.

mod picture;
mod plan;
mod row;

use std::collections::HashMap;

use engine::run::{RunEvent, RunOccurrence};
use interrupt_router::model::TokenUsage;
use interrupt_router::{InterruptId, NodeId, StopMode};
use interrupts::store::NodeActivity;
use jiff::Timestamp;

use crate::visible::visible_line;

pub(crate) use picture::Picture;
pub(crate) use row::AgentRow;
use row::RowName;

/// What is known of a run's agents.
#[derive(Debug, Default)]
pub(crate) struct AgentTree {
    rows: HashMap<NodeId, AgentRow>,
    /// How many agents of a kind each agent has called, for they are numbered.
    namesakes: HashMap<(Option<NodeId>, &'static str), usize>,
    /// The nodes without a parent in the tree, in the order in which they came.
    roots: Vec<NodeId>,
    interrupts: HashMap<InterruptId, NodeId>,
    started: Option<Timestamp>,
    steps: u32,
    usage: TokenUsage,
    /// How the run was asked to stop, once it was.
    stopping: Option<StopMode>,
}

impl AgentTree {
    /// Takes in what happened.
    pub(crate) fn apply(&mut self, occurrence: &RunOccurrence) {
        let at = occurrence.at;
        self.started.get_or_insert(at);
        if let RunEvent::AgentSpawned { node, parent, kind } = &occurrence.event {
            self.spawn(node, parent.as_ref(), kind, at);
            return;
        }
        if let RunEvent::Stopping { reason } = &occurrence.event {
            self.stopping = self.stopping.max(Some(reason.mode));
        }
        self.apply_work(&occurrence.event, at);
        self.apply_plan(&occurrence.event, at);
        self.apply_interrupt(&occurrence.event);
    }

    fn spawn(&mut self, node: &NodeId, parent: Option<&NodeId>, kind: &'static str, at: Timestamp) {
        if self.rows.contains_key(node) {
            return;
        }
        let parent = parent.filter(|parent| self.rows.contains_key(parent));
        match parent.and_then(|parent| self.rows.get_mut(parent)) {
            Some(above) => above.children.push(node.clone()),
            None => self.roots.push(node.clone()),
        }
        let parent = parent.cloned();
        let number = self.namesakes.entry((parent.clone(), kind)).or_default();
        *number += 1;
        let row = AgentRow::new(RowName::Agent(kind), parent, *number, at);
        self.rows.insert(node.clone(), row);
    }

    fn apply_work(&mut self, event: &RunEvent, at: Timestamp) {
        if let RunEvent::StepStarted { node, step, .. } = event {
            self.steps = self.steps.max(*step);
            self.change(node, |row| row.start_step(*step, at));
        } else if let RunEvent::AnswerChunk { node, text } = event {
            self.change(node, |row| row.received += text.len());
        } else if let RunEvent::ModelNoted { node, note } = event {
            self.change(node, |row| row.note(note, at));
        } else if let RunEvent::AnswerCorrected {
            node, correction, ..
        } = event
        {
            self.change(node, |row| row.correct(*correction));
        } else if let RunEvent::StepFinished {
            node,
            field,
            summary,
            usage,
            ..
        } = event
        {
            self.usage = self.usage.plus(*usage);
            let said = visible_line(summary);
            self.change(node, |row| row.finish_step(field, said, *usage));
        } else if let RunEvent::AgentStatusChanged { node, status, .. } = event {
            self.change(node, |row| row.change(*status, at));
        } else if let RunEvent::AgentFinished { node, status, .. } = event {
            self.change(node, |row| row.change(*status, at));
        }
    }

    fn apply_interrupt(&mut self, event: &RunEvent) {
        if let RunEvent::InterruptRaised {
            interrupt,
            node,
            details,
            ..
        } = event
        {
            self.interrupts.insert(*interrupt, node.clone());
            let reason = visible_line(&details.reason);
            let asked = format!("{}: {reason}", details.r#type.name());
            self.change(node, |row| row.waits_for = Some(asked));
        } else if let RunEvent::InterruptOpened { question } = event {
            let reason = visible_line(&question.details.reason);
            self.change(&question.node, |row| {
                row.waits_for = Some(format!("waits for a person: {reason}"));
            });
        } else if let RunEvent::Paused { interrupt, reason } = event {
            let reason = format!("paused: {}", visible_line(reason));
            self.change_of(*interrupt, |row| row.waits_for = Some(reason));
        } else if let RunEvent::InterruptResolved {
            interrupt, target, ..
        } = event
        {
            let target = format!("goes to {target}");
            self.change_of(*interrupt, |row| row.resolve(target));
        } else if let RunEvent::Resumed { interrupt, .. }
        | RunEvent::InterruptDeclined { interrupt, .. }
        | RunEvent::InterruptRefused { interrupt, .. } = event
        {
            self.change_of(*interrupt, |row| row.waits_for = None);
        }
    }

    fn change(&mut self, node: &NodeId, change: impl FnOnce(&mut AgentRow)) {
        if let Some(row) = self.rows.get_mut(node) {
            change(row);
        }
    }

    fn change_of(&mut self, interrupt: InterruptId, change: impl FnOnce(&mut AgentRow)) {
        if let Some(node) = self.interrupts.get(&interrupt).cloned() {
            self.change(&node, change);
        }
    }

    /// What people call a node: `Discovery agent 2`.
    pub(crate) fn label(&self, node: &NodeId) -> String {
        self.rows
            .get(node)
            .map_or_else(|| node.to_string(), AgentRow::label)
    }

    /// What people call the node of an interrupt.
    pub(crate) fn label_of(&self, interrupt: InterruptId) -> String {
        self.interrupts
            .get(&interrupt)
            .map_or_else(|| interrupt.to_string(), |node| self.label(node))
    }

    /// The time since the run's start.
    pub(crate) fn elapsed(&self, now: Timestamp) -> jiff::SignedDuration {
        self.started.map_or(jiff::SignedDuration::ZERO, |started| {
            now.duration_since(started)
        })
    }

    /// How many agents are in each kind of state: at work, waiting, at their end.
    fn counts(&self) -> AgentCounts {
        let mut counts = AgentCounts::default();
        for row in self.rows.values() {
            if row.is_plan_at_work() {
                // Its step is counted.
                continue;
            }
            match row.state {
                NodeActivity::Running => counts.working += 1,
                NodeActivity::WaitingReview | NodeActivity::Paused => counts.waiting += 1,
                NodeActivity::Pending | NodeActivity::Ready => counts.ready += 1,
                NodeActivity::Completed
                | NodeActivity::Failed
                | NodeActivity::Cancelled
                | NodeActivity::Pruned => counts.ended += 1,
            }
        }
        counts
    }
}

/// How many agents do what.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
struct AgentCounts {
    working: usize,
    waiting: usize,
    ready: usize,
    ended: usize,
}

/// The name of a kind of agents in running text: `Discovery agent`.
pub(crate) fn words_of(kind: &str) -> String {
    let words = kind.to_lowercase().replace('_', " ");
    let mut characters = words.chars();
    characters.next().map_or_else(String::new, |first| {
        first.to_uppercase().chain(characters).collect()
    })
}

#[cfg(test)]
mod tests;
