//! Which interrupts ask the same thing.

use serde::{Deserialize, Serialize};

use crate::digest::Digest;

/// Which later interrupts ask the same thing as this one, for a person who has decided this one and does not want to be
/// asked again. The code that raises an interrupt says so; its content does not, since that may be a model's.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Recurrence {
    /// Those that say the same, word for word.
    #[default]
    Verbatim,
    /// Those with the same digest, regardless of what in them names this one time.
    Same(Digest),
    /// None: it is about one moment, which never comes again.
    Once,
}

impl Recurrence {
    /// Whether it is the default, which is not written down.
    pub(super) fn is_usual(&self) -> bool {
        *self == Self::Verbatim
    }
}
