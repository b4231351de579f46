//! A script answers what it names, another reviewer the rest.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use interrupt_router::review::{
    Answer, Answerer, AnswererKind, Pause, Question, Resume, ReviewError, Reviewer,
};
use interrupt_router::{InterruptId, Outcome, StopScope};
use llm::PersonAnswer;

use super::InterruptCount;
use crate::report::answer_words;
use crate::terminal_output::TerminalOutput;

/// Answers from a script, and says so.
pub(crate) struct Scripted {
    answers: Mutex<Vec<PersonAnswer>>,
    count: Arc<InterruptCount>,
    output: TerminalOutput,
    others: Arc<dyn Reviewer>,
    /// What was answered from the script.
    answered: Mutex<HashSet<InterruptId>>,
}

impl Scripted {
    /// Answers what `answers` names; `others` are asked the rest.
    pub(crate) fn new(
        answers: Vec<PersonAnswer>,
        count: Arc<InterruptCount>,
        output: TerminalOutput,
        others: Arc<dyn Reviewer>,
    ) -> Self {
        Self {
            answers: Mutex::new(answers),
            count,
            output,
            others,
            answered: Mutex::default(),
        }
    }

    fn answered(&self) -> MutexGuard<'_, HashSet<InterruptId>> {
        self.answered.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the answer out: an answer that did not fit is not given again.
    fn take(&self, interrupt: InterruptId, agent_type: &str) -> Option<Answer> {
        let number = self.count.number(interrupt)?;
        let mut answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        let index = answers
            .iter()
            .position(|it| it.interrupt.agent == agent_type && it.interrupt.nth.get() == number)?;
        self.answered().insert(interrupt);
        Some(answers.remove(index).answer)
    }
}

#[async_trait]
impl Reviewer for Scripted {
    async fn answer(
        &self,
        question: &Question,
        scope: &StopScope,
    ) -> Result<Outcome<Answer>, ReviewError> {
        match self.take(question.interrupt, question.agent_type) {
            Some(answer) => {
                let words = answer_words(&answer);
                self.output.notice(format!(
                    "         ✎ the script answers {}: {words}",
                    question.agent_type
                ));
                Ok(Outcome::Completed(answer))
            }
            None => {
                self.answered().remove(&question.interrupt);
                self.others.answer(question, scope).await
            }
        }
    }

    async fn resume(
        &self,
        pause: &Pause,
        scope: &StopScope,
    ) -> Result<Outcome<Resume>, ReviewError> {
        match self.take(pause.interrupt, pause.agent_type) {
            Some(scripted) => {
                let input = scripted.text;
                let how = if input.is_some() {
                    "with new input"
                } else {
                    "unchanged"
                };
                self.output.notice(format!(
                    "         ✎ the script resumes {} {how}",
                    pause.agent_type
                ));
                Ok(Outcome::Completed(Resume { input }))
            }
            None => {
                self.answered().remove(&pause.interrupt);
                self.others.resume(pause, scope).await
            }
        }
    }

    fn answerer(&self, interrupt: InterruptId) -> Answerer {
        if !self.answered().contains(&interrupt) {
            return self.others.answerer(interrupt);
        }
        Answerer {
            name: "of the run".to_owned(),
            kind: AnswererKind::Script,
        }
    }
}
