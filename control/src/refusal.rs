//! Refusals: why something was not done, in the words and with the advice that callers get over every way in.

mod code;
mod decision;
mod interrupt;
mod message;
mod plan;
mod request;
mod rule;
mod run;

use std::error::Error;

use interrupts::store::StoreError;
use serde_json::{Map, Value};

pub use code::Code;
pub(crate) use decision::{misfit, not_decided, version_needed};
pub(crate) use interrupt::version_changed;
pub use interrupt::{decider, direction, no_interrupt, not_changed, not_open, verdict_refused};
pub use message::{not_read, not_sent};
pub use plan::{no_plan, plan_not_changed, plan_not_read};
pub use request::{not_admitted, not_asked};
pub use rule::{no_rule, rule_not_made};
pub use run::{no_agent, no_run, refuse_ended};

/// Why something was not done, and what to do instead.
#[derive(Debug, Clone, PartialEq)]
pub struct Refusal(Box<Parts>);

#[derive(Debug, Clone, PartialEq)]
struct Parts {
    code: Code,
    text: String,
    hint: String,
    members: Map<String, Value>,
}

impl Refusal {
    /// What happened, and what to do next; commands in the hint begin with `irq`.
    pub fn new(code: Code, text: impl Into<String>, hint: impl Into<String>) -> Self {
        Self(Box::new(Parts {
            code,
            text: text.into(),
            hint: hint.into(),
            members: Map::new(),
        }))
    }

    /// Adds what programs read beside the text.
    #[must_use]
    pub fn with(mut self, member: &str, value: impl Into<Value>) -> Self {
        self.0.members.insert(member.to_owned(), value.into());
        self
    }

    /// What kind it is.
    pub fn code(&self) -> Code {
        self.0.code
    }

    /// What happened.
    pub fn text(&self) -> &str {
        &self.0.text
    }

    /// What to do next; empty if nothing helps.
    pub fn hint(&self) -> &str {
        &self.0.hint
    }

    /// What programs read beside the text, by its names.
    pub fn members(&self) -> &Map<String, Value> {
        &self.0.members
    }
}

/// Why something was not done: a rule refuses it, or what it needs has failed. Those who answer callers tell failures in
/// their own words, since not every caller may read what a store says.
#[derive(Debug, thiserror::Error)]
pub enum NotDone {
    /// A rule refuses it.
    #[error("{}", .0.text())]
    Refused(Refusal),
    /// The store failed.
    #[error(transparent)]
    Store(StoreError),
    /// Something failed that should not.
    #[error(transparent)]
    Failed(Box<dyn Error + Send + Sync>),
}

impl From<Refusal> for NotDone {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}
