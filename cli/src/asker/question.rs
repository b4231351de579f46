//! A question of an asker: asked once for the same words, waited for, handed over.

use std::time::Duration;

use interrupt_router::{AnswerForm, Choice, NodeId, RunId};
use interrupts::Digest;
use interrupts::life::{RunState, Verdict};
use interrupts::store::Run;
use jiff::SignedDuration;
use serde_json::{Map, Value};
use tokio::time::Instant;
use workers::{Asking, QuestionState, QuestionStatus, WorkError, WorkKey};

use super::store::KIND;
use super::{Asker, by_work};
use crate::exit::Failure;

/// How often to check a question without a notification.
const LOOK: Duration = Duration::from_millis(250);

/// How often to check deadlines.
const SWEEP: Duration = Duration::from_secs(1);

/// How many digits of a digest tell questions apart.
const DIGITS: usize = 20;

/// What a program asks.
#[derive(Debug, Clone, Default)]
pub(crate) struct ProgramQuestion {
    /// Which way of asking it is: the same words in another way are another question.
    pub(crate) tool: &'static str,
    /// What is asked.
    pub(crate) reason: String,
    /// What one needs to know to answer.
    pub(crate) context: String,
    /// The answers to choose from.
    pub(crate) choices: Vec<String>,
    /// What an answer is.
    pub(crate) answer_form: Option<AnswerForm>,
    /// What else is shown.
    pub(crate) fields: Map<String, Value>,
    /// What may be decided; empty for all that a question usually allows.
    pub(crate) allowed: Vec<Verdict>,
    /// How long it may wait, whether its program is connected or not; `None` leaves that to the policy.
    pub(crate) deadline: Option<SignedDuration>,
}

/// How a wait ended.
pub(crate) enum QuestionWait {
    /// It is over: decided, expired or withdrawn.
    Over(QuestionStatus),
    /// It is still open.
    Open(QuestionStatus),
}

impl ProgramQuestion {
    /// What all askings of the same words, for an answer of the same form, have in common.
    fn stem(&self) -> Result<String, WorkError> {
        let choices = serde_json::to_string(&self.choices)?;
        let fields = serde_json::to_string(&self.fields)?;
        let form = self.answer_form.map_or("", AnswerForm::name);
        let parts = [
            self.tool,
            &self.reason,
            &self.context,
            &choices,
            &fields,
            form,
        ];
        let mut digest = Digest::of_parts(parts.map(str::as_bytes)).to_string();
        digest.truncate(DIGITS);
        Ok(format!("{}:{digest}", self.tool))
    }

    fn asking(self) -> Asking {
        let choice = |value: String| Choice {
            label: value.clone(),
            value,
            description: String::new(),
        };
        Asking {
            node: NodeId::root(),
            kind: KIND.to_owned(),
            reason: self.reason,
            context: self.context,
            choices: self.choices.into_iter().map(choice).collect(),
            confirmations: Vec::new(),
            answer_form: self.answer_form,
            fields: self.fields,
            allowed: self.allowed,
            patience: self.deadline,
        }
    }
}

/// The key of the nth time that the same words are asked, from 1.
fn key(stem: &str, nth: u64) -> Result<WorkKey, WorkError> {
    let key = format!("{stem}:{nth}").parse();
    key.map_err(|error| WorkError::Unexpected(format!("{stem}:{nth}: {error}")))
}

/// Whether no answer comes any more.
pub(super) fn is_withdrawn(status: &QuestionStatus) -> bool {
    status.state == QuestionState::Withdrawn
}

impl Asker {
    /// Asks. Until their answer is handed over, the same words in this session are the same question; afterwards they
    /// are asked anew.
    ///
    /// # Errors
    ///
    /// If a person has paused or stopped the run, the question is too long, or the store fails.
    ///
    /// # Cancel safety
    ///
    /// Dropped, it was asked or not; ask again with the same words.
    pub(crate) async fn ask(&self, question: ProgramQuestion) -> Result<QuestionStatus, Failure> {
        let owned = self.owned().await?;
        let asked = async {
            let key = self.next_key(&owned.run, &question.stem()?).await?;
            let (status, _is_new) = owned.ask(&key, question.asking()).await?;
            Ok(status)
        };
        asked.await.map_err(|error| by_work(&error))
    }

