//! The run's reviewer: a stop ends the wait for any reviewer.

use std::sync::Arc;

use async_trait::async_trait;
use interrupt_router::review::{Answer, Answerer, Pause, Question, Resume, ReviewError, Reviewer};
use interrupt_router::{InterruptId, Outcome, StopReason, StopScope};

/// A wrapper that stops waiting as soon as the run is asked to stop: waiting for a person is no step that must be
/// finished. If no one is there to answer, a stop that has come decides what follows.
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
        // An answer that is already there is taken, even if a stop came at the same moment.
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
