//! The window that opens when an agent is interrupted. It opens at once, and never waits for the stop.

use interrupt_router::{InterruptId, NodeId, RunId, StopMode};
use interrupts::Digest;
use interrupts::life::{Interrupt, State};
use interrupts::manager::StopNote;
use jiff::Timestamp;
use planning::PlanPreview;
use tui_input::Input;

use super::action::Action;
use crate::refused::decided;
use crate::visible::visible_line;

/// What has the keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Focus {
    /// The text.
    Text,
    /// One of the buttons.
    Button(Button),
}

/// What can be done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Button {
    Submit,
    ResumeUnchanged,
    /// Sends the agent's answer elsewhere.
    Reroute,
    /// Pauses the whole run instead of the agent.
    WholeRun,
    StopRun,
}

impl Button {
    const OF_AN_AGENT: [Self; 5] = [
        Self::Submit,
        Self::ResumeUnchanged,
        Self::Reroute,
        Self::WholeRun,
        Self::StopRun,
    ];
    const OF_A_RUN: [Self; 3] = [Self::Submit, Self::ResumeUnchanged, Self::StopRun];

    /// The text on the button. For a plan, a change is shown before it is applied.
    pub(super) const fn label(self, change: &PlanChange) -> &'static str {
        match self {
            Self::Submit => match change {
                PlanChange::Unneeded => "Submit",
                PlanChange::Unseen | PlanChange::Asked => "Show the change",
                PlanChange::Shown(_) => "Apply",
            },
            Self::ResumeUnchanged => "Resume unchanged",
            Self::Reroute => "Reroute…",
            Self::WholeRun => "Whole run",
            Self::StopRun => "Stop run",
        }
    }
}

/// What was chosen before the pause took effect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Chosen {
    Submit(String),
    /// The model proposes a change of the plan, which is shown.
    Suggest(String),
    /// The change that is shown.
    Apply(Digest),
    ResumeUnchanged,
}

/// How far a change of the plan has come, if the run carries out one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum PlanChange {
    /// The run has no plan of steps: the text goes to its agent.
    Unneeded,
    /// Nothing is shown yet.
    Unseen,
    /// The model is preparing one.
    Asked,
    /// It is shown, and can be applied.
    Shown(Box<PlanPreview>),
}

/// An interrupt of an agent, as the person who raised it sees it.
#[derive(Debug, Clone)]
pub(super) struct Modal {
    pub(super) run: RunId,
    pub(super) node: Option<NodeId>,
    /// When the key was pressed.
    pub(super) since: Timestamp,
    /// Known once it was accepted.
    pub(super) interrupt: Option<InterruptId>,
    pub(super) text: Input,
    pub(super) focus: Focus,
    /// Carried out as soon as the pause has taken effect.
    pub(super) chosen: Option<Chosen>,
    /// Whether immediate was asked for.
    pub(super) hardened: bool,
    /// The change of the plan.
    pub(super) change: PlanChange,
}

impl Modal {
    pub(super) fn new(
        run: RunId,
        node: Option<NodeId>,
        draft: Input,
        now: Timestamp,
        change: PlanChange,
    ) -> Self {
        Self {
            run,
            node,
            since: now,
            interrupt: None,
            text: draft,
            focus: Focus::Text,
            chosen: None,
            hardened: false,
            change,
        }
    }

    /// What the text means when it is submitted.
    pub(super) fn submitted(&self) -> Option<Chosen> {
        let text = self.text.value().trim();
        match &self.change {
            PlanChange::Shown(preview) => Some(Chosen::Apply(preview.digest)),
            PlanChange::Asked => None,
            PlanChange::Unneeded | PlanChange::Unseen if text.is_empty() => {
                Some(Chosen::ResumeUnchanged)
            }
            PlanChange::Unneeded => Some(Chosen::Submit(text.to_owned())),
            PlanChange::Unseen => Some(Chosen::Suggest(text.to_owned())),
        }
    }

    /// Other words want another change.
    pub(super) fn is_rewritten(&mut self) {
        if let PlanChange::Shown(_) = self.change {
            self.change = PlanChange::Unseen;
        }
    }