    /// The key under which words are asked: it stays the same until their answer is handed over.
    async fn next_key(&self, run: &Run, stem: &str) -> Result<WorkKey, WorkError> {
        // Their keys have no gaps, so the last one is found by halving.
        let (mut last, mut missing) = (0, 1);
        while self.find(run, &key(stem, missing)?).await?.is_some() {
            last = missing;
            missing *= 2;
        }
        while missing - last > 1 {
            let middle = last + (missing - last) / 2;
            match self.find(run, &key(stem, middle)?).await? {
                Some(_) => last = middle,
                None => missing = middle,
            }
        }
        if last == 0 {
            return key(stem, 1);
        }
        let found = self.find(run, &key(stem, last)?).await?;
        let is_over = |it: QuestionStatus| it.is_taken() || is_withdrawn(&it);
        key(
            stem,
            if found.is_some_and(is_over) {
                missing
            } else {
                last
            },
        )
    }

    async fn find(&self, run: &Run, key: &WorkKey) -> Result<Option<QuestionStatus>, WorkError> {
        match self.store.protocol().question(run, key).await {
            Ok(found) => Ok(Some(found)),
            Err(WorkError::UnknownQuestion { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Waits until a question is over, but at most until the given time.
    ///
    /// # Errors
    ///
    /// If a person has paused or stopped the run, there is no such question, or the store fails.
    ///
    /// # Cancel safety
    ///
    /// Safe: it only waits.
    pub(crate) async fn wait(
        &self,
        key: &WorkKey,
        until: Instant,
    ) -> Result<QuestionWait, Failure> {
        // Before the first look, so that nothing comes between the two.
        let mut news = self.store.news();
        let run = self.owned().await?.run.id;
        let mut swept = Instant::now();
        loop {
            let status = self.status(run, key).await;
            let status = status.map_err(|error| by_work(&error))?;
            if status.state != QuestionState::Open {
                return Ok(QuestionWait::Over(status));
            }
            if Instant::now() >= until {
                return Ok(QuestionWait::Open(status));
            }
            tokio::select! {
                _changed = news.changed() => {}
                () = tokio::time::sleep(LOOK) => {}
                () = tokio::time::sleep_until(until) => {}
            }
            if swept.elapsed() >= SWEEP {
                self.store.storage.sweep().await?;
                swept = Instant::now();
            }
        }
    }

    /// A question of a run that works.
    async fn status(&self, run: RunId, key: &WorkKey) -> Result<QuestionStatus, WorkError> {
        let protocol = self.store.protocol();
        let row = protocol.work(run).await?.run;
        match row.state {
            RunState::Created | RunState::Running | RunState::Waiting | RunState::Stopping => {}
            RunState::Paused => return Err(WorkError::Paused { run }),
            state @ (RunState::Completed | RunState::Failed | RunState::Cancelled) => {
                return Err(WorkError::Ended { run, state });
            }
        }
        protocol.question(&row, key).await
    }

    /// Records that the result of a question is handed over. Call it right before doing so.
    ///
    /// # Errors
    ///
    /// If this process no longer owns the run, or the store fails: nothing may be handed over then.
    ///
    /// # Cancel safety
    ///
    /// Safe to repeat.
    pub(crate) async fn hand_over(
        &self,
        status: QuestionStatus,
    ) -> Result<QuestionStatus, Failure> {
        let owned = self.owned().await?;
        let settled = owned.settled(status).await;
        settled.map_err(|error| by_work(&error))
    }

    /// Withdraws a question. One that is decided stays decided.
    ///
    /// # Errors
    ///
    /// As [`Asker::wait`].
    ///
    /// # Cancel safety
    ///
    /// Safe to repeat.
    pub(crate) async fn withdraw(&self, key: &WorkKey) -> Result<QuestionStatus, Failure> {
        let owned = self.owned().await?;
        let withdrawn = async {
            let status = owned.withdraw(key).await?;
            // A decision that came meanwhile can still be handed over.
            if !is_withdrawn(&status) {
                return Ok(status);
            }
            owned.settled(status).await
        };
        withdrawn.await.map_err(|error| by_work(&error))
    }

    /// The questions of the session whose answers were not handed over.
    ///
    /// # Errors
    ///
    /// As [`Asker::ask`].
    ///
    /// # Cancel safety
    ///
    /// Safe: it only reads.
    #[cfg(feature = "mcp")]
    pub(crate) async fn open_questions(&self) -> Result<Vec<QuestionStatus>, Failure> {
        let owned = self.owned().await?;
        let found = self.store.protocol().unsettled(&owned.run).await;
        let mut found = found.map_err(|error| by_work(&error))?;
        found.retain(|it| !is_withdrawn(it));
        Ok(found)
    }
}
