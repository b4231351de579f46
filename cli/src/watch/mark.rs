//! What is marked. The mark is on a run, an agent, an interrupt or a line, and goes where that goes, even if other rows
//! appear above it; if that is gone, a neighbour of it is marked, and nothing acts on the neighbour before a person can
//! have seen that.

use interrupts::life::RunState;
use interrupts::store::NodeRow;
use routing_core::{InterruptId, NodeId, RunId};

use super::seen::DecisionSubject;
use super::state::{Screen, ScreenState, TreeRow};
use crate::run_owner::has_process;

/// The contents of a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Mark {
    Run(RunId),
    Node(RunId, NodeId),
    Interrupt(InterruptId),
    /// A line of the history, by its position there.
    Line(u64),
}

/// What is marked, and the rows around it.
#[derive(Debug, Default)]
pub(super) struct Marked {
    /// What is marked; `None` if there are no rows.
    on: Option<Mark>,
    /// The rows that it was in.
    rows: Vec<Mark>,
    /// What was marked has gone, and no one has marked this instead of it.
    pub(super) has_slipped: bool,
}

impl ScreenState {
    /// The contents of the screen's rows.
    fn marks(&self) -> Vec<Mark> {
        match self.screen {
            Screen::Agents | Screen::Run(_) => {
                let of = |row: TreeRow<'_>| match row {
                    TreeRow::Run(view) => Mark::Run(view.run.id),
                    TreeRow::Node(view, node) => Mark::Node(view.run.id, node.node.clone()),
                };
                self.tree().into_iter().map(of).collect()
            }
            Screen::Inbox => {
                let open = self.inbox().into_iter();
                open.map(|interrupt| Mark::Interrupt(interrupt.id))
                    .collect()
            }
            Screen::History => {
                let lines = self.snapshot.history.iter();
                lines.map(|line| Mark::Line(line.position)).collect()
            }
            Screen::Review(_) | Screen::Help => Vec::new(),
        }
    }

    /// The rows have changed: the mark follows what is marked.
    pub(super) fn follow_mark(&mut self) {
        let rows = self.marks();
        let place = |mark: &Mark| rows.iter().position(|row| row == mark);
        // A user who looks at the newest line of the history keeps looking at the newest.
        let stays = self.screen == Screen::History && self.at == 0;
        if let Some(on) = self.marked.on.as_ref().filter(|_on| !stays) {
            let was = self.marked.rows.iter().position(|row| row == on);
            let (before, from) = self.marked.rows.split_at(was.unwrap_or(0));
            let next = from.iter().chain(before.iter().rev()).find_map(place);
            self.marked.has_slipped |= place(on).is_none();
            self.at = next.unwrap_or(0);
        }
        self.at = self.at.min(self.rows().saturating_sub(1));
        self.marked.on = rows.get(self.at).cloned();
        self.marked.rows = rows;
    }

    /// A key was pressed: the row that is marked now is meant. A user who moved before they could see that what they
    /// had marked was gone has not chosen the row that they came to.
    pub(super) fn mark(&mut self, on: Screen, was_seen: bool) {
        let rows = self.marks();
        self.marked.on = rows.get(self.at).cloned();
        self.marked.rows = rows;
        self.marked.has_slipped &= self.screen == on && !was_seen;
    }

    /// What is marked, if no one has marked it.
    pub(super) fn slipped(&self) -> Option<Mark> {
        let on = self.marked.on.clone();
        on.filter(|_on| self.marked.has_slipped && self.screen != Screen::History)
    }

    /// Whether a person can know what is marked.
    pub(super) fn mark_is_seen(&self) -> bool {
        let slipped = self.slipped().map(DecisionSubject::Marked);
        slipped.is_none_or(|subject| self.seen.is_read(&subject, self.now))
    }

    /// The agent, or the run, that the keys mean.
    pub(super) fn focused(&self) -> Option<(RunId, Option<NodeId>)> {
        match self.screen {
            Screen::Agents | Screen::Run(_) => self.tree().get(self.at).map(|row| match row {
                TreeRow::Run(view) => (view.run.id, None),
                TreeRow::Node(view, node) => (view.run.id, Some(node.node.clone())),
            }),
            Screen::Inbox => self
                .inbox()
                .get(self.at)
                .map(|interrupt| (interrupt.run, Some(interrupt.node.clone()))),
            Screen::Review(id) => self
                .snapshot
                .interrupt(id)
                .map(|interrupt| (interrupt.run, Some(interrupt.node.clone()))),
            Screen::History | Screen::Help => None,
        }
    }

    /// What Esc interrupts: what is marked.
    pub(super) fn to_interrupt(&self) -> Option<(RunId, Option<NodeId>)> {
        let (run, node) = self.focused()?;
        self.interruptible(run, node)
    }

    /// What an interrupt of this would stop: the agent; the whole run if that agent has ended, or no process works on
    /// the run; nothing if nothing of the run works and that is known already.
    pub(super) fn interruptible(
        &self,
        run: RunId,
        node: Option<NodeId>,
    ) -> Option<(RunId, Option<NodeId>)> {
        let view = self.snapshot.run(run)?;
        let is_live = |row: &&NodeRow| !row.activity.is_final();
        let is_executed = has_process(&view.run);
        if !is_executed && view.run.state == RunState::Paused {
            return None;
        }
        let node = node.filter(|_node| is_executed).filter(|node| {
            view.nodes
                .iter()
                .filter(is_live)
                .any(|row| row.node == *node)
        });
        view.nodes
            .iter()
            .any(|row| is_live(&row))
            .then_some((run, node))
    }
}
