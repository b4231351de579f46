//! Shutting down: ask, wait, force, record, announce, in that order. A drain leaves no record of itself: it leaves the
//! runs to other processes.

use std::collections::BTreeSet;
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};

use interrupt_router::{RunId, StopMode, StopReason, StopSource};
use tokio::time::Instant;

use super::request::{StopCause, StopKind, StopRequest, Target};
use super::shared::Shared;
use super::ticket::RequestError;
use super::tree::Reach;
use crate::hooks::{HookError, HookTrigger, Ran, RanHow};

type Callback =
    Box<dyn FnOnce() -> Pin<Box<dyn Future<Output = Result<(), HookError>> + Send>> + Send>;

/// What is called when the manager shuts down.
#[derive(Default)]
pub(crate) struct Callbacks {
    callbacks: Mutex<Vec<(String, Callback)>>,
}

impl Callbacks {
    pub(crate) fn add<F>(&self, name: String, callback: impl FnOnce() -> F + Send + 'static)
    where
        F: Future<Output = Result<(), HookError>> + Send + 'static,
    {
        self.callbacks
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push((name, Box::new(move || Box::pin(callback()))));
    }

    fn take(&self) -> Vec<(String, Callback)> {
        std::mem::take(
            &mut *self
                .callbacks
                .lock()
                .unwrap_or_else(PoisonError::into_inner),
        )
    }
}

/// How a run ended up when the manager shut down.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum RunRest {
    /// It was let go after it had been asked.
    Gracefully,
    /// It was let go after it had been told to stop at once.
    ByForce,
    /// It was still owned when the time was up: it was not let go, and may still run.
    NotLetGo,
}

/// What a shutdown did, and what it could not do.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ShutdownReport {
    /// The runs that were owned, and how each ended up.
    pub runs: Vec<(RunId, RunRest)>,
    /// Requests of the shutdown itself that were not recorded: those runs stopped without a record of why.
    pub unrecorded: Vec<RequestError>,
    /// The shutdown callbacks, and how each ended.
    pub callbacks: Vec<Ran>,
}

impl ShutdownReport {
    /// Whether everything stopped and is recorded, and every callback succeeded.
    pub fn is_clean(&self) -> bool {
        self.unrecorded.is_empty()
            && self
                .runs
                .iter()
                .all(|(_run, rest)| *rest != RunRest::NotLetGo)
            && self.callbacks.iter().all(|ran| ran.how == RanHow::Done)
    }
}

impl Shared {
    /// Asks every run to stop, waits, forces, waits again, calls the callbacks, ends all tasks.
    pub(crate) async fn shut_down(self: &Arc<Self>, message: &str) -> ShutdownReport {
        let kept = self.registry.owned();
        let request = self.shutdown_request(StopMode::Graceful, message);
        if !kept.is_empty() {
            self.spawn_hooks(HookTrigger::BeforeInterrupt {
                request: request.clone(),
            });
        }
        let mut handles = vec![self.request(request)];
        let force = || self.request(self.shutdown_request(StopMode::Immediate, message));
        let (runs, forced) = self.let_go(kept, force).await;
        handles.extend(forced);
        let mut unrecorded = Vec::new();
        for handle in handles {
            let grace = self.settings.times.grace;
            if let Ok(recorded) = tokio::time::timeout(grace, handle.each_recorded()).await {
                let failed = recorded.into_iter().filter_map(Result::err);
                unrecorded.extend(failed.filter(|error| !error.came_after_the_end()));
            }
        }
        self.reported(runs, unrecorded).await
    }

    /// Lets every run come to its boundary and go, waits, forces, waits again, calls the callbacks, ends all tasks.
    pub(crate) async fn drain(self: &Arc<Self>, message: &str) -> ShutdownReport {
        self.leave(StopMode::Graceful, message);
        let kept = self.registry.owned();
        let force = || self.leave(StopMode::Immediate, message);
        let (runs, _forced) = self.let_go(kept, force).await;
        self.reported(runs, Vec::new()).await
    }

