//! The reviewer of a run that a server executes: no one is asked here; answers come through the store.

use std::time::Duration;

use async_trait::async_trait;
use interrupt_router::review::{Answer, Pause, Question, Resume, ReviewError, Reviewer};
use interrupt_router::{Outcome, StopReason, StopScope};
use tokio::sync::watch;

/// Waits until the run is stopped, or until all of it has waited for a while: it is then unloaded, and uses no memory until
/// a decision comes. A decision that reaches the store ends the waiting earlier.
#[derive(Debug, Clone)]
pub(super) struct Awaiting {
    state_words: watch::Receiver<bool>,
    put_aside_after: Duration,
}

impl Awaiting {
    pub(super) fn new(state_words: watch::Receiver<bool>, put_aside_after: Duration) -> Self {
        Self {
            state_words,
            put_aside_after,
        }
    }

    async fn wait<T>(&self, scope: &StopScope) -> Result<Outcome<T>, ReviewError> {
        tokio::select! {
            reason = scope.stopping() => stopped(reason),
            () = self.stood_still() => Err(ReviewError::NobodyThere),
        }
    }

    /// Returns once nothing of the run has worked for the whole time.
    async fn stood_still(&self) {
        let mut state_words = self.state_words.clone();
        loop {
            if state_words
                .wait_for(|state_words| *state_words)
                .await
                .is_err()
            {
                return;
            }
            let works = state_words.wait_for(|state_words| !*state_words);
            if tokio::time::timeout(self.put_aside_after, works)
                .await
                .is_err()
            {
                return;
            }
        }
    }
}

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
        self.wait(scope).await
    }

    async fn resume(
        &self,
        _pause: &Pause,
        scope: &StopScope,
    ) -> Result<Outcome<Resume>, ReviewError> {
        self.wait(scope).await
    }
}
