//! Input for a run that goes on. It is kept in the run's journal, so it survives a crash before it is read. No other
//! input has its place, in any run: a fork that begins before it was read takes it over, and recognizes it by that
//! place.

use interrupt_router::{InterruptId, NodeId, RunId};
use interrupts::store::{Intent, JournalEntry, Repeating, Store};
use interrupts::{EffectId, KindName};
use serde::{Deserialize, Serialize};

use crate::error::KeepError;
use crate::message::{AgentMessage, Origin};

/// The kind of the journal's entries with input.
pub const INPUT: &str = "input";

/// The content of such an entry.
#[derive(Debug, Serialize, Deserialize)]
struct Content {
    input: String,
}

/// Input that was given along when the run was resumed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GivenInput {
    /// Its entry, which no other run has.
    pub effect: EffectId,
    /// Its place, which it keeps in forks; `None` if an earlier version kept it.
    pub place: Option<String>,
    /// What it says.
    pub text: String,
}

impl GivenInput {
    /// Reads an entry of the journal; `None` if it is something else.
    pub fn of(entry: &JournalEntry) -> Option<Self> {
        if entry.intent.kind.as_str() != INPUT {
            return None;
        }
        let content: Content = serde_json::from_str(&entry.intent.content).ok()?;
        Some(Self {
            effect: entry.intent.effect,
            place: entry.intent.place.clone(),
            text: content.input,
        })
    }

    /// The message for its reader.
    pub fn letter(&self) -> AgentMessage {
        let origin = match &self.place {
            Some(place) => Origin::Said {
                place: place.clone(),
            },
            None => Origin::Input {
                effect: self.effect,
            },
        };
        AgentMessage::input(origin, &self.text)
    }

    /// The entry of the same words in another run of which this one is a fork.
    pub fn effect_in(&self, run: RunId) -> Option<EffectId> {
        let place = self.place.as_ref()?;
        Some(EffectId::in_run(run, place))
    }
}

/// The content of an entry with these words.
pub fn content_of(text: &str) -> Result<String, KeepError> {
    Ok(serde_json::to_string(&Content {
        input: text.to_owned(),
    })?)
}

/// The place of what was said when the decision about a pause was made.
pub fn said_with(pause: InterruptId) -> String {
    format!("{INPUT}/{pause}")
}

/// Records new input for a run in the epoch in which this process owns it: one for each epoch, however often this
/// is repeated.
pub async fn record(
    store: &dyn Store,
    run: RunId,
    epoch: u64,
    node: &NodeId,
    text: &str,
) -> Result<(), KeepError> {
    let place = format!("{INPUT}/{run}/{epoch}");
    keep(store, (run, epoch), node, place, text).await?;
    Ok(())
}

/// Keeps what was said to a run that this process owns in an epoch, once for each place.
pub async fn keep(
    store: &dyn Store,
    (run, epoch): (RunId, u64),
    node: &NodeId,
    place: String,
    text: &str,
) -> Result<GivenInput, KeepError> {
    let effect = EffectId::in_run(run, &place);
    let intent = Intent {
        effect,
        run,
        node: node.clone(),
        kind: KindName::new(INPUT)?,
        repeating: Repeating::Idempotent,
        content: content_of(text)?,
        place: Some(place.clone()),
    };
    store.begin(epoch, intent).await?;
    store.finish(epoch, effect, "{}".to_owned()).await?;
    Ok(GivenInput {
        effect,
        place: Some(place),
        text: text.to_owned(),
    })
}