    /// Stops all runs that this process owns, now or later, and marks them as left to others. Nothing of that is recorded.
    pub(crate) fn leave(&self, mode: StopMode, message: &str) {
        self.is_drained.store(true, Ordering::Release);
        self.registry.process().stop(StopReason {
            source: StopSource::System,
            mode,
            message: message.to_owned(),
            timestamp: self.settings.clock.now(),
        });
    }

    /// Lets one run come to its boundary and marks it as left to others. Nothing of that is recorded.
    pub(crate) fn hand_over(&self, run: RunId, message: &str) -> bool {
        let was_left = match self.keepers().get(&run) {
            Some(keeper) => keeper.is_handed_over.swap(true, Ordering::AcqRel),
            None => return false,
        };
        if let Some(scope) = self.registry.known_scope(run, &Reach::Run) {
            scope.stop(StopReason {
                source: StopSource::System,
                mode: StopMode::Graceful,
                message: message.to_owned(),
                timestamp: self.settings.clock.now(),
            });
        }
        !was_left
    }

    /// Waits until the runs, which were already asked to stop, are let go, and forces those that are not in time. Returns
    /// how each run ended up, and the result of `force` if it was needed.
    async fn let_go<T>(
        &self,
        kept: Vec<RunId>,
        force: impl FnOnce() -> T,
    ) -> (Vec<(RunId, RunRest)>, Option<T>) {
        let grace = self.settings.times.grace;
        let after_asking = self.let_go_within(grace).await;
        let mut forced = None;
        let mut after_force = BTreeSet::new();
        if !after_asking.is_empty() {
            forced = Some(force());
            after_force = self.let_go_within(grace).await;
        }
        let rest = |run: &RunId| match (after_asking.contains(run), after_force.contains(run)) {
            (_, true) => RunRest::NotLetGo,
            (true, false) => RunRest::ByForce,
            (false, false) => RunRest::Gracefully,
        };
        let runs = kept.iter().map(|run| (*run, rest(run))).collect();
        (runs, forced)
    }

    async fn reported(
        self: &Arc<Self>,
        runs: Vec<(RunId, RunRest)>,
        unrecorded: Vec<RequestError>,
    ) -> ShutdownReport {
        let report = ShutdownReport {
            runs,
            unrecorded,
            callbacks: self.call_back().await,
        };
        tracing::info!(?report, clean = report.is_clean(), "shut down");
        report
    }

    fn shutdown_request(&self, mode: StopMode, message: &str) -> StopRequest {
        StopRequest {
            target: Target::Everything,
            kind: StopKind::Pause,
            mode,
            source: StopSource::System,
            cause: StopCause::Shutdown,
            message: message.to_owned(),
            by: self.settings.actor(),
            key: None,
            limit: None,
            metadata: None,
        }
    }

    /// Waits until no run is owned any more and everything is recorded, or `limit` is over. Returns the runs still owned.
    async fn let_go_within(&self, limit: std::time::Duration) -> BTreeSet<RunId> {
        let end = Instant::now() + limit;
        let mut pulse = self.pulse.subscribe();
        loop {
            pulse.mark_unchanged();
            let kept: BTreeSet<_> = self.registry.owned().into_iter().collect();
            if kept.is_empty() && self.registry.unrecorded() == 0 {
                return kept;
            }
            if tokio::time::timeout_at(end, pulse.changed()).await.is_err() {
                return self.registry.owned().into_iter().collect();
            }
        }
    }

    async fn call_back(self: &Arc<Self>) -> Vec<Ran> {
        let bounds = self.bounds(self.settings.times.hook);
        let calls = self.callbacks.take().into_iter().map(|(name, callback)| {
            // The callback is called inside its own task, since it may panic before its first await.
            bounds.run(name, async move { callback().await })
        });
        futures_util::future::join_all(calls).await
    }
}
