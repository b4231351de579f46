//! Nobody: each question stays open.

use async_trait::async_trait;
use routing_core::review::{Answer, Pause, Question, Resume, ReviewError, Reviewer};
use routing_core::{Outcome, StopScope};

/// Answers nothing.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Nobody;

#[async_trait]
impl Reviewer for Nobody {
    async fn answer(
        &self,
        _question: &Question,
        _scope: &StopScope,
    ) -> Result<Outcome<Answer>, ReviewError> {
        Err(ReviewError::NobodyThere)
    }

    async fn resume(
        &self,
        _pause: &Pause,
        _scope: &StopScope,
    ) -> Result<Outcome<Resume>, ReviewError> {
        Err(ReviewError::NobodyThere)
    }
}
