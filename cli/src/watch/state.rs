//! Everything that the screens know, as one value. Keys and news go in, actions come out; it does nothing itself.

use std::cell::Cell;
use std::collections::HashMap;
use std::fmt;

use interrupt_router::{InterruptId, RunId};
use interrupts::life::{Family, Interrupt, State as Life};
use interrupts::store::NodeRow;
use jiff::{SignedDuration, Timestamp};
use tui_input::Input;

use super::action::{Action, Done};
use super::draft::AnswerDraft;
use super::going_on::GoingOn;
use super::mark::Marked;
use super::modal::{Chosen, Modal, PlanChange};
use super::overlay::Overlay;
use super::seen::DisplayedSubject;
use super::snapshot::{RunView, Snapshot};
use crate::time::Grace;

/// How long a note stays.
const NOTE: SignedDuration = SignedDuration::from_secs(6);
/// How long the first Ctrl+C waits for the second.
const LEAVING: SignedDuration = SignedDuration::from_secs(2);

/// What is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Screen {
    /// All runs with their agents.
    Agents,
    /// One run: its agents, its stream.
    Run(RunId),
    /// What waits for a person.
    Inbox,
    /// One interrupt.
    Review(InterruptId),
    /// The keys.
    Help,
}

/// A short word to the person.
#[derive(Debug, Clone)]
pub(super) struct Note {
    pub(super) text: String,
    pub(super) is_bad: bool,
    until: Timestamp,
}

/// A row of the tree of agents.
#[derive(Debug, Clone, Copy)]
pub(super) enum TreeRow<'a> {
    Run(&'a RunView),
    Node(&'a RunView, &'a NodeRow),
}

/// What the screens know.
#[derive(Debug)]
pub(super) struct ScreenState {
    pub(super) screen: Screen,
    back: Vec<Screen>,
    /// The row that is looked at.
    pub(super) at: usize,
    /// What that row contains.
    pub(super) marked: Marked,
    pub(super) overlay: Option<Overlay>,
    /// What was written in windows and not sent, by the run.
    pub(super) kept: HashMap<RunId, Input>,
    pub(super) note: Option<Note>,
    pub(super) snapshot: Snapshot,
    pub(super) now: Timestamp,
    pub(super) drafts: HashMap<InterruptId, AnswerDraft>,
    leaves_until: Option<Timestamp>,
    /// How far what is read on the screen can be moved up; the drawing code sets it.
    pub(super) reach: Cell<usize>,
    /// How many questions were open when the bell rang last.
    notified: usize,
    /// Whether the terminal's bell shall ring.
    pub(super) notifies: bool,
    /// What the terminal shows of what can be decided.
    pub(super) seen: DisplayedSubject,
    pub(super) going_on: GoingOn,
    /// How long a stop by Esc may be graceful.
    pub(super) grace: Grace,
    /// Whether the last key was an Esc that has left a review or the help.
    pub(super) has_left: bool,
    /// Whether the screens are there for one window only, and go with it.
    pub(super) is_visit: bool,
    /// The window of a visit, as it was when what was chosen in it was carried out.
    pub(super) visited: Option<Box<Modal>>,
}

impl ScreenState {
    pub(super) fn new(screen: Screen, now: Timestamp) -> Self {
        Self {
            screen,
            back: Vec::new(),
            at: 0,
            marked: Marked::default(),
            overlay: None,
            kept: HashMap::new(),
            note: None,
            snapshot: Snapshot::default(),
            now,
            drafts: HashMap::new(),
            leaves_until: None,
            reach: Cell::new(0),
            notified: 0,
            notifies: false,
            seen: DisplayedSubject::default(),
            going_on: GoingOn::default(),
            grace: Grace::OF_ESCAPE,
            has_left: false,
            is_visit: false,
            visited: None,
        }
    }

