//! A request that a stopped run goes on, with input for it. It is kept in the journal, so every process recognizes a
//! repeated request.

use interrupt_router::{NodeId, RunId};
use interrupts::store::{Intent, JournalEntry, KnownEffect, Repeating, Store};
use interrupts::{EffectId, KindName};
use uuid::Uuid;

use crate::error::KeepError;
use crate::input::{self, INPUT};

/// The kind of the journal's entries for requests without input.
pub const RESUMED: &str = "resumed";

/// A request to continue a stopped run that has no pause to decide.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResumeRequest {
    /// What makes it the same request when it comes again.
    pub id: Uuid,
    /// New input for the agent that has the turn.
    pub input: Option<String>,
}

impl ResumeRequest {
    /// Its entry in the journal of a run. It has its result once a process has begun to work on the run: until then
    /// the run may not have gone on.
    pub fn effect_in(&self, run: RunId) -> EffectId {
        EffectId::in_run(run, &self.place_in(run))
    }

    /// Whether this is what an entry keeps, and not another request with its id.
    pub fn is_kept_by(&self, entry: &JournalEntry) -> bool {
        let is_it = |(kind, content): (&str, String)| {
            entry.intent.kind.as_str() == kind && entry.intent.content == content
        };
        self.entry().is_ok_and(is_it)
    }

    /// Keeps it in the journal of a run that this process owns in this epoch, before the run goes on. The next turn of
    /// the run's own flow reads its input once, in whichever process takes that turn.
    ///
    /// # Errors
    ///
    /// If it cannot be recorded, or another request has its id.
    ///
    /// # Cancel safety
    ///
    /// Safe to repeat.
    pub async fn keep(
        &self,
        store: &dyn Store,
        run: RunId,
        epoch: u64,
        node: &NodeId,
    ) -> Result<(), KeepError> {
        let (kind, content) = self.entry()?;
        let intent = Intent {
            effect: self.effect_in(run),
            run,
            node: node.clone(),
            kind: KindName::new(kind)?,
            repeating: Repeating::Idempotent,
            content,
            // Forks take over input, but not the record of who asked what of another run.
            place: self.input.is_some().then(|| self.place_in(run)),
        };
        store.begin(epoch, intent).await?;
        Ok(())
    }

    fn place_in(&self, run: RunId) -> String {
        format!("{INPUT}/{run}/{}", self.id.simple())
    }

    /// The kind and the content of its entry.
    fn entry(&self) -> Result<(&'static str, String), KeepError> {
        match &self.input {
            Some(text) => Ok((INPUT, input::content_of(text)?)),
            None => Ok((RESUMED, "{}".to_owned())),
        }
    }
}

/// What is said to a fork, to be kept in the transaction that creates it: it is read once, and the fork never goes on
/// without it.
///
/// # Errors
///
/// If it cannot be written as JSON.
pub fn said_to_fork(fork: RunId, node: &NodeId, text: &str) -> Result<KnownEffect, KeepError> {
    Ok(KnownEffect {
        node: node.clone(),
        kind: KindName::new(INPUT)?,
        place: format!("{INPUT}/{fork}"),
        content: input::content_of(text)?,
        result: "{}".to_owned(),
    })
}
