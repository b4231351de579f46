//! The tries of model calls: those that gave no whole answer are recorded with what had arrived, and with what is
//! known of their cost.
//!
//! The intent of a call also serves as that of its first try. A try that ended without an answer has an entry of its
//! own, and so has every try after it, from its beginning on. So an undisturbed call adds no entries; and a try that
//! has neither an answer nor an end when a process takes the run died with its own process, and its cost is unknown.

use std::collections::HashMap;

use interrupt_router::NodeId;
use interrupt_router::model::TokenUsage;
use serde::{Deserialize, Serialize};

use crate::entry::{CallIntent, Prompt};

/// The kind of such entries in the journal.
pub const ATTEMPT: &str = "model_attempt";

/// A try of a model call that has an entry of its own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AttemptIntent {
    /// The place of the call.
    pub call: String,
    /// Which try it is, from 1.
    pub attempt: u32,
    /// How much was asked.
    pub prompt: Prompt,
}

/// How a try ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "ended", rename_all = "snake_case")]
pub enum AttemptEnd {
    /// With the answer, which is at the place of the call.
    Answered,
    /// It was interrupted.
    CutShort {
        /// What had arrived.
        text: String,
        /// What is known of its cost.
        usage: TokenUsage,
    },
    /// It failed.
    Failed {
        /// Why, with all causes.
        error: String,
        /// Whether anything of it may have been billed.
        may_cost: bool,
    },
    /// Its process died: what had arrived and what it cost are unknown.
    Unknown,
}

impl AttemptEnd {
    /// Whether the call was not made in it: it was stopped, or refused by a budget, before anything was sent.
    pub fn was_not_made(&self) -> bool {
        match self {
            Self::CutShort { text, usage } => text.is_empty() && *usage == TokenUsage::NOTHING,
            Self::Answered | Self::Failed { .. } | Self::Unknown => false,
        }
    }

    /// What is known of its cost.
    pub const fn usage(&self) -> TokenUsage {
        match self {
            Self::CutShort { usage, .. } => *usage,
            Self::Answered | Self::Failed { .. } | Self::Unknown => TokenUsage {
                input: None,
                output: None,
            },
        }
    }
}

/// The tries of one call so far.
#[derive(Debug, Clone, Copy, Default)]
pub struct Tries {
    /// How many have ended without an answer.
    pub ended: u32,
    /// Whether one is under way.
    pub is_open: bool,
}

/// What a run's journal says about tries when a process takes the run.
#[derive(Debug, Default)]
pub struct PastTries {
    calls: Vec<PastCall>,
    attempts: HashMap<String, PastAttempts>,
}

#[derive(Debug)]
struct PastCall {
    place: String,
    node: NodeId,
    prompt: Prompt,
    is_answered: bool,
}

#[derive(Debug, Clone, Copy, Default)]
struct PastAttempts {
    last: u32,
    /// Whether the last one has no end.
    is_open: bool,
}

/// A try whose end must be recorded now, because its process no longer can.
#[derive(Debug, PartialEq, Eq)]
pub struct Unended {
    pub node: NodeId,
    pub intent: AttemptIntent,
    pub end: AttemptEnd,
}

impl PastTries {
    pub fn saw_call(&mut self, place: &str, node: &NodeId, intent: &CallIntent, is_answered: bool) {
        self.calls.push(PastCall {
            place: place.to_owned(),
            node: node.clone(),
            prompt: intent.prompt,
            is_answered,
        });
    }

    pub fn saw_attempt(&mut self, intent: &AttemptIntent, has_ended: bool) {
        let attempts = self.attempts.entry(intent.call.clone()).or_default();
        if intent.attempt > attempts.last {
            *attempts = PastAttempts {
                last: intent.attempt,
                is_open: !has_ended,
            };
        }
    }

    /// The tries that have no end, and how many have ended of each call, once those have.
    pub fn settle(self) -> (Vec<Unended>, HashMap<String, Tries>) {
        let mut unended = Vec::new();
        let mut tries: HashMap<String, Tries> = self
            .attempts
            .iter()
            .map(|(call, attempts)| {
                let ended = attempts.last;
                let is_open = false;
                (call.clone(), Tries { ended, is_open })
            })
            .collect();
        for call in self.calls {
            let known = self.attempts.get(&call.place).copied();
            let attempt = match (known, call.is_answered) {
                (
                    Some(PastAttempts {
                        last,
                        is_open: true,
                    }),
                    _,
                ) => last,
                (None, false) => 1,
                (Some(_) | None, _) => continue,
            };
            let end = if call.is_answered {
                AttemptEnd::Answered
            } else {
                AttemptEnd::Unknown
            };
            tries.entry(call.place.clone()).or_default().ended = attempt;
            unended.push(Unended {
                node: call.node,
                intent: AttemptIntent {
                    call: call.place,
                    attempt,
                    prompt: call.prompt,
                },
                end,
            });
        }
        (unended, tries)
    }
}
