//! What a rule says, and the effective settings after all rules.

use std::collections::BTreeMap;
use std::fmt::{self, Display};

use jiff::SignedDuration;
use serde::{Deserialize, Serialize};

use super::subject::Subject;
use crate::life::{ExpiryOutcome, Verdict};
use crate::names::RouteName;

/// How long a handler, a hook or a callback may take by default.
pub(super) const USUAL_HANDLER_LIMIT: SignedDuration = SignedDuration::from_secs(5);

/// Who answers a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answering {
    /// As its type says: a person, or the reviewing model.
    Ask,
    /// The policy itself.
    Automatic(AutomaticAnswer),
}

/// An answer that the policy gives.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct AutomaticAnswer {
    /// What is decided: approve, respond, reject, ignore, cancel or reroute.
    pub verdict: Verdict,
    /// Where it leads; given if and only if the verdict is to reroute.
    pub target: Option<RouteName>,
    /// What is said.
    pub text: Option<String>,
    /// What is chosen, by the values that the question offers.
    pub choices: Vec<String>,
    /// What is answered to everything that must be confirmed.
    pub confirm: Option<bool>,
}

/// How a paused run continues.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Resuming {
    /// Only when it is resumed.
    Never,
    /// By itself, after some time. A pause that a person asked for never ends by itself.
    After {
        /// How long it stays paused.
        pause: SignedDuration,
        /// What the agent is told; its input is unchanged if absent.
        input: Option<String>,
    },
}

/// How open questions of one run are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Batching {
    /// One by one.
    Separately,
    /// Together, to be answered at once.
    Together,
}

/// The effective settings of an interrupt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Terms {
    /// Its place in lists, from 0 to 99; smaller goes first. People's own interrupts go first anyhow.
    pub priority: u8,
    /// Who answers it, if it asks.
    pub answer: Answering,
    /// How it continues, if it pauses.
    pub resume: Resuming,
    /// How it is shown beside others.
    pub batch: Batching,
    /// How long it may wait for its answer; `None` for ever.
    pub review_limit: Option<SignedDuration>,
    /// What happens when that has passed. Never an approval.
    pub on_expiry: ExpiryOutcome,
    /// How long a graceful stop may last before it becomes an immediate one; `None` for as long as it takes.
    pub grace: Option<SignedDuration>,
    /// How long each handler, hook or callback may take.
    pub handler_limit: SignedDuration,
}

impl Terms {
    /// What applies if nothing is configured: a person is asked and waited for.
    pub fn built_in(subject: &Subject) -> Self {
        Self {
            priority: subject.lane().priority(),
            answer: Answering::Ask,
            resume: Resuming::Never,
            batch: Batching::Separately,
            review_limit: None,
            on_expiry: ExpiryOutcome::Reject,
            grace: None,
            handler_limit: USUAL_HANDLER_LIMIT,
        }
    }
}

/// What a rule says; `None` if it leaves a property to others.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct RuleSettings {
    pub(super) priority: Option<u8>,
    pub(super) answer: Option<Answering>,
    pub(super) resume: Option<Resuming>,
    pub(super) batch: Option<Batching>,
    pub(super) review_limit: Option<Option<SignedDuration>>,
    pub(super) on_expiry: Option<ExpiryOutcome>,
    pub(super) grace: Option<Option<SignedDuration>>,
    pub(super) handler_limit: Option<SignedDuration>,
}

impl RuleSettings {
    /// Replaces what it says.
    pub(super) fn write_into(&self, terms: &mut Terms) {
        fn replace<T: Clone>(term: &mut T, said: Option<&T>) {
            if let Some(said) = said {
                term.clone_from(said);
            }
        }
        replace(&mut terms.priority, self.priority.as_ref());
        replace(&mut terms.answer, self.answer.as_ref());
        replace(&mut terms.resume, self.resume.as_ref());
        replace(&mut terms.batch, self.batch.as_ref());
        replace(&mut terms.review_limit, self.review_limit.as_ref());
        replace(&mut terms.on_expiry, self.on_expiry.as_ref());
        replace(&mut terms.grace, self.grace.as_ref());
        replace(&mut terms.handler_limit, self.handler_limit.as_ref());
    }
}

/// The names of verdicts in policies; only these may be automatic.
pub(super) const VERDICTS: [(&str, Verdict); 5] = [
    ("approve", Verdict::Approve),
    ("respond", Verdict::Respond),
    ("reject", Verdict::Reject),
    ("ignore", Verdict::Ignore),
    ("cancel", Verdict::Cancel),
];

impl Display for Answering {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let answer = match self {
            Self::Ask => return formatter.write_str("ask"),
            Self::Automatic(answer) => answer,
        };
        match &answer.target {
            Some(target) => write!(formatter, "reroute:{target}")?,
            None => {
                let named = VERDICTS
                    .iter()
                    .find(|(_name, verdict)| *verdict == answer.verdict);
                formatter.write_str(named.map_or("respond", |(name, _verdict)| name))?;
            }
        }
        if let Some(text) = &answer.text {
            write!(formatter, ", saying {text:?}")?;
        }
        if !answer.choices.is_empty() {
            write!(formatter, ", choosing {}", answer.choices.join(", "))?;
        }
        match answer.confirm {
            Some(true) => formatter.write_str(", confirming everything"),
            Some(false) => formatter.write_str(", confirming nothing"),
            None => Ok(()),
        }
    }
}

impl Display for Resuming {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Never => formatter.write_str("never"),
            Self::After { pause, input } => {
                if pause.is_zero() {
                    formatter.write_str("at once")?;
                } else {
                    write!(formatter, "after {pause:#}")?;
                }
                match input {
                    Some(input) => write!(formatter, ", saying {input:?}"),
                    None => Ok(()),
                }
            }
        }
    }
}

impl Display for Batching {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Separately => "separately",
            Self::Together => "together",
        })
    }
}

/// A limit in words.
pub(super) fn limit(limit: Option<SignedDuration>) -> String {
    limit.map_or_else(|| "none".to_owned(), |limit| format!("{limit:#}"))
}

/// An outcome as a policy names it.
pub(super) fn outcome(outcome: &ExpiryOutcome) -> String {
    match outcome {
        ExpiryOutcome::Reject => "reject".to_owned(),
        ExpiryOutcome::Cancel => "cancel".to_owned(),
        ExpiryOutcome::Reroute { target } => format!("reroute:{target}"),
    }
}

impl AutomaticAnswer {
    /// The answer as people would give it, for a question that asks to confirm these items.
    pub(super) fn as_answer(&self, items: &[String]) -> interrupt_router::review::Answer {
        let confirmations: BTreeMap<_, _> = self
            .confirm
            .map(|confirm| items.iter().map(|item| (item.clone(), confirm)).collect())
            .unwrap_or_default();
        interrupt_router::review::Answer {
            selected_choices: self.choices.clone(),
            text: self.text.clone(),
            confirmations,
            edited_request: None,
            reroute_to: self.target.as_ref().map(ToString::to_string),
            verdict: None,
        }
    }
}
