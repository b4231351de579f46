//! Effects: what must not happen twice, begun and finished under a key.

use interrupts::KindName;
use interrupts::store::{Begun, Intent, JournalEntry, JournalError, Repeating};
use routing_core::NodeId;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::WorkError;
use crate::key::WorkKey;
use crate::owned::Owned;

/// The kind of the journal's entries for effects of workers.
const EFFECT: &str = "effect";

/// The state of an effect.
#[derive(Debug, Clone, PartialEq)]
pub enum EffectState {
    /// It was begun now: the worker executes it.
    Begun,
    /// It is done, with this result: it is not executed again.
    Finished(Value),
    /// It was begun before, and it is not known whether it happened.
    Unknown,
}

/// What is begun.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Beginning {
    /// The agent that does it.
    pub node: NodeId,
    /// Whether it may happen twice.
    pub repeatable: bool,
    /// Names this try to begin it: a request that is sent again because its answer was lost is the same try.
    pub attempt: Option<String>,
}

/// What is stored of an effect that was begun.
#[derive(Serialize, Deserialize)]
struct StoredIntent {
    key: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    attempt: Option<String>,
}

impl Owned<'_> {
    /// Begins an effect of an agent, or returns its outcome. A repeatable effect is begun again if it is not known
    /// whether it happened.
    ///
    /// # Errors
    ///
    /// [`WorkError::OtherEffect`] if the key was used for another effect; [`WorkError::UnknownAgent`];
    /// [`WorkError::LeaseLost`].
    ///
    /// # Cancel safety
    ///
    /// Dropped, the effect was begun or not: begun again it is [`EffectState::Unknown`] if it is not repeatable.
    pub async fn begin(
        &self,
        key: &WorkKey,
        beginning: &Beginning,
    ) -> Result<EffectState, WorkError> {
        let node = &beginning.node;
        if self.store().node(self.run.id, node).await?.is_none() {
            return Err(WorkError::UnknownAgent { node: node.clone() });
        }
        let effect = key.effect(self.run.id);
        let intent = Intent {
            effect,
            run: self.run.id,
            node: node.clone(),
            kind: KindName::new(EFFECT).map_err(WorkError::name("/key"))?,
            repeating: match beginning.repeatable {
                true => Repeating::Idempotent,
                false => Repeating::AskPerson,
            },
            content: serde_json::to_string(&StoredIntent {
                key: key.to_string(),
                attempt: beginning.attempt.clone(),
            })?,
            place: Some(key.effect_place()),
        };
        let entry = match self.store().begin(self.epoch(), intent.clone()).await {
            Ok(Begun::New(_)) => return Ok(EffectState::Begun),
            Ok(Begun::Known(entry)) => Some(entry),
            // Another try has begun it.
            Err(JournalError::OtherIntent { .. }) => self.store().effect(effect).await?,
            Err(error) => return Err(error.into()),
        };
        let other = || WorkError::OtherEffect { key: key.clone() };
        let entry = entry.ok_or_else(other)?;
        if entry.intent.node != intent.node || entry.intent.repeating != intent.repeating {
            return Err(other());
        }
        status(&entry, beginning)
    }

    /// Finishes an effect. Finishing it again with the same result changes nothing.
    ///
    /// # Errors
    ///
    /// [`WorkError::UnknownEffect`], [`WorkError::OtherResult`]; [`WorkError::LeaseLost`].
    ///
    /// # Cancel safety
    ///
    /// Safe to repeat.
    pub async fn finish(&self, key: &WorkKey, result: Value) -> Result<Value, WorkError> {
        let effect = key.effect(self.run.id);
        let content = result.to_string();
        match self.store().finish(self.epoch(), effect, content).await {
            Ok(_entry) => Ok(result),
            Err(JournalError::UnknownEffect { .. }) => {
                Err(WorkError::UnknownEffect { key: key.clone() })
            }
            Err(JournalError::OtherResult { .. }) => {
                Err(WorkError::OtherResult { key: key.clone() })
            }
            Err(error) => Err(error.into()),
        }
    }
}

fn status(entry: &JournalEntry, again: &Beginning) -> Result<EffectState, WorkError> {
    if let Some(result) = &entry.result {
        return Ok(EffectState::Finished(serde_json::from_str(
            &result.content,
        )?));
    }
    let kept: StoredIntent = serde_json::from_str(&entry.intent.content)?;
    let is_same_try = again.attempt.is_some() && kept.attempt == again.attempt;
    Ok(match again.repeatable || is_same_try {
        true => EffectState::Begun,
        false => EffectState::Unknown,
    })
}
