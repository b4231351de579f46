//! New input for a run that goes on: kept in its journal, so that it outlives whatever happens before it is read.

use interrupts::store::{Intent, JournalEntry, Repeating, Store};
use interrupts::{EffectId, KindName};
use routing_core::{NodeId, RunId};
use serde::{Deserialize, Serialize};

use super::error::KeepError;

/// The kind of the journal's entries that hold it.
pub(crate) const INPUT: &str = "input";

/// The content of such an entry.
#[derive(Debug, Serialize, Deserialize)]
struct Content {
    input: String,
}

/// Input that was given along when the run was resumed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct GivenInput {
    /// Its entry, which no other run has.
    pub(crate) effect: EffectId,
    /// What it says.
    pub(crate) text: String,
}

impl GivenInput {
    /// Reads an entry of the journal; `None` where it holds something else.
    pub(crate) fn of(entry: &JournalEntry) -> Option<Self> {
        if entry.intent.kind.as_str() != INPUT {
            return None;
        }
        let content: Content = serde_json::from_str(&entry.intent.content).ok()?;
        Some(Self {
            effect: entry.intent.effect,
            text: content.input,
        })
    }
}

/// Records new input for a run in the epoch in which this process owns it: one for each epoch, however often this
/// is repeated.
pub(crate) async fn record(
    store: &dyn Store,
    run: RunId,
    epoch: u64,
    node: &NodeId,
    text: &str,
) -> Result<(), KeepError> {
    let effect = EffectId::in_run(run, &format!("{INPUT}/{epoch}"));
    let content = Content {
        input: text.to_owned(),
    };
    let intent = Intent {
        effect,
        run,
        node: node.clone(),
        kind: KindName::new(INPUT)?,
        repeating: Repeating::Idempotent,
        content: serde_json::to_string(&content)?,
        // Of this run alone: without a place, no fork takes it over.
        place: None,
    };
    store.begin(epoch, intent).await?;
    store.finish(epoch, effect, "{}".to_owned()).await?;
    Ok(())
}
