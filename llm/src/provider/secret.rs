//! A key that is never shown.

use std::fmt::{self, Debug};

/// The shortest key that is looked for in texts: a shorter one would be found in ordinary words.
const SHORTEST_TO_HIDE: usize = 6;

/// A key. It is in no log, no error and no debug output.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Takes a key.
    pub fn new(key: impl Into<String>) -> Self {
        Self(key.into())
    }

    /// The key itself.
    pub(crate) fn reveal(&self) -> &str {
        &self.0
    }

    /// The text without the key: providers quote keys in their refusals.
    pub(crate) fn hidden_in(&self, text: &str) -> String {
        if self.0.len() < SHORTEST_TO_HIDE {
            return text.to_owned();
        }
        text.replace(&self.0, "[key]")
    }
}

impl Debug for Secret {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Secret(..)")
    }
}
