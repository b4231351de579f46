//! The stops of a run, for its workflow.

use std::sync::{Arc, Mutex, PoisonError, Weak};

use crate::run::{RunControl, RunStopOutcome, Trouble, Working};
use async_trait::async_trait;
use interrupt_router::{InterruptType, NodeId, RunId, StopMode, StopScope, StopSource};
use interrupts::IdempotencyKey;
use interrupts::life::{Actor, Evidence, Role, RunState};
use interrupts::manager::{
    InterruptManager, OwnedRun, Reach, StopCause, StopNote, StopRequest, StoppedRun, Target,
};
use interrupts::store::CheckpointId;

/// Reads a run's stops from the manager, and reports to the manager when they have taken effect.
pub struct Control {
    run: RunId,
    // Releasing the run needs its only strong reference, so this one must be weak.
    kept: Weak<OwnedRun>,
    manager: InterruptManager,
    /// The actor that stops the run on a system error.
    by: Actor,
    stopped: Mutex<Option<StoppedRun>>,
    /// The work of this process on the run, until it has ended.
    working: Mutex<Option<Working>>,
}

impl Control {
    /// The stops of a run that a manager keeps.
    pub fn new(kept: &Arc<OwnedRun>, manager: InterruptManager) -> Self {
        let by = Actor {
            name: kept.owner().clone().into(),
            role: Role::System,
        };
        Self {
            by,
            run: kept.run(),
            kept: Arc::downgrade(kept),
            manager,
            stopped: Mutex::new(None),
            working: Mutex::new(None),
        }
    }

    /// From now on this process works on the run.
    pub fn works(&self, working: Working) {
        *self.working.lock().unwrap_or_else(PoisonError::into_inner) = Some(working);
    }

    /// Records how long this process has worked on the run, once.
    ///
    /// # Cancel safety
    ///
    /// Dropped, it is recorded or not.
    pub async fn work_ends(&self) {
        let working = self
            .working
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        let Some(working) = working else {
            return;
        };
        if let Err(error) = working.end(&*self.manager.settings().store).await {
            // The next process that takes the run derives it from what else was recorded.
            let error: &dyn std::error::Error = &error;
            tracing::warn!(error, "how long the run took is not recorded");
        }
    }

    /// What was recorded of the stop, if the run was told to stop.
    fn stopped_run(&self) -> Option<StoppedRun> {
        self.stopped
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// Whether a limit stopped it.
    pub fn was_limited(&self) -> bool {
        let Some(stopped) = self.stopped_run() else {
            return false;
        };
        let mut notes = stopped.stops.iter().flat_map(StopNote::in_force);
        let is_limit = |cause| match cause {
            StopCause::Budget | StopCause::Timeout | StopCause::Resource => true,
            StopCause::UserEscape
            | StopCause::Permission
            | StopCause::SystemError
            | StopCause::Policy
            | StopCause::Hook
            | StopCause::Code
            | StopCause::Shutdown => false,
        };
        notes.any(|note| is_limit(note.cause))
    }
}

#[async_trait]
impl RunControl for Control {
    fn scope_of(&self, node: &NodeId) -> StopScope {
        match self.kept.upgrade() {
            Some(kept) => kept.node_scope(node),
            // The run was released: nothing of it may begin any more, and nothing asks.
            None => StopScope::new(),
        }
    }

    fn stops_where_lost(&self) {
        if let Some(kept) = self.kept.upgrade() {
            kept.stops_where_lost();
        }
    }

    fn cut_off(&self, node: &NodeId) -> Option<String> {
        let runs = self.manager.status().runs;
        let kept = runs.into_iter().find(|kept| kept.run == self.run)?;
        kept.stops
            .into_iter()
            .filter(|stop| !stop.settled)
            .filter(|stop| {
                matches!(
                    stop.interrupt_type,
                    InterruptType::Prune | InterruptType::Stop
                )
            })
            .find(|stop| match &stop.reach {
                Reach::Node(cut) => cut == node,
                Reach::Run => false,
            })
            .map(|stop| stop.reason.message)
    }

