//! The run's reviewer: whoever is asked, a stop ends the waiting.

use std::sync::Arc;

use async_trait::async_trait;
use routing_core::review::{Answer, Answerer, Pause, Question, Resume, ReviewError, Reviewer};
use routing_core::{InterruptId, Outcome, StopReason, StopScope};

/// A reviewer that is left as soon as the run is asked to stop: waiting for a person is no step that
/// must be finished. Where nobody is there, a stop that has come says what follows.
pub struct StoppableReviewer {
    pub inner: Arc<dyn Reviewer>,
}

fn unless_stopped<T>(
    answer: Result<Outcome<T>, ReviewError>,
    scope: &StopScope,
) -> Result<Outcome<T>, ReviewError> {
    match (answer, scope.reason()) {
        (Err(ReviewError::NobodyThere), Some(reason)) => stopped(reason),
        (answer, _) => answer,
    }
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
            answer = self.inner.answer(question, scope) => unless_stopped(answer, scope),
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
            resume = self.inner.resume(pause, scope) => unless_stopped(resume, scope),
            reason = scope.stopping() => stopped(reason),
        }
    }

    fn answerer(&self, interrupt: InterruptId) -> Answerer {
        self.inner.answerer(interrupt)
    }
}
