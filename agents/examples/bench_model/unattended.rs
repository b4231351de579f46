//! Answers for a run without people: agents get the first choice that they offer, and the system gets nothing.

use std::sync::atomic::{AtomicU32, Ordering};

use async_trait::async_trait;
use interrupt_router::review::{
    Answer, Pause, Question, QuestionKind, Resume, ReviewError, Reviewer,
};
use interrupt_router::{AnswerForm, Outcome, StopScope, Verdict};

/// The answer when there is nothing to choose.
const GO_ON: &str = "Go on as you think best.";

/// How a question starts that the system asks because the agent's model gives no usable answer.
const STUCK: &str = "The agent's model gives no answer";

/// Answers agents.
#[derive(Debug, Default)]
pub(super) struct Unattended {
    answered: AtomicU32,
    stuck: AtomicU32,
}

impl Unattended {
    /// How many questions of agents were answered, and how many of the system were not.
    pub(super) fn counts(&self) -> (u32, u32) {
        let count = |count: &AtomicU32| count.load(Ordering::Relaxed);
        (count(&self.answered), count(&self.stuck))
    }
}

#[async_trait]
impl Reviewer for Unattended {
    async fn answer(
        &self,
        question: &Question,
        _scope: &StopScope,
    ) -> Result<Outcome<Answer>, ReviewError> {
        let is_of_the_system = matches!(question.kind, QuestionKind::UnfilledRequest { .. })
            || question.details.reason.starts_with(STUCK);
        if is_of_the_system {
            self.stuck.fetch_add(1, Ordering::Relaxed);
            return Err(ReviewError::NobodyThere);
        }
        self.answered.fetch_add(1, Ordering::Relaxed);
        let first = question.details.choices.first();
        let confirmations = question.details.confirmation_items.iter();
        Ok(Outcome::Completed(Answer {
            selected_choices: first
                .map(|choice| choice.value.clone())
                .into_iter()
                .collect(),
            text: Some(GO_ON.to_owned()),
            confirmations: confirmations.map(|item| (item.id.clone(), true)).collect(),
            verdict: (question.details.form() == Some(AnswerForm::YesOrNo))
                .then_some(Verdict::Approve),
            ..Answer::default()
        }))
    }

    async fn resume(
        &self,
        _pause: &Pause,
        _scope: &StopScope,
    ) -> Result<Outcome<Resume>, ReviewError> {
        Ok(Outcome::Completed(Resume {
            input: Some(GO_ON.to_owned()),
        }))
    }
}
