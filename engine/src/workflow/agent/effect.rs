//! What a workflow's code does itself, once.

use std::error::Error;
use std::future::Future;

use interrupt_router::StopScope;
use interrupts::EffectId;
use interrupts::store::Repeating;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::json;

use super::Agent;
use crate::workflow::Workflow;
use crate::workflow::exit::Exit;

/// The kind of the journal's entries for what a workflow's code does itself.
const EFFECT: &str = "effect";

/// An effect that is about to happen.
#[derive(Debug, Clone)]
pub struct Effect {
    id: EffectId,
    is_repeated: bool,
    scope: StopScope,
}

impl Effect {
    /// Identifies it: the same id on every try, in every process. Pass it on as an idempotency key.
    pub const fn id(&self) -> EffectId {
        self.id
    }

    /// Whether it was begun before with an unknown outcome: its process died, or it failed.
    pub const fn is_repeated(&self) -> bool {
        self.is_repeated
    }

    /// Stops it when its agent is stopped.
    pub const fn scope(&self) -> &StopScope {
        &self.scope
    }
}

impl<W: Workflow> Agent<W> {
    /// Does something once, even if the process dies: its result is recorded, and read when the run comes here again.
    /// Name it by what it does; the same name again is the next effect.
    ///
    /// If a process dies between the effect and its record, the effect has happened unrecorded: it is done again, and
    /// [`Effect::is_repeated`] says so. [`Effect::id`] is then the same, for a system that knows what it has done.
    ///
    /// # Errors
    ///
    /// If the work fails, the run is paused, and the effect is tried again when it goes on. A failure that shall not be
    /// retried is a result: return it as one.
    ///
    /// # Cancel safety
    ///
    /// An immediate stop drops the work where it is; it is done again when the run goes on.
    pub async fn effect<T, E, F>(
        &mut self,
        name: &str,
        work: impl FnOnce(Effect) -> F + Send,
    ) -> Result<T, Exit>
    where
        T: Serialize + DeserializeOwned,
        E: Into<Box<dyn Error + Send + Sync>>,
        F: Future<Output = Result<T, E>> + Send,
    {
        let number = self.done.entry(name.to_owned()).or_default();
        *number += 1;
        let place = format!("{}#effect/{name}/{number}", self.id);
        let journal = &self.live().journal;
        if let Some(result) = journal.result(&place, &self.id)? {
            return Ok(result);
        }
        self.boundary()?;
        let effect = Effect {
            id: EffectId::in_run(self.run.id(), &place),
            is_repeated: journal.at(&place)?.is_some(),
            scope: self.scope(),
        };
        // Observers in other processes see which agent is at work.
        self.live().keep_nodes().await?;
        let intent = json!({ "name": name }).to_string();
        journal
            .begin_once(&self.id, EFFECT, &place, &intent, Repeating::Idempotent)
            .await?;
        let scope = effect.scope.clone();
        let done = tokio::select! {
            biased; // What has happened has happened.
            done = work(effect) => done,
            reason = scope.stopped_now() => return Err(Exit::interrupted(reason)),
        };
        let result = done.map_err(|error| {
            Exit::paused_by(
                EffectFailed {
                    name: name.to_owned(),
                    source: error.into(),
                },
                "see to what failed; it is tried again when the run is resumed",
            )
        })?;
        journal
            .finish(&self.id, &place, serde_json::to_string(&result)?)
            .await?;
        Ok(result)
    }
}

/// An effect of the workflow's own failed.
#[derive(Debug, thiserror::Error)]
#[error("`{name}` failed")]
struct EffectFailed {
    name: String,
    #[source]
    source: Box<dyn Error + Send + Sync>,
}
