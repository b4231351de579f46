//! The run's reviewer: whoever is asked, a stop ends the waiting.

use std::sync::Arc;

use async_trait::async_trait;
use routing_core::review::{Answer, Pause, Question, Resume, ReviewError, Reviewer};
use routing_core::{Outcome, StopReason, StopScope};

/// A reviewer that is left as soon as the run is asked to stop: waiting for a person is no step that
/// must be finished.
pub(crate) struct StoppableReviewer {
    pub(crate) inner: Arc<dyn Reviewer>,
}

fn stopped<T>(reason: StopReason) -> Result<Outcome<T>, ReviewError> {
    Ok(Outcome::Interrupted {
        reason,
        partial: (),
    })
}

#[async_trait]
impl Reviewer for StoppableReviewer {
    async fn answer(
        &self,
        question: &Question,
        scope: &StopScope,
    ) -> Result<Outcome<Answer>, ReviewError> {
        // An answer that is there already is taken, even where a stop came at the same moment.
        tokio::select! {
            biased;
            answer = self.inner.answer(question, scope) => answer,
            reason = scope.stopping() => stopped(reason),
        }
    }

    async fn resume(
        &self,
        pause: &Pause,
        scope: &StopScope,
    ) -> Result<Outcome<Resume>, ReviewError> {
        tokio::select! {
            biased;
            resume = self.inner.resume(pause, scope) => resume,
            reason = scope.stopping() => stopped(reason),
        }
    }
}
