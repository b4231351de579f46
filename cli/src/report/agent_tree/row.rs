//! One agent of the tree.

use interrupt_router::NodeId;
use interrupt_router::model::{CallNote, TokenUsage};
use interrupts::store::NodeActivity;
use jiff::{SignedDuration, Timestamp};

use super::words_of;
use crate::activity;
use crate::layout::quantity;
use crate::visible::visible_line;
use crate::workflows;

/// How long a model may be silent before the row says that it reads.
const LONG: SignedDuration = SignedDuration::from_secs(10);

/// What a row is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum RowName {
    /// An agent.
    Agent(&'static str),
    /// A plan or one of its steps, in words.
    Plan(String),
}

/// What is known of one agent.
#[derive(Debug)]
pub(crate) struct AgentRow {
    pub(super) name: RowName,
    pub(super) parent: Option<NodeId>,
    pub(super) children: Vec<NodeId>,
    pub(super) state: NodeActivity,
    /// Which of the agents of its kind below the same parent, from 1.
    number: usize,
    since: Timestamp,
    until: Option<Timestamp>,
    /// The number of its last step in the run; 0 before the first.
    pub(super) step: u32,
    correction: u32,
    /// How much of the answer has arrived, in bytes.
    pub(super) received: usize,
    asking: bool,
    /// When it began to ask.
    asked: Timestamp,
    /// Why its call waits, and until when.
    wait: Option<(String, Timestamp)>,
    said: Option<String>,
    /// What its interrupt waits for.
    pub(super) waits_for: Option<String>,
    usage: TokenUsage,
}

impl AgentRow {
    pub(super) fn new(name: RowName, parent: Option<NodeId>, number: usize, at: Timestamp) -> Self {
        Self {
            name,
            parent,
            children: Vec::new(),
            state: NodeActivity::Pending,
            number,
            since: at,
            until: None,
            step: 0,
            correction: 0,
            received: 0,
            asking: false,
            asked: at,
            wait: None,
            said: None,
            waits_for: None,
            usage: TokenUsage::default(),
        }
    }

    pub(super) fn label(&self) -> String {
        let kind = match &self.name {
            RowName::Agent(kind) => *kind,
            RowName::Plan(words) => return words.clone(),
        };
        let words = words_of(kind);
        let kind_of = workflows::with_shown_kind(kind).and_then(|it| it.kind(kind));
        // A kind whose answers go to another kind works for that one, beside others of its kind.
        let is_worker = kind_of.is_some_and(|it| it.origin.as_str() != kind);
        if is_worker || self.number > 1 {
            format!("{words} {}", self.number)
        } else {
            words
        }
    }

    pub(super) fn start_step(&mut self, step: u32, at: Timestamp) {
        if self.step == 0 {
            self.since = at;
        }
        self.step = step;
        self.correction = 0;
        self.received = 0;
        self.asking = true;
        self.asked = at;
        self.wait = None;
        self.waits_for = None;
        self.until = None;
    }

    /// Takes in a note about its call.
    pub(super) fn note(&mut self, note: &CallNote, at: Timestamp) {
        self.wait = None;
        if let CallNote::Waits { why, wait } = note {
            let wait = SignedDuration::try_from(*wait).unwrap_or(SignedDuration::MAX);
            let until = at.saturating_add(wait).unwrap_or(Timestamp::MAX);
            self.wait = Some((why.clone(), until));
            // What had arrived does not count.
            self.received = 0;
        }
    }

    /// It does nothing of its own now.
    pub(super) fn rest(&mut self) {
        self.asking = false;
        self.said = None;
        self.waits_for = None;
    }

    /// What it has done, or is doing.
    pub(super) fn says(&mut self, said: String) {
        self.asking = false;
        self.said = Some(said);
    }

    pub(super) fn correct(&mut self, correction: u32) {
        self.correction = correction;
        self.received = 0;
    }

    pub(super) fn finish_step(&mut self, field: &str, said: String, usage: TokenUsage) {
        self.asking = false;
        self.usage = self.usage.plus(usage);
        self.said = Some(if said.is_empty() {
            field.to_owned()
        } else {
            said
        });
    }

    pub(super) fn resolve(&mut self, target: String) {
        self.waits_for = None;
        self.said = Some(target);
    }

    pub(super) fn change(&mut self, state: NodeActivity, at: Timestamp) {
        self.state = state;
        if self.has_ended() {
            self.asking = false;
            self.waits_for = None;
            self.until.get_or_insert(at);
        } else {
            self.until = None;
        }
    }

    /// Whether it represents a whole plan whose steps are carried out.
    pub(super) fn is_plan_at_work(&self) -> bool {
        let is_plan = matches!(self.name, RowName::Plan(_)) && self.parent.is_none();
        is_plan && self.state == NodeActivity::Running && !self.children.is_empty()
    }

    pub(super) fn has_ended(&self) -> bool {
        self.state.is_final()
    }

    pub(super) fn elapsed(&self, now: Timestamp) -> Option<SignedDuration> {
        (self.step > 0).then(|| self.until.unwrap_or(now).duration_since(self.since))
    }

    /// What it does or waits for, in a few words.
    pub(super) fn activity(&self, now: Timestamp) -> String {
        if let Some(waits_for) = &self.waits_for {
            return waits_for.clone();
        }
        if self.asking && !self.has_ended() {
            return self.asking_words(now);
        }
        match (&self.said, self.state) {
            (Some(said), _) => said.clone(),
            (None, NodeActivity::Pending | NodeActivity::Running | NodeActivity::Completed) => {
                String::new()
            }
            (None, activity) => activity::words(activity).to_owned(),
        }
    }

    fn asking_words(&self, now: Timestamp) -> String {
        if let Some((why, until)) = &self.wait
            && *until > now
        {
            let left = until.duration_since(now).as_secs() + 1;
            return format!("{}, goes on in {left} s", visible_line(why));
        }
        let bytes = quantity(u64::try_from(self.received).unwrap_or(u64::MAX));
        let asked = now.duration_since(self.asked);
        match (self.correction, self.received) {
            // A model of one's own may read for minutes before it says a word.
            (0, 0) if asked >= LONG => {
                format!("its model reads the prompt, {} s", asked.as_secs())
            }
            (0, 0) => "asks its model".to_owned(),
            (0, _) => format!("the model answers, {bytes} characters"),
            (nth, 0) => format!("asks again, correction {nth}"),
            (nth, _) => format!("correction {nth}, {bytes} characters"),
        }
    }
}