    /// The run whose stream is shown.
    pub(super) fn looked_at(&self) -> Option<RunId> {
        match self.screen {
            Screen::Run(run) => Some(run),
            Screen::Agents | Screen::Inbox | Screen::Review(_) | Screen::Help => None,
        }
    }

    /// Time has passed.
    pub(super) fn tick(&mut self, now: Timestamp) {
        self.now = now;
        if self.note.as_ref().is_some_and(|note| note.until <= now) {
            self.note = None;
        }
        if self.leaves_until.is_some_and(|until| until <= now) {
            self.leaves_until = None;
        }
    }

    /// The store was read again.
    pub(super) fn refresh(&mut self, snapshot: Snapshot) -> Vec<Action> {
        self.snapshot = snapshot;
        let open = self.snapshot.inbox().count();
        self.notifies = open > self.notified;
        self.notified = open;
        self.follow_mark();
        let mut actions = self.follow_modal();
        actions.extend(self.follow_closed());
        actions
    }

    /// Carries out what was chosen in the modal, once the pause has taken effect.
    fn follow_modal(&mut self) -> Vec<Action> {
        let Some(Overlay::Modal(modal)) = &self.overlay else {
            return Vec::new();
        };
        let Some(id) = modal.interrupt else {
            return Vec::new();
        };
        let modal = modal.clone();
        if let Some(action) = self.wanted(&modal) {
            return self.carry_out(modal, action);
        }
        if modal.chosen.is_some() && self.snapshot.has_ended(id) {
            self.was_too_late(&modal);
        }
        Vec::new()
    }

    /// Carries out what was chosen in the modal. The modal stays if it has to show the result.
    pub(super) fn carry_out(&mut self, mut modal: Box<Modal>, action: Action) -> Vec<Action> {
        self.overlay = None;
        if self.is_visit {
            self.visited = Some(modal.clone());
        }
        if matches!(action, Action::Suggest { .. }) {
            modal.chosen = None;
            modal.change = PlanChange::Asked;
            self.overlay = Some(Overlay::Modal(modal));
        } else if modal.chosen == Some(Chosen::ResumeUnchanged) {
            self.keep_words(modal.run, &modal.text);
        }
        vec![action]
    }

    /// Whether a change of a run's plan is to be shown before it is applied.
    pub(super) fn change_of(&self, run: RunId) -> PlanChange {
        match self.snapshot.run(run).and_then(|view| view.plan.as_ref()) {
            Some(_plan) => PlanChange::Unseen,
            None => PlanChange::Unneeded,
        }
    }

    /// An action has come to its end.
    pub(super) fn done(&mut self, done: Done) {
        match done {
            Done::Interrupted { interrupt } => {
                if let Some(modal) = self.modal_mut() {
                    modal.interrupt = Some(interrupt);
                }
            }
            Done::StopsFirst { run, interrupt } => {
                let mut modal =
                    Modal::new(run, None, Input::default(), self.now, PlanChange::Unneeded);
                modal.interrupt = Some(interrupt);
                modal.chosen = Some(Chosen::ResumeUnchanged);
                self.goes_on_later(modal);
            }
            Done::Proposed { run, preview } => {
                if let Some(modal) = self.modal_mut()
                    && modal.run == run
                {
                    modal.change = PlanChange::Shown(preview);
                } else {
                    self.tell("A change is proposed; nothing is applied.");
                }
            }
            Done::NotProposed(text) => {
                if let Some(modal) = self.modal_mut() {
                    modal.change = PlanChange::Unseen;
                }
                self.warn(text);
            }
            Done::Told(text) => self.tell(text),
            Done::Refused(text) => {
                self.refused();
                self.warn(text);
            }
            Done::NotSent { run, words, why } => {
                if self.overlay.is_some() || !self.opens_again() {
                    self.keep_words(run, &words.into());
                }
                self.warn(why);
            }
        }
    }

    pub(super) fn tell(&mut self, text: impl Into<String>) {
        self.set_note(text.into(), false);
    }

