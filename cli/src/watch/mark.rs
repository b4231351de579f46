//! What is marked. The mark is on a run, an agent or an interrupt, and goes where that goes, even if other rows appear
//! above it; if that is gone, nothing is marked until a person marks something else.

use interrupt_router::{InterruptId, NodeId, RunId};
use interrupts::life::RunState;
use interrupts::store::NodeRow;

use super::state::{Screen, ScreenState, TreeRow};
use crate::run_owner::has_process;

/// The contents of a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Mark {
    Run(RunId),
    Node(RunId, NodeId),
    Interrupt(InterruptId),
}

/// What is marked.
#[derive(Debug, Default)]
pub(super) struct Marked {
    /// What is marked; `None` if there are no rows, or it has gone.
    on: Option<Mark>,
    /// What was marked has gone, and no one has marked anything since.
    pub(super) has_gone: bool,
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
                let open = self.snapshot.inbox();
                open.map(|interrupt| Mark::Interrupt(interrupt.id))
                    .collect()
            }
            Screen::Review(_) | Screen::Help => Vec::new(),
        }
    }

    /// The rows have changed: the mark follows what is marked.
    pub(super) fn follow_mark(&mut self) {
        let rows = self.marks();
        match &self.marked.on {
            Some(on) => match rows.iter().position(|row| row == on) {
                Some(at) => self.at = at,
                None => {
                    self.marked = Marked {
                        on: None,
                        has_gone: true,
                    }
                }
            },
            None if self.marked.has_gone => {}
            None => self.marked.on = rows.get(self.at).cloned(),
        }
        self.at = self.at.min(self.rows().saturating_sub(1));
    }

    /// Marks a row, or reads on from there.
    pub(super) fn mark(&mut self, at: usize) {
        self.at = at;
        self.marked = Marked {
            on: self.marks().into_iter().nth(at),
            has_gone: false,
        };
    }

    /// The row that is marked.
    pub(super) fn marked_row(&self) -> Option<usize> {
        (!self.marked.has_gone).then_some(self.at)
    }

    /// The agent, or the run, that the keys mean.
    pub(super) fn focused(&self) -> Option<(RunId, Option<NodeId>)> {
        match self.screen {
            Screen::Agents | Screen::Run(_) => {
                self.tree().get(self.marked_row()?).map(|row| match row {
                    TreeRow::Run(view) => (view.run.id, None),
                    TreeRow::Node(view, node) => (view.run.id, Some(node.node.clone())),
                })
            }
            Screen::Inbox => self
                .inbox()
                .get(self.marked_row()?)
                .map(|interrupt| (interrupt.run, Some(interrupt.node.clone()))),
            Screen::Review(_) | Screen::Help => None,
        }
    }

    /// What Esc interrupts: the marked agent; the whole run if that agent has ended, or no process works on the run;
    /// nothing if nothing of the run works and that is known already.
    pub(super) fn to_interrupt(&self) -> Option<(RunId, Option<NodeId>)> {
        let (run, node) = self.focused()?;
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
