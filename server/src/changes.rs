//! Changes of plans that outlive the request which began them.
//!
//! A model may think longer than a response may take. A caller who sends the same request again, with its key, waits
//! for the same change and gets its result: it is never made twice while this process lives.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::{BoxFuture, Shared};
use interrupts::Digest;
use planning::StoredPlan;
use tokio::time::Instant;
use tokio_util::task::TaskTracker;
use uuid::Uuid;

use crate::problem::{Code, Problem};

/// How long the result of a change is kept for repeated requests.
const KEPT: Duration = Duration::from_mins(15);
/// The most changes that are remembered at a time.
const MOST: usize = 256;

/// The result of a change.
type Outcome = Result<Arc<StoredPlan>, Problem>;

/// The changes that are under way, or have just ended, by the key of their request.
#[derive(Default)]
pub(crate) struct PlanChanges(Mutex<HashMap<Uuid, KnownChange>>);

struct KnownChange {
    /// What was requested: the same key with another request is refused.
    asked: Digest,
    begun: Instant,
    outcome: Shared<BoxFuture<'static, Outcome>>,
}

impl PlanChanges {
    /// Begins a change, or waits for the one that was begun by the same request.
    ///
    /// # Cancel safety
    ///
    /// Safe: the change goes on.
    pub(crate) async fn made(
        &self,
        tasks: &TaskTracker,
        (key, asked): (Uuid, Digest),
        change: impl Future<Output = Result<StoredPlan, Problem>> + Send + 'static,
    ) -> Outcome {
        let outcome = self.begun(tasks, (key, asked), change)?;
        outcome.await
    }

    fn begun(
        &self,
        tasks: &TaskTracker,
        (key, asked): (Uuid, Digest),
        change: impl Future<Output = Result<StoredPlan, Problem>> + Send + 'static,
    ) -> Result<Shared<BoxFuture<'static, Outcome>>, Problem> {
        // A whole value is put in or out, so a panic elsewhere leaves the map consistent.
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.retain(|_key, known| known.begun.elapsed() < KEPT);
        if let Some(known) = known.get(&key) {
            if known.asked != asked {
                return Err(Problem::new(
                    Code::IdempotencyConflict,
                    "the key was used for another change of the plan",
                    "use a new `Idempotency-Key` for a new change",
                ));
            }
            return Ok(known.outcome.clone());
        }
        if known.len() >= MOST {
            let oldest = known.iter().min_by_key(|(_, known)| known.begun);
            if let Some(oldest) = oldest.map(|(key, _)| *key) {
                known.remove(&oldest);
            }
        }
        let task = tasks.spawn(change);
        let outcome = async move {
            match task.await {
                Ok(changed) => changed.map(Arc::new),
                Err(error) => {
                    tracing::error!(%error, "a change of a plan broke off");
                    Err(Problem::new(
                        Code::Internal,
                        "something failed here that should not",
                        "read the plan to see how it stands; report this",
                    ))
                }
            }
        };
        let outcome = outcome.boxed().shared();
        let begun = KnownChange {
            asked,
            begun: Instant::now(),
            outcome: outcome.clone(),
        };
        known.insert(key, begun);
        Ok(outcome)
    }
}
