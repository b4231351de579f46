//! People who answer as a script says.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use interrupt_router::review::{Answer, Pause, Question, Resume, ReviewError, Reviewer};
use interrupt_router::{InterruptId, Outcome, StopScope};
use llm::PersonAnswer;

/// Which of its kind's questions each one is, counted from 1: the same in each process that executes the run.
#[derive(Default)]
pub(super) struct QuestionNumbers(Mutex<HashMap<String, Vec<InterruptId>>>);

impl QuestionNumbers {
    fn number(&self, kind: &str, interrupt: InterruptId) -> usize {
        let mut asked = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let asked = asked.entry(kind.to_owned()).or_default();
        let known = asked.iter().position(|it| *it == interrupt);
        known.map_or_else(
            || {
                asked.push(interrupt);
                asked.len()
            },
            |before| before + 1,
        )
    }
}

/// People who answer as a script says, and where it says nothing are not there: the run waits.
pub(super) struct ScriptedPeople {
    answers: Vec<PersonAnswer>,
    numbers: Arc<QuestionNumbers>,
    /// What they have answered. An answer that did not fit is not given again.
    given: Mutex<HashSet<InterruptId>>,
}

impl ScriptedPeople {
    pub(super) fn new(answers: Vec<PersonAnswer>, numbers: Arc<QuestionNumbers>) -> Self {
        Self {
            answers,
            numbers,
            given: Mutex::default(),
        }
    }

    fn take(&self, kind: &str, interrupt: InterruptId) -> Result<Answer, ReviewError> {
        let number = self.numbers.number(kind, interrupt);
        let mut answers = self.answers.iter();
        let step = answers.find(|PersonAnswer { interrupt: it, .. }| {
            it.agent == kind && usize::try_from(it.nth.get()) == Ok(number)
        });
        let mut given = self.given.lock().unwrap_or_else(PoisonError::into_inner);
        match step {
            Some(step) if given.insert(interrupt) => Ok(step.answer.clone()),
            Some(_) | None => Err(ReviewError::NobodyThere),
        }
    }
}

#[async_trait]
impl Reviewer for ScriptedPeople {
    async fn answer(
        &self,
        question: &Question,
        _scope: &StopScope,
    ) -> Result<Outcome<Answer>, ReviewError> {
        let answer = self.take(question.agent_type, question.interrupt)?;
        Ok(Outcome::Completed(answer))
    }

    async fn resume(
        &self,
        pause: &Pause,
        _scope: &StopScope,
    ) -> Result<Outcome<Resume>, ReviewError> {
        let input = self.take(pause.agent_type, pause.interrupt)?.text;
        Ok(Outcome::Completed(Resume { input }))
    }
}
