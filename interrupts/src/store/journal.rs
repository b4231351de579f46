//! The journal of effects: first the intent, then the result. A result that is there is read, never produced again.

use async_trait::async_trait;
use interrupt_router::{InterruptId, NodeId, RunId};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::error::StoreError;
use super::interrupt::Page;
use crate::digest::EffectId;
use crate::names::KindName;

/// What may be done about an effect whose outcome is unknown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Repeating {
    /// It may run again with the same effect id.
    Idempotent,
    /// A person is asked.
    AskPerson,
}

/// What is about to be done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Intent {
    /// Names it.
    pub effect: EffectId,
    /// The run.
    pub run: RunId,
    /// The node.
    pub node: NodeId,
    /// What kind of effect it is: a model call, a tool call, a child, a dispatch.
    pub kind: KindName,
    /// What may be done if its outcome is unknown.
    pub repeating: Repeating,
    /// What exactly is to be done, as JSON.
    pub content: String,
    /// Its place in the run, if it has one: the same step of a fork of the run has the same place. A fork
    /// takes over the results of effects that have a place, and of no others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
}

/// What came of an effect.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct JournalResult {
    /// The result, as JSON.
    pub content: String,
    /// When it was recorded.
    pub at: Timestamp,
    /// The store's journal had so many intents and results when it was recorded, this one included; 0 where an
    /// older version of the store did not count.
    #[serde(default)]
    pub count: u64,
}

/// An effect in the journal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct JournalEntry {
    /// Its place in the store's journal.
    pub position: u64,
    /// What was to be done.
    pub intent: Intent,
    /// When it began.
    pub begun_at: Timestamp,
    /// What came of it; unknown while it is absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<JournalResult>,
}

impl JournalEntry {
    /// The kind of effect that carries out a decision.
    pub const DISPATCH: &'static str = "dispatch";

    /// The interrupt whose decision it carries out.
    pub fn dispatched(&self) -> Option<InterruptId> {
        #[derive(Deserialize)]
        struct Dispatch {
            interrupt: InterruptId,
        }
        if self.intent.kind.as_str() != Self::DISPATCH {
            return None;
        }
        let dispatch: Dispatch = serde_json::from_str(&self.intent.content).ok()?;
        Some(dispatch.interrupt)
    }
}

/// An effect of a run that is about to be created, whose result is known by then. Its place is one that no other run
/// has; a fork of that run takes it over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownEffect {
    /// The node.
    pub node: NodeId,
    /// What kind of effect it is.
    pub kind: KindName,
    /// Its place in the run.
    pub place: String,
    /// What exactly was to be done, as JSON.
    pub content: String,
    /// The result, as JSON.
    pub result: String,
}

/// What beginning an effect found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Begun {
    /// It is new: do it.
    New(JournalEntry),
    /// It was begun before: read its result, or treat its outcome as unknown.
    Known(JournalEntry),
}

/// Why the journal did not take something.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum JournalError {
    /// There is no such run.
    #[error("there is no {run}")]
    UnknownRun {
        /// The run.
        run: RunId,
    },
    /// There is no such effect.
    #[error("there is no effect {effect}")]
    UnknownEffect {
        /// The effect.
        effect: EffectId,
    },
    /// A newer owner has the run.
    #[error("epoch {given} is not the current one, {current}")]
    Fenced {
        /// The epoch of the request.
        given: u64,
        /// The epoch of the run.
        current: u64,
    },
    /// The effect id belongs to another intent.
    #[error("effect {effect} was begun with another content")]
    OtherIntent {
        /// The effect.
        effect: EffectId,
    },
    /// The effect has another result, which is kept.
    #[error("effect {effect} already has another result")]
    OtherResult {
        /// The effect.
        effect: EffectId,
    },
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Keeps the journals of runs.
#[async_trait]
pub trait Journal: Send + Sync {
    /// Records what is about to be done, by the run's owner in its epoch.
    ///
    /// # Errors
    ///
    /// [`JournalError`].
    ///
    /// # Cancel safety
    ///
    /// If dropped, the intent was recorded or not. Begin it again: what was not done yet is then `Known`.
    async fn begin(&self, epoch: u64, intent: Intent) -> Result<Begun, JournalError>;

    /// Records what came of an effect. The same result may be recorded again.
    ///
    /// # Errors
    ///
    /// [`JournalError`]; with [`JournalError::OtherResult`] the first result is kept.
    ///
    /// # Cancel safety
    ///
    /// If dropped, the result was recorded or not. Record it again to be sure.
    async fn finish(
        &self,
        epoch: u64,
        effect: EffectId,
        content: String,
    ) -> Result<JournalEntry, JournalError>;

    /// An effect.
    ///
    /// # Errors
    ///
    /// [`StoreError`].
    ///
    /// # Cancel safety
    ///
    /// Safe: it only reads.
    async fn effect(&self, effect: EffectId) -> Result<Option<JournalEntry>, StoreError>;

    /// The journal of a run, in the order of its intents.
    ///
    /// # Errors
    ///
    /// [`StoreError`].
    ///
    /// # Cancel safety
    ///
    /// Safe: it only reads.
    async fn journal(&self, run: RunId, page: Page) -> Result<Vec<JournalEntry>, StoreError>;

    /// The effects of a run that have no result, in the order of their intents.
    ///
    /// # Errors
    ///
    /// [`StoreError`].
    ///
    /// # Cancel safety
    ///
    /// Safe: it only reads.
    async fn unknown_effects(
        &self,
        run: RunId,
        page: Page,
    ) -> Result<Vec<JournalEntry>, StoreError>;
}
