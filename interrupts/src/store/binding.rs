//! What binds the rows of a store to its audit.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::audit::AuditHead;
use super::journal::{Intent, JournalEntry, JournalResult, Repeating};
use crate::digest::{Digest, EffectId};

/// A place in the journal: how many intents there are up to it, and how many intents and results there were when the
/// last result up to it was recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct JournalPosition {
    /// The position of the last intent.
    pub intents: u64,
    /// The count of the last result.
    pub results: u64,
}

/// A part of the journal that a row of the audit vouches for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct JournalMark {
    /// Where it begins: after this place.
    pub after: JournalPosition,
    /// Where it ends.
    pub through: JournalPosition,
    /// The digest of its intents, then of its results, each in their order.
    pub digest: Digest,
}

/// The digests of a part of the journal, as far as it has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct JournalSoFar {
    /// Of its intents.
    pub intents: Digest,
    /// Of its results.
    pub results: Digest,
}

impl JournalSoFar {
    /// Of a part in which nothing is.
    pub const EMPTY: Self = Self {
        intents: Digest::ZERO,
        results: Digest::ZERO,
    };

    /// Adds the next intent.
    pub fn intent(&mut self, digest: &Digest) {
        self.intents = next(&self.intents, digest);
    }

    /// Adds the next result.
    pub fn result(&mut self, digest: &Digest) {
        self.results = next(&self.results, digest);
    }

    /// One digest of both.
    pub fn digest(&self) -> Digest {
        next(&self.intents, &self.results)
    }
}

fn next(before: &Digest, digest: &Digest) -> Digest {
    Digest::of_parts([before.bytes().as_slice(), digest.bytes()])
}

impl JournalEntry {
    /// The digest of what was to be done. It is made of the single parts, so that what another version of this program
    /// writes beside them changes nothing.
    pub fn intent_digest(&self) -> Digest {
        let Intent {
            effect,
            run,
            node,
            kind,
            repeating,
            content,
            place,
        } = &self.intent;
        let repeating = match repeating {
            Repeating::Idempotent => "idempotent",
            Repeating::AskPerson => "ask_person",
        };
        Digest::of_parts([
            b"intent".as_slice(),
            &self.position.to_be_bytes(),
            effect.to_string().as_bytes(),
            run.to_string().as_bytes(),
            node.to_string().as_bytes(),
            kind.as_str().as_bytes(),
            repeating.as_bytes(),
            content.as_bytes(),
            place.as_deref().unwrap_or_default().as_bytes(),
            &instant(self.begun_at),
        ])
    }
}

impl JournalResult {
    /// The digest of what came of an effect.
    pub fn digest(&self, effect: EffectId) -> Digest {
        Digest::of_parts([
            b"result".as_slice(),
            effect.to_string().as_bytes(),
            &self.count.to_be_bytes(),
            &instant(self.at),
            self.content.as_bytes(),
        ])
    }
}

fn instant(at: Timestamp) -> [u8; 8] {
    at.as_microsecond().to_be_bytes()
}

/// What is known of a store whose audit is whole and vouches for its rows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verification {
    /// The end of the audit.
    #[serde(flatten)]
    pub head: AuditHead,
    /// The id of the store; a store in memory and a server of an older version have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub store: Option<String>,
    /// How many interrupts, checkpoints and parts of the journal nothing vouches for: an older version of this program
    /// wrote them.
    #[serde(default)]
    pub unbound: u64,
    /// How many runs were purged, as far back as the audit goes. What they left are digests.
    #[serde(default)]
    pub purged: u64,
}
