//! What becomes of a plan's run at its end: recorded first, said then.

use interrupts::life::{Evidence, RunState};
use routing_core::StopMode;
use routing_core::review::Question;

use super::{Driver, ExecutionEnd};
use crate::workflow::failure::FlowError;
use engine::durable::control::RunStopOutcome;
use engine::run::RunStatus;
use engine::run::ending::failed;
use engine::run::settling::{OpenEffects, RUN_HAS_ENDED, leave_out};
use planning::{PlanEnd, PlanEvent};

impl Driver {
    /// Records how the run ended, and says it. Where that cannot be recorded, that is what is said.
    pub(super) async fn conclude(&mut self, rest: Result<ExecutionEnd, FlowError>) -> RunStatus {
        let concluded = match rest {
            Ok(rest) => self.recorded(rest).await,
            Err(error) => Err(error),
        };
        match concluded {
            Ok(status) => status,
            Err(error) => self.unconcluded(&error).await,
        }
    }

    async fn recorded(&mut self, rest: ExecutionEnd) -> Result<RunStatus, FlowError> {
        match rest {
            ExecutionEnd::Ended(PlanEnd::Completed { response }) => {
                self.become_state(RunState::Completed, "its work is done")
                    .await?;
                Ok(RunStatus::Completed { summary: response })
            }
            ExecutionEnd::Ended(PlanEnd::Cancelled { reason }) => self.cancelled(reason).await,
            ExecutionEnd::Held { reason } => self.held(reason).await,
            ExecutionEnd::Left { reason } => self.left(reason).await,
            ExecutionEnd::Waiting { questions } => self.waiting(questions).await,
        }
    }

    /// Says that the run waits for answers, unless a stop has met it meanwhile.
    async fn waiting(&mut self, questions: Vec<Question>) -> Result<RunStatus, FlowError> {
        let stopped = self
            .control
            .stopped(self.checkpoints.last(), Evidence::Boundary)
            .await;
        let reason = self.scope.reason().map(|reason| reason.message);
        let reason = reason.unwrap_or_else(|| "it was told to stop".to_owned());
        match stopped {
            RunStopOutcome::Unasked | RunStopOutcome::Left => {
                self.become_state(RunState::Waiting, "it waits for an answer")
                    .await?;
                Ok(RunStatus::Waiting {
                    interrupts: questions.iter().map(|it| it.interrupt).collect(),
                    questions,
                })
            }
            RunStopOutcome::Paused | RunStopOutcome::Cancelled => {
                self.having_stopped(stopped, reason).await
            }
        }
    }

    async fn cancelled(&self, reason: Option<String>) -> Result<RunStatus, FlowError> {
        let reason = reason.unwrap_or_else(|| "cancelled".to_owned());
        self.become_state(RunState::Cancelled, &reason).await?;
        Ok(RunStatus::Cancelled {
            reason,
            from_outside: true,
        })
    }

    /// Says that nothing of the run runs any more; whoever stopped it knows what becomes of it.
    async fn held(&mut self, reason: String) -> Result<RunStatus, FlowError> {
        let mode = self.scope.reason().map(|reason| reason.mode);
        let evidence = match mode {
            Some(StopMode::Immediate) => Evidence::Cancelled,
            Some(StopMode::Graceful) | None => Evidence::Boundary,
        };
        let stopped = self
            .control
            .stopped(self.checkpoints.last(), evidence)
            .await;
        self.having_stopped(stopped, reason).await
    }

    /// Says that nothing of the run runs here any more, and that another process goes on with it as it stands.
    async fn left(&mut self, reason: String) -> Result<RunStatus, FlowError> {
        let stopped = self
            .control
            .stopped(self.checkpoints.last(), Evidence::Cancelled)
            .await;
        if stopped == RunStopOutcome::Left {
            self.journal.record.release().await?;
            return Ok(RunStatus::Paused { reason });
        }
        // A stop has met it meanwhile.
        self.having_stopped(stopped, reason).await
    }

    /// Records what has become of a run that has stopped.
    async fn having_stopped(
        &mut self,
        stopped: RunStopOutcome,
        reason: String,
    ) -> Result<RunStatus, FlowError> {
        match stopped {
            RunStopOutcome::Paused | RunStopOutcome::Unasked | RunStopOutcome::Left => {
                self.become_state(RunState::Paused, &reason).await?;
                Ok(RunStatus::Paused { reason })
            }
            RunStopOutcome::Cancelled => {
                self.give_up(&reason).await?;
                self.cancelled(Some(reason)).await
            }
        }
    }

    async fn become_state(&self, state: RunState, reason: &str) -> Result<(), FlowError> {
        let record = &self.journal.record;
        if state.is_final() {
            // What a process that died had begun, and what was asked for and is not wanted any more.
            let nobody_asked = |_interrupt| false;
            leave_out(&self.journal, OpenEffects::ALL, RUN_HAS_ENDED, nobody_asked).await?;
            self.control.concludes().await;
        }
        record.become_state(state, Some(reason.to_owned())).await?;
        if !state.is_final() {
            record.release().await?;
        }
        Ok(())
    }

    /// A run that could not be recorded, or that waits for an operator, has not failed: whoever resumes it finds it
    /// where it stood.
    async fn unconcluded(&mut self, error: &FlowError) -> RunStatus {
        if error.is_of_the_store() {
            let record = &self.journal.record;
            let reason = Some(error.stands_because());
            let _best_effort = record.become_state(RunState::Paused, reason).await;
            let _best_effort = record.release().await;
        } else if error.is_resumable() {
            match self.in_trouble(error).await {
                Ok(RunStopOutcome::Paused | RunStopOutcome::Unasked | RunStopOutcome::Left) => {}
                Ok(RunStopOutcome::Cancelled) => {
                    return RunStatus::Cancelled {
                        reason: error.chain(),
                        from_outside: true,
                    };
                }
                Err(unrecorded) => {
                    tracing::warn!(%unrecorded, "the run's trouble is not recorded as a stop");
                    let _best_effort = self.become_state(RunState::Paused, &error.chain()).await;
                }
            }
        } else {
            let _best_effort = self.become_state(RunState::Failed, &error.chain()).await;
        }
        failed(error)
    }

    /// Records what ended the work as the stop of the system that it is, on which the plan stands still.
    async fn in_trouble(&mut self, error: &FlowError) -> Result<RunStopOutcome, FlowError> {
        let chain = error.chain();
        let effects = self.stand_still(&chain)?;
        self.record(&effects).await?;
        let checkpoint = self.checkpoints.last();
        let stopped = self.control.in_trouble(&error.trouble(), checkpoint).await;
        match stopped {
            RunStopOutcome::Paused | RunStopOutcome::Unasked | RunStopOutcome::Left => {
                self.become_state(RunState::Paused, &chain).await?;
            }
            RunStopOutcome::Cancelled => {
                self.give_up(&chain).await?;
                self.become_state(RunState::Cancelled, &chain).await?;
            }
        }
        Ok(stopped)
    }

    /// The plan is over where it stands.
    async fn give_up(&mut self, reason: &str) -> Result<(), FlowError> {
        let event = PlanEvent::Cancel {
            reason: Some(reason.to_owned()),
        };
        let effects = self.apply(&event)?;
        self.record(&effects).await
    }
}