    fn is_left(&self) -> bool {
        self.kept.upgrade().is_some_and(|kept| kept.is_left())
    }

    fn is_lost(&self) -> bool {
        self.kept.upgrade().is_some_and(|kept| kept.is_lost())
    }

    async fn was_cut_off(&self, node: &NodeId) {
        let Some(kept) = self.kept.upgrade() else {
            return;
        };
        if let Err(error) = kept.was_cut_off(node).await {
            tracing::warn!(%node, %error, "that the agent was cut off is not recorded yet");
        }
    }

    async fn has_ended(&self, node: &NodeId) {
        let Some(kept) = self.kept.upgrade() else {
            return;
        };
        if let Err(error) = kept.has_ended(node).await {
            tracing::warn!(%node, %error, "the stops of an agent that has ended are not withdrawn yet");
        }
    }

    async fn concludes(&self) {
        self.work_ends().await;
        let Some(kept) = self.kept.upgrade() else {
            return;
        };
        if let Err(error) = kept.carry_out_stops().await {
            tracing::warn!(%error, "that stops were carried out is not recorded yet");
        }
    }

    async fn pause_after_denial(&self, key: IdempotencyKey, reason: &str) {
        let Some(kept) = self.kept.upgrade() else {
            return;
        };
        let request = StopRequest {
            cause: StopCause::Permission,
            key: Some(key),
            ..StopRequest::pause(Target::Run(self.run), self.by.clone(), reason)
        };
        if let Err(error) = kept.request(request).recorded().await {
            tracing::warn!(%error, "the pause that a denied call asks for is not recorded");
        }
    }

    async fn in_trouble(
        &self,
        trouble: &Trouble,
        checkpoint: Option<CheckpointId>,
    ) -> RunStopOutcome {
        let Some(kept) = self.kept.upgrade() else {
            return RunStopOutcome::Unasked;
        };
        let target = Target::Run(self.run);
        let cause = if trouble.limit_hit {
            StopCause::Budget
        } else {
            StopCause::SystemError
        };
        let request = StopRequest {
            mode: StopMode::Immediate,
            source: StopSource::System,
            cause,
            metadata: serde_json::to_value(trouble).ok(),
            ..StopRequest::pause(target, self.by.clone(), trouble.error.clone())
        };
        if let Err(error) = kept.request(request).recorded().await {
            // The run's state and its checkpoint also say why it stopped.
            tracing::warn!(%error, "the system error is not recorded as a stop");
        }
        self.stopped(checkpoint, Evidence::Cancelled).await
    }

    async fn stopped(
        &self,
        checkpoint: Option<CheckpointId>,
        evidence: Evidence,
    ) -> RunStopOutcome {
        let Some(kept) = self.kept.upgrade() else {
            return RunStopOutcome::Unasked;
        };
        match kept.acknowledge_stops(evidence, checkpoint).await {
            Ok(Some(stopped)) => {
                let state = stopped.state;
                *self.stopped.lock().unwrap_or_else(PoisonError::into_inner) = Some(stopped);
                if state == RunState::Cancelled {
                    RunStopOutcome::Cancelled
                } else {
                    RunStopOutcome::Paused
                }
            }
            Ok(None) if kept.is_left() => RunStopOutcome::Left,
            Ok(None) => RunStopOutcome::Unasked,
            // This stop was not requested: it came with the lost lease. The run is left as if this process had died.
            Err(error) if kept.is_lost() => {
                tracing::warn!(%error, "the run is left to another process");
                RunStopOutcome::Left
            }
            Err(error) => {
                tracing::warn!(%error, "the stop is not recorded yet; the process that resumes the run records it");
                RunStopOutcome::Unasked
            }
        }
    }
}
