//! Which interrupts ask the same thing.

use serde::{Deserialize, Serialize};

use crate::digest::Digest;

/// Which later interrupts ask the same thing as this one, for whoever has decided this one and wants to be asked no
/// more. Whoever raises an interrupt says so; nothing in its content does, for that may be a model's.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Recurrence {
    /// Those that say the same, word for word.
    #[default]
    Verbatim,
    /// Those with the same digest, whatever names this one time in what they say.
    Same(Digest),
    /// None: it is about one moment, which never comes again.
    Once,
}

impl Recurrence {
    /// Whether it is the usual one, which is not written down.
    pub(super) fn is_usual(&self) -> bool {
        *self == Self::Verbatim
    }
}
