//! A plan in the tree: its steps below it, each with what it does.

use agents::plan_execute::{PlanNews, PlanProgress, PlanStepStarted};
use engine::run::RunEvent;
use interrupt_router::NodeId;
use interrupts::store::NodeActivity;
use jiff::Timestamp;
use planning::{Fact, FactKind, FinishedStep, PlanStep, StepId};

use super::row::RowName;
use super::{AgentRow, AgentTree};
use crate::visible::visible_line;

/// The last segment of the id of a step's row: no agent of a plan has such a name.
fn segment(step: StepId) -> String {
    format!("step-{}", step.number())
}

impl AgentTree {
    /// Takes in what happened to a plan; does nothing for other events.
    pub(super) fn apply_plan(&mut self, event: &RunEvent, at: Timestamp) {
        let news = PlanNews::of(event);
        if let Some(PlanNews::Progress(PlanProgress { done, left })) = &news {
            self.stand(done, left, at);
        } else if let Some(PlanNews::StepStarted(PlanStepStarted {
            role, step, task, ..
        })) = &news
        {
            self.steps = self.steps.max(*step);
            self.lay_plan(at);
            let root = NodeId::root();
            match (task, self.next_step()) {
                (Some(_task), Some(row)) => {
                    self.change(&root, AgentRow::rest);
                    self.change(&row, |row| {
                        row.change(NodeActivity::Running, at);
                        row.start_step(*step, at);
                    });
                }
                (_, _) => self.change(&root, |row| {
                    row.change(NodeActivity::Running, at);
                    row.start_step(*step, at);
                    row.says(format!("the {} asks its model", role.segment()));
                }),
            }
        } else if let Some(PlanNews::Fact(fact)) = &news {
            self.tell_plan(fact, at);
        } else if let RunEvent::InterruptOpened { question } = event
            && self.is_plan()
        {
            let reason = visible_line(&question.details.reason);
            let row = self.next_step().unwrap_or_else(NodeId::root);
            self.change(&row, |row| {
                row.change(NodeActivity::WaitingReview, at);
                row.waits_for = Some(format!("waits for a person: {reason}"));
            });
        }
    }

    /// Whether it is the tree of a plan.
    fn is_plan(&self) -> bool {
        let root = self.rows.get(&NodeId::root());
        root.is_some_and(|row| matches!(row.name, RowName::Plan(_)))
    }

    /// The row of the plan itself.
    fn lay_plan(&mut self, at: Timestamp) {
        let root = NodeId::root();
        if self.rows.contains_key(&root) {
            return;
        }
        let mut row = AgentRow::new(RowName::Plan("Plan".to_owned()), None, 1, at);
        row.state = NodeActivity::Running;
        self.rows.insert(root.clone(), row);
        self.roots.push(root);
    }

    /// The row of the first step that is not done.
    fn next_step(&self) -> Option<NodeId> {
        let root = self.rows.get(&NodeId::root())?;
        let children = root.children.iter();
        let mut open = children.filter(|child| {
            let row = self.rows.get(*child);
            row.is_some_and(|row| !row.has_ended())
        });
        open.next().cloned()
    }

    /// Updates the steps: rows of new ones, none of those that went, the results of those that are done.
    fn stand(&mut self, done: &[FinishedStep], left: &[PlanStep], at: Timestamp) {
        self.lay_plan(at);
        let root = NodeId::root();
        let mut children = Vec::new();
        let steps = done.iter().map(|done| &done.step).chain(left);
        for step in steps {
            let Ok(node) = root.child(&segment(step.id)) else {
                continue;
            };
            let name = RowName::Plan(visible_line(&step.task));
            let parent = Some(root.clone());
            self.rows
                .entry(node.clone())
                .or_insert_with(|| AgentRow::new(name, parent, 1, at));
            children.push(node);
        }
        for (finished, node) in done.iter().zip(&children) {
            let result = visible_line(&finished.result);
            self.change(node, |row| {
                row.says(result);
                row.change(NodeActivity::Completed, at);
            });
        }
        self.rows
            .retain(|node, _| *node == root || children.contains(node));
        let total = children.len();
        self.change(&root, |row| {
            row.name = RowName::Plan(format!("Plan {}/{total}", done.len()));
            row.children = children;
        });
    }

    fn tell_plan(&mut self, fact: &Fact, at: Timestamp) {
        let root = NodeId::root();
        let reason = fact.reason.as_deref().map(visible_line).unwrap_or_default();
        match fact.kind {
            FactKind::UserEscape => self.change(&root, |row| {
                row.change(NodeActivity::Paused, at);
                row.waits_for = Some(format!("paused: {reason}"));
            }),
            FactKind::SystemError => self.change(&root, |row| {
                row.change(NodeActivity::WaitingReview, at);
                row.waits_for = Some(format!("cannot go on: {reason}"));
            }),
            FactKind::OpenSteps => self.change(&root, |row| {
                row.change(NodeActivity::WaitingReview, at);
                row.waits_for = Some(format!("open steps: {reason}"));
            }),
            FactKind::Retry => self.change(&root, |row| row.says(format!("tries again: {reason}"))),
            FactKind::Completed => self.change(&root, |row| {
                row.says("done".to_owned());
                row.change(NodeActivity::Completed, at);
            }),
            FactKind::Cancelled => {
                for row in self.rows.values_mut().filter(|row| !row.has_ended()) {
                    row.change(NodeActivity::Cancelled, at);
                }
            }
            FactKind::Resumed | FactKind::ModificationRequested | FactKind::Answered => {
                for row in self.rows.values_mut().filter(|row| !row.has_ended()) {
                    row.waits_for = None;
                }
                self.change(&root, |row| row.change(NodeActivity::Running, at));
            }
            FactKind::HumanInput
            | FactKind::Clash
            | FactKind::QuestionShownAgain
            | FactKind::QuestionWithdrawn
            | FactKind::Told
            | FactKind::PlanChanged
            | FactKind::Undone
            | FactKind::Redone
            | FactKind::StepDone => {}
        }
    }
}
