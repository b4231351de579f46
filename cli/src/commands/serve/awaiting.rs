//! The reviewer of a run that a server executes: nobody here; who answers does so through the store.

use async_trait::async_trait;
use routing_core::review::{Answer, Pause, Question, Resume, ReviewError, Reviewer};
use routing_core::{Outcome, StopReason, StopScope};

/// Waits until the run is stopped. A decision that reaches the store ends the waiting before.
#[derive(Debug, Clone, Copy)]
pub(super) struct Awaiting;

fn stopped<T>(reason: StopReason) -> Result<Outcome<T>, ReviewError> {
    Ok(Outcome::Interrupted {
        reason,
        partial: (),
    })
}

#[async_trait]
impl Reviewer for Awaiting {
    async fn answer(
        &self,
        _question: &Question,
        scope: &StopScope,
    ) -> Result<Outcome<Answer>, ReviewError> {
        stopped(scope.stopping().await)
    }

    async fn resume(
        &self,
        _pause: &Pause,
        scope: &StopScope,
    ) -> Result<Outcome<Resume>, ReviewError> {
        stopped(scope.stopping().await)
    }
}
