//! The handle of a stop that was requested: it shows the stop's progress.

use std::sync::Arc;

use futures_util::future::join_all;
use interrupt_router::{InterruptId, RunId};
use tokio::sync::watch;

use super::shared::Shared;
use crate::life::{AdmissionError, Interrupt, RunState, Scope, State};
use crate::store::{AdmitError, ChangeError, Run, StoreError};

/// Why a request failed. Its target in this process is stopped all the same.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RequestError {
    /// It was not admitted.
    #[error(transparent)]
    NotAdmitted(#[from] AdmitError),
    /// The stop that it joins could not be raised.
    #[error(transparent)]
    NotRaised(#[from] ChangeError),
    /// The store failed while the stop was watched.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The request cannot be recorded: its note cannot be written as JSON.
    #[error("the request cannot be written as JSON: {detail}")]
    Unwritable {
        /// What is wrong.
        detail: String,
    },
    /// The manager ended before it was recorded.
    #[error("the manager has ended before the request was recorded")]
    ManagerEnded,
}

impl RequestError {
    /// Whether the run, or the agent, had ended by itself before the request: there was nothing left to stop.
    pub fn came_after_the_end(&self) -> bool {
        matches!(
            self,
            Self::NotAdmitted(
                AdmitError::Refused(AdmissionError::RunEnded { .. }) | AdmitError::NodeEnded { .. }
            )
        )
    }
}

/// The progress of the recording.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum RecordingProgress {
    Asked,
    Recorded(InterruptId),
    Failed(RequestError),
}

/// The writing end of a request.
#[derive(Debug, Clone)]
pub(crate) struct RequestRecorder {
    progress: Arc<watch::Sender<RecordingProgress>>,
}

impl RequestRecorder {
    pub(crate) fn new() -> Self {
        let (progress, _unread) = watch::channel(RecordingProgress::Asked);
        Self {
            progress: Arc::new(progress),
        }
    }

    pub(crate) fn report(&self, progress: RecordingProgress) {
        self.progress.send_replace(progress);
    }

    pub(crate) fn watch(&self) -> watch::Receiver<RecordingProgress> {
        self.progress.subscribe()
    }
}

/// One run that a request concerns.
#[derive(Debug, Clone)]
pub(crate) struct StopPart {
    pub(crate) run: RunId,
    pub(crate) progress: watch::Receiver<RecordingProgress>,
}

/// A request for a stop, and what becomes of it. Dropping it changes nothing.
#[derive(Clone)]
pub struct StopHandle {
    pub(crate) shared: Arc<Shared>,
    pub(crate) parts: Vec<StopPart>,
}

impl StopHandle {
    /// The runs that it concerns: one, or for a request to stop everything all that this process owned then.
    pub fn runs(&self) -> impl Iterator<Item = RunId> {
        self.parts.iter().map(|part| part.run)
    }

    /// Waits until the request is durable, and returns the interrupts that it made or joined, one for each run.
    ///
    /// # Errors
    ///
    /// [`RequestError`], the first one. The scopes of this process are stopped all the same.
    ///
    /// # Cancel safety
    ///
    /// Safe: the request continues without the waiting caller.
    pub async fn recorded(&self) -> Result<Vec<InterruptId>, RequestError> {
        self.each_recorded().await.into_iter().collect()
    }

    /// Waits until the request is durable for each run, or has failed.
    pub(crate) async fn each_recorded(&self) -> Vec<Result<InterruptId, RequestError>> {
        let recorded = self.parts.iter().map(|part| self.part_recorded(part));
        join_all(recorded).await
    }

    /// Waits until the stop has taken effect and that is recorded: its target no longer runs. Returns
    /// the interrupts, each of which then awaits its review (a pause) or has ended.
    ///
    /// # Errors
    ///
    /// [`RequestError`], the first one.
    ///
    /// # Cancel safety
    ///
    /// Safe: the stop continues without the waiting caller.
    pub async fn settled(&self) -> Result<Vec<Interrupt>, RequestError> {
        let settled = self.parts.iter().map(|part| self.part_settled(part));
        join_all(settled).await.into_iter().collect()
    }

    async fn part_recorded(&self, part: &StopPart) -> Result<InterruptId, RequestError> {
        let mut progress = part.progress.clone();
        let outcome = tokio::select! {
            biased;
            reported = progress.wait_for(|progress| *progress != RecordingProgress::Asked) => {
                reported.map(|progress| progress.clone())
            }
            () = self.shared.closed.cancelled() => return Err(RequestError::ManagerEnded),
        };
        match outcome {
            Ok(RecordingProgress::Recorded(id)) => Ok(id),
            Ok(RecordingProgress::Failed(error)) => Err(error),
            Ok(RecordingProgress::Asked) | Err(_) => Err(RequestError::ManagerEnded),
        }
    }

    async fn part_settled(&self, part: &StopPart) -> Result<Interrupt, RequestError> {
        let id = self.part_recorded(part).await?;
        let mut pulse = self.shared.pulse.subscribe();
        loop {
            pulse.mark_unchanged();
            if let Some(interrupt) = self.settled_now(part.run, id).await? {
                return Ok(interrupt);
            }
            tokio::select! {
                _changed = pulse.changed() => {}
                () = tokio::time::sleep(self.shared.settings.times.poll) => {}
                () = self.shared.closed.cancelled() => return Err(RequestError::ManagerEnded),
            }
        }
    }

    async fn settled_now(
        &self,
        run: RunId,
        id: InterruptId,
    ) -> Result<Option<Interrupt>, RequestError> {
        let settings = &self.shared.settings;
        let store = &settings.store;
        let interrupt = settings.backoff.recover(|| store.interrupt(id)).await?;
        let run = settings.backoff.recover(|| store.run(run)).await?;
        Ok(interrupt.filter(|interrupt| is_settled(interrupt, run.as_ref())))
    }
}

/// Whether the target of a stop no longer runs, and that is recorded.
fn is_settled(interrupt: &Interrupt, run: Option<&Run>) -> bool {
    let state = run.map(|run| run.state);
    if state.is_none_or(RunState::is_final) {
        return true;
    }
    match interrupt.state {
        State::Resolved
        | State::Rerouted
        | State::Expired
        | State::Cancelled
        | State::DeadLettered => true,
        State::AwaitingReview => {
            interrupt.scope == Scope::Agent
                || matches!(state, Some(RunState::Paused | RunState::Waiting))
        }
        State::Requested | State::Delivered | State::Acknowledged => false,
    }
}
