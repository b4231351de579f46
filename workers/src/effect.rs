//! Effects: what must not happen twice, begun and finished under a key.

use interrupt_router::NodeId;
use interrupts::store::{Begun, Intent, JournalEntry, JournalError, Repeating};
use interrupts::{Digest, KindName, canonical_json};
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
#[derive(Debug, Clone, PartialEq)]
pub struct Beginning {
    /// The agent that does it.
    pub node: NodeId,
    /// Whether it may happen twice.
    pub repeatable: bool,
    /// What it is done with. It is begun again with the same, or not at all.
    pub arguments: Option<Value>,
    /// Names this try to begin it: a request that is sent again because its answer was lost is the same try.
    pub attempt: Option<String>,
}

/// What is stored of an effect that was begun.
#[derive(Serialize, Deserialize)]
struct StoredIntent {
    key: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    attempt: Option<String>,
    /// The digest of its arguments. An effect that an earlier version began has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    arguments: Option<Digest>,
}

impl Owned<'_> {
    /// Begins an effect of an agent, or returns its outcome. A repeatable effect is begun again if it is not known
    /// whether it happened.
    ///
    /// # Errors
    ///
    /// [`WorkError::OtherContent`] if the key was used for another effect, or with other arguments;
    /// [`WorkError::UnknownAgent`]; [`WorkError::LeaseLost`].
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
        let arguments = beginning.arguments.as_ref().map(canonical_json);
        let stored = StoredIntent {
            key: key.to_string(),
            attempt: beginning.attempt.clone(),
            arguments: arguments.map(|text| Digest::of(text.as_bytes())),
        };
        let intent = Intent {
            effect,
            run: self.run.id,
            node: node.clone(),
            kind: KindName::new(EFFECT).map_err(WorkError::name("/key"))?,
            repeating: match beginning.repeatable {
                true => Repeating::Idempotent,
                false => Repeating::AskPerson,
            },
            content: serde_json::to_string(&stored)?,
            place: Some(key.effect_place()),
        };
        let entry = match self.store().begin(self.epoch(), intent.clone()).await {
            Ok(Begun::New(_)) => return Ok(EffectState::Begun),
            Ok(Begun::Known(entry)) => Some(entry),
            // Another try has begun it.
            Err(JournalError::OtherIntent { .. }) => self.store().effect(effect).await?,
            Err(error) => return Err(error.into()),
        };
        let entry = entry.ok_or_else(|| WorkError::UnknownEffect { key: key.clone() })?;
        let kept: StoredIntent = serde_json::from_str(&entry.intent.content)?;
        let of_other_arguments = |given| kept.arguments.is_some_and(|kept| kept != given);
        let found = [
            ("agent_id", entry.intent.node != intent.node),
            ("repeatable", entry.intent.repeating != intent.repeating),
            (
                "arguments",
                stored.arguments.is_some_and(of_other_arguments),
            ),
        ];
        let differs = found.iter().filter(|(_name, differs)| *differs);
        let differs: Vec<String> = differs.map(|(name, _)| (*name).to_owned()).collect();
        if !differs.is_empty() {
            let key = key.clone();
            return Err(WorkError::OtherContent { key, differs });
        }
        status(&entry, &kept, beginning)
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

fn status(
    entry: &JournalEntry,
    kept: &StoredIntent,
    again: &Beginning,
) -> Result<EffectState, WorkError> {
    if let Some(result) = &entry.result {
        return Ok(EffectState::Finished(serde_json::from_str(
            &result.content,
        )?));
    }
    let is_same_try = again.attempt.is_some() && kept.attempt == again.attempt;
    Ok(match again.repeatable || is_same_try {
        true => EffectState::Begun,
        false => EffectState::Unknown,
    })
}
