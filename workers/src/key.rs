//! The keys with which a worker names the places of its code.

use std::fmt::{self, Display};
use std::str::FromStr;

use interrupt_router::RunId;
use interrupts::EffectId;

/// The most characters of a key.
const LONGEST: usize = 150;

/// The ending of a key of a question that asks for a request.
const REQUEST: &str = ":request";

/// Names a place in a worker's code: the same whenever that code is executed again.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WorkKey(String);

/// A text that is not a valid key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a key has 1 to {LONGEST} letters, digits, `-`, `_`, `.`, `:` and `~`")]
pub struct ParseWorkKeyError;

impl WorkKey {
    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The key of the question that asks a person for the request of the question with this one.
    #[must_use]
    pub fn for_request(&self) -> Self {
        Self(format!("{self}{REQUEST}"))
    }

    /// Whether it is such a key.
    pub(crate) fn is_for_request(&self) -> bool {
        self.0.ends_with(REQUEST)
    }

    /// The place of the question in its run's journal.
    pub(crate) fn question(&self) -> String {
        format!("question/{self}")
    }

    /// The key of the question at a place of the journal.
    pub(crate) fn of_question(place: &str) -> Option<Self> {
        place.strip_prefix("question/")?.parse().ok()
    }

    /// The place of the messages that were read under the key.
    pub(crate) fn reading(&self) -> String {
        format!("reading/{self}")
    }

    /// The place of the nth answer that was rejected, from 1.
    pub(crate) fn rejected(&self, nth: u32) -> String {
        format!("rejected/{nth}/{self}")
    }

    /// The effect with this key.
    pub(crate) fn effect(&self, run: RunId) -> EffectId {
        EffectId::in_run(run, &self.effect_place())
    }

    /// The place of the effect with this key.
    pub(crate) fn effect_place(&self) -> String {
        format!("effect/{self}")
    }
}

impl Display for WorkKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl FromStr for WorkKey {
    type Err = ParseWorkKeyError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.:~".contains(&byte);
        let length = text.strip_suffix(REQUEST).unwrap_or(text).len();
        let fine = (1..=LONGEST).contains(&length) && text.bytes().all(fits);
        fine.then(|| Self(text.to_owned())).ok_or(ParseWorkKeyError)
    }
}