    pub(super) fn warn(&mut self, text: impl Into<String>) {
        self.set_note(text.into(), true);
    }

    fn set_note(&mut self, text: String, is_bad: bool) {
        let until = self.now.checked_add(NOTE).unwrap_or(Timestamp::MAX);
        self.note = Some(Note {
            text,
            is_bad,
            until,
        });
    }

    /// Goes to another screen.
    pub(super) fn go(&mut self, screen: Screen) {
        if self.screen != screen {
            self.back.push(self.screen);
            self.screen = screen;
            self.mark(0);
        }
    }

    /// Goes back to the previous screen; returns whether there was one.
    pub(super) fn go_back(&mut self) -> bool {
        match self.back.pop() {
            Some(screen) => {
                self.screen = screen;
                self.mark(0);
                true
            }
            None => false,
        }
    }

    /// The rows of the tree.
    pub(super) fn tree(&self) -> Vec<TreeRow<'_>> {
        let mut rows = Vec::new();
        for view in &self.snapshot.runs {
            if let Screen::Run(run) = self.screen
                && view.run.id != run
            {
                continue;
            }
            rows.push(TreeRow::Run(view));
            for node in &view.nodes {
                rows.push(TreeRow::Node(view, node));
            }
        }
        rows
    }

    /// The interrupts of the inbox.
    pub(super) fn inbox(&self) -> Vec<&Interrupt> {
        self.snapshot.inbox().collect()
    }

    /// How many rows the screen has.
    pub(super) fn rows(&self) -> usize {
        match self.screen {
            Screen::Agents | Screen::Run(_) => self.tree().len(),
            Screen::Inbox => self.inbox().len(),
            Screen::Review(_) | Screen::Help => self.reach.get() + 1,
        }
    }

    /// The number of the last checkpoint of a run.
    pub(super) fn checkpoint_of(&self, run: RunId) -> u64 {
        self.snapshot.run(run).map_or(0, |view| view.run.checkpoint)
    }

    /// Ctrl+C with nothing to close: the second one within two seconds leaves.
    pub(super) fn leave(&mut self) -> Vec<Action> {
        if self.leaves_until.is_some() {
            return self.quit();
        }
        self.leaves_until = self.now.checked_add(LEAVING).ok();
        self.tell("Press Ctrl+C again to exit. Runs go on.");
        Vec::new()
    }

    /// The draft of the answer to a question.
    pub(super) fn draft(&mut self, interrupt: InterruptId) -> &mut AnswerDraft {
        self.drafts.entry(interrupt).or_default()
    }

    /// How many interrupts wait for a person.
    pub(super) fn waiting(&self) -> WaitingCount {
        WaitingCount {
            number: self.snapshot.inbox().count(),
            more: self.snapshot.more_interrupts,
        }
    }

    /// The stops that are under way.
    pub(super) fn stopping(&self) -> Vec<&Interrupt> {
        let is_under_way = |interrupt: &&Interrupt| {
            interrupt.family() == Family::Stop
                && matches!(interrupt.state, Life::Requested | Life::Delivered)
        };
        let interrupts = self.snapshot.interrupts.iter();
        interrupts.filter(is_under_way).collect()
    }
}

/// How many interrupts wait for a person, as far as they were read.
#[derive(Debug, Clone, Copy)]
pub(super) struct WaitingCount {
    pub(super) number: usize,
    /// Whether there are interrupts that were not read.
    more: bool,
}

impl fmt::Display for WaitingCount {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let more = if self.more { "+" } else { "" };
        write!(formatter, "{}{more}", self.number)
    }
}

#[cfg(test)]
mod tests {
    use super::WaitingCount;

    #[test]
    fn where_more_wait_than_were_read_that_is_said() {
        let waiting = |more| WaitingCount { number: 500, more }.to_string();
        assert_eq!(waiting(true), "500+");
        assert_eq!(waiting(false), "500");
    }
}