    /// What can be done: an agent can be sent elsewhere, and its pause made one of the whole run.
    pub(super) fn buttons(&self) -> &'static [Button] {
        if self.node.is_some() {
            &Button::OF_AN_AGENT
        } else {
            &Button::OF_A_RUN
        }
    }

    /// The next part that takes keys.
    pub(super) fn tab(&mut self, back: bool) {
        let order: Vec<Focus> = std::iter::once(Focus::Text)
            .chain(self.buttons().iter().copied().map(Focus::Button))
            .collect();
        let at = order
            .iter()
            .position(|focus| *focus == self.focus)
            .unwrap_or(0);
        let step = if back { order.len() - 1 } else { 1 };
        self.focus = order[(at + step) % order.len()];
    }

    /// What the choice means in this state of the interrupt; `None` while it has to wait. A process that received a
    /// stop stops, so the stop cannot be taken back: the run continues once it has stopped.
    pub(super) fn carry_out(&self, interrupt: &Interrupt, has_process: bool) -> Option<Action> {
        let id = interrupt.id;
        match (self.chosen.as_ref()?, interrupt.state) {
            (Chosen::ResumeUnchanged, State::Requested) => Some(Action::Withdraw { interrupt: id }),
            (Chosen::ResumeUnchanged, State::Delivered) if !has_process => {
                Some(Action::Withdraw { interrupt: id })
            }
            (Chosen::ResumeUnchanged, State::AwaitingReview) => Some(Action::Resume {
                run: self.run,
                interrupt: id,
                input: None,
            }),
            (Chosen::Submit(text), State::AwaitingReview) => Some(Action::Resume {
                run: self.run,
                interrupt: id,
                input: Some(text.clone()),
            }),
            (Chosen::Suggest(text), State::AwaitingReview) => Some(Action::Suggest {
                run: self.run,
                request: text.clone(),
            }),
            (Chosen::Apply(digest), State::AwaitingReview) => Some(Action::ApplyPlan {
                run: self.run,
                digest: *digest,
            }),
            (
                Chosen::Submit(_) | Chosen::Suggest(_) | Chosen::Apply(_) | Chosen::ResumeUnchanged,
                State::Requested
                | State::Delivered
                | State::Acknowledged
                | State::Resolved
                | State::Rerouted
                | State::Expired
                | State::Cancelled
                | State::DeadLettered,
            ) => None,
        }
    }
}

/// How far the interrupt has come, in one line: each phase with the time that it took.
pub(super) fn phases(
    modal: &Modal,
    interrupt: Option<&Interrupt>,
    checkpoint: u64,
    now: Timestamp,
    me: Option<&str>,
) -> String {
    let took = |at: Timestamp| {
        let time = at.duration_since(modal.since);
        format!("{} ms", time.as_millis().max(0))
    };
    let Some(interrupt) = interrupt else {
        return format!("asking… {}", took(now));
    };
    let mut line = format!("requested {}", took(interrupt.requested_at));
    match interrupt.acknowledged_at {
        Some(at) => line.push_str(&format!(" → applied {}", took(at))),
        None if interrupt.state.is_live() => {
            line.push_str(&format!(" → stopping… {}", took(now)));
            line.push_str(&grace_left(modal, interrupt, now));
        }
        None => {}
    }
    if interrupt.state == State::AwaitingReview {
        line.push_str(" → paused");
        if checkpoint > 0 {
            line.push_str(&format!(" → checkpoint {checkpoint}"));
        }
    } else if !interrupt.state.is_live() {
        line.push_str(&format!(" → {}", end_of(interrupt)));
    }
    // A request for what is under way joins it, and thereby another requester's reason.
    let by = interrupt.requested_by.name.as_str();
    if interrupt.state.is_live() && me.is_some_and(|me| me != by) {
        line.push_str(&format!(
            " · asked by {by}: {}",
            visible_line(&interrupt.reason)
        ));
    }
    line
}

/// When a stop that is under way is made immediate.
fn grace_left(modal: &Modal, interrupt: &Interrupt, now: Timestamp) -> String {
    if modal.hardened || interrupt.mode == StopMode::Immediate {
        return " · at once".to_owned();
    }
    let limits = StopNote::in_force(interrupt).into_iter();
    let Some(limit) = limits.filter_map(|note| note.limit_ms).min() else {
        return String::new();
    };
    let limit = i128::from(limit);
    let left = limit - now.duration_since(interrupt.requested_at).as_millis();
    let tenths = left.max(0) / 100;
    format!(" · at once in {}.{} s", tenths / 10, tenths % 10)
}

/// How an interrupt has ended, and who decided that.
pub(super) fn end_of(interrupt: &Interrupt) -> String {
    match &interrupt.decision {
        Some(decision) => format!("{}: {}", interrupt.state, decided(decision)),
        None => interrupt.state.to_string(),
    }
}
