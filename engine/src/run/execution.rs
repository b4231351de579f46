//! One execution of a run, of any workflow: taken, worked on to its end or until it rests, and its end recorded.

use std::sync::{Arc, PoisonError};

use interrupt_router::{StopMode, StopScope};
use jiff::SignedDuration;
use tokio::task::JoinSet;
use tokio::time::Instant;
use tracing::Instrument as _;

use super::ending::{RunEnd, conclude};
use super::event::RunEvent;
use super::failure::{RunError, broken_off};
use super::live::{CheckpointContent, LiveRun};
use super::report::RunReport;
use crate::durable::control::OnlyScope;
use crate::durable::record::RunStart;
use crate::durable::undelivered::Undelivered;
use journal::error::KeepError;
use journal::steps_of;

impl LiveRun {
    /// Executes the run, and reports what became of it. Its workflow does the work, which begins once the run is taken
    /// and its records are read. By the time this returns, everything started has ended, and everything reported is
    /// recorded.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future ends all work of the run at once, and nothing is reported; what was recorded is kept, and
    /// the run can be resumed. Stop `scope` instead.
    pub async fn execute<W>(&self, workflow: &'static str, scope: &StopScope, work: W) -> RunReport
    where
        W: AsyncFnOnce(RunStart) -> Result<RunEnd, RunError>,
    {
        let nothing_more = async |_reason| Ok(());
        self.execute_or_give_up(workflow, scope, work, nothing_more)
            .await
    }

    /// As [`LiveRun::execute`], for a workflow that has something to record if a stop cancels the run after its work
    /// has come to rest, and before the run is over.
    ///
    /// # Cancel safety
    ///
    /// As [`LiveRun::execute`].
    pub async fn execute_or_give_up<W, G>(
        &self,
        workflow: &'static str,
        scope: &StopScope,
        work: W,
        give_up: G,
    ) -> RunReport
    where
        W: AsyncFnOnce(RunStart) -> Result<RunEnd, RunError>,
        G: AsyncFnOnce(String) -> Result<(), RunError>,
    {
        let span = self.spans.begin(workflow);
        let executed = self.executed(scope, work, give_up);
        executed.instrument(span).await
    }

    async fn executed<W, G>(&self, scope: &StopScope, work: W, give_up: G) -> RunReport
    where
        W: AsyncFnOnce(RunStart) -> Result<RunEnd, RunError>,
        G: AsyncFnOnce(String) -> Result<(), RunError>,
    {
        let began = Instant::now();
        let end = match self.open(scope).await {
            Ok(start) => work(start).await,
            Err(error) => Err(error.into()),
        };
        self.journal.close();
        let status = conclude(self, end, scope, give_up).await;
        self.spans.end(&status);
        self.recorder.record(status.last_event());
        // The journal does not count calls that a budget refused; if it cannot be read, the count kept here is used.
        let steps = steps_of(self.journal.record.store(), self.run).await;
        let steps = steps.map(|steps| steps.total);
        RunReport {
            run: self.run,
            status,
            interrupts: self.open_interrupts.records(),
            steps: steps.unwrap_or_else(|_unread| self.steps()),
            checkpoint: self.checkpoints.last(),
            usage: self.model.usage(),
            elapsed: SignedDuration::try_from(began.elapsed()).unwrap_or(SignedDuration::MAX),
        }
    }

    /// Takes the run, and reads its records. Its scope stops it if nothing else does.
    async fn open(&self, scope: &StopScope) -> Result<RunStart, KeepError> {
        let record = &self.journal.record;
        let control = match &record.kept.control {
            Some(control) => Arc::clone(control),
            None => Arc::new(OnlyScope(scope.clone())),
        };
        let _first = self.control.set(control);
        let (start, checkpoint) = record.open().await?;
        if let Some(checkpoint) = checkpoint
            && self.checkpoint_content == CheckpointContent::Agents
        {
            record.check(checkpoint).await?;
        }
        self.checkpoints.go_on_from(checkpoint);
        record.keep_input().await?;
        self.journal.load().await?;
        self.begin_to_read_told().await;
        *self.steps.lock().unwrap_or_else(PoisonError::into_inner) = self.journal.steps();
        self.model.add(self.journal.usage(), &self.journal.tokens());
        self.nodes.were_read(self.journal.read_origins());
        Ok(start)
    }

    /// Takes what had come for the agents of a run that goes on, and was not read: events, messages, and input.
    pub async fn take_undelivered(&self, start: RunStart) -> Result<(), KeepError> {
        if start != RunStart::GoesOn {
            return Ok(());
        }
        let Undelivered {
            letters,
            inputs,
            given_up,
        } = Undelivered::gather(&self.journal, &self.stored_interrupts).await?;
        if let Some(reason) = given_up {
            let _first = self.given_up.set(reason);
        }
        for (node, letter) in letters {
            self.nodes.keep_undelivered(&node, letter);
        }
        *self.inputs.lock().unwrap_or_else(PoisonError::into_inner) = inputs;
        Ok(())
    }

    /// Does the work, reports stops meanwhile, and keeps the run owned by this process. The work is a task of its own,
    /// so that a panic in it is an error of the run and not of the caller.
    pub async fn work<T, F>(&self, work: F, scope: &StopScope) -> Result<T, RunError>
    where
        T: Send + 'static,
        F: Future<Output = Result<T, RunError>> + Send + 'static,
    {
        let mut task = JoinSet::new();
        task.spawn(work.in_current_span());
        let mut told: Option<StopMode> = None;
        let record = &self.journal.record;
        let lease = record.kept.lease.unsigned_abs();
        loop {
            let reason = tokio::select! {
                biased;
                ended = task.join_next() => {
                    return match ended {
                        Some(Ok(end)) => end,
                        Some(Err(error)) => Err(broken_off(error)),
                        None => Err(RunError::Lost { detail: "the run's task is gone" }),
                    };
                }
                reason = scope.stopped_now(), if told != Some(StopMode::Immediate) => reason,
                reason = scope.stopping(), if told.is_none() => reason,
                () = self.recorder.waits().news() => {
                    self.keep_nodes().await?;
                    continue;
                }
                () = tokio::time::sleep(lease / 3) => {
                    record.renew().await?;
                    continue;
                }
            };
            told = Some(reason.mode);
            self.recorder.record(RunEvent::Stopping { reason });
        }
    }
}
