//! Owning a run: the state that the tasks which keep its lease and inbox share with the code that runs it.

use std::fmt::Display;
use std::future::Future;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use interrupt_router::{NodeId, RunId, StopMode, StopReason, StopSource};
use tokio::sync::Notify;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::deliveries::Deliveries;
use super::inbox::Inbox;
use super::recovery::Recoverable;
use super::request::error_in_words;
use super::retry_budget::RetryBudget;
use super::shared::Shared;
use super::tree::Reach;
use crate::life::{RunState, State};
use crate::store::{ChangeError, CheckpointError, Filter, Pages, RunError, StoreError};

/// How many interrupts one check of the deadlines ends at most.
pub(super) const MOST_SWEPT: u32 = 100;

/// Why this process no longer owns a run, or an operation on it failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum KeepError {
    /// This process owns it already.
    #[error("{run} is kept by this process already")]
    Kept {
        /// The run.
        run: RunId,
    },
    /// Another process owns it now, or its lease was not renewed in time: nothing more is written.
    #[error("this process does not own {run} any more")]
    Lost {
        /// The run.
        run: RunId,
    },
    /// The run was not changed.
    #[error(transparent)]
    Run(#[from] RunError),
    /// One of its interrupts was not changed.
    #[error(transparent)]
    Change(#[from] ChangeError),
    /// Its checkpoint was not saved.
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Recoverable for KeepError {
    fn is_recoverable(&self) -> bool {
        match self {
            Self::Run(error) => error.is_recoverable(),
            Self::Change(error) => error.is_recoverable(),
            Self::Store(error) | Self::Checkpoint(CheckpointError::Store(error)) => {
                error.is_recoverable()
            }
            Self::Checkpoint(_refused) => false,
            Self::Kept { .. } | Self::Lost { .. } => false,
        }
    }
}

/// The state that the tasks of an owned run share.
pub(crate) struct OwnedRunState {
    pub(crate) shared: Arc<Shared>,
    pub(crate) run: RunId,
    pub(crate) epoch: u64,
    /// The node that represents the run.
    pub(crate) node: NodeId,
    /// Whether the workflow continues without an agent that is stopped for good.
    pub(crate) leaves_agents_out: bool,
    pub(crate) deliveries: Arc<dyn Deliveries>,
    /// Locked, so that only one task checks the inbox at a time.
    pub(crate) inbox: tokio::sync::Mutex<Inbox>,
    /// Cancelled when this process no longer owns the run.
    pub(crate) lost: CancellationToken,
    pub(crate) failure: OnceLock<KeepError>,
    /// How long store operations that fail are retried, for all that is recorded of the run together.
    pub(super) patience: RetryBudget,
    begun: AtomicBool,
    /// Whether the process leaves this run to others.
    pub(super) is_handed_over: AtomicBool,
    notifier: Notify,
    /// When the last successful renewal of the lease began.
    renewed: Mutex<Instant>,
}

impl OwnedRunState {
    pub(crate) fn new(
        shared: Arc<Shared>,
        run: RunId,
        epoch: u64,
        (node, leaves_agents_out): (NodeId, bool),
        deliveries: Arc<dyn Deliveries>,
        inbox: Inbox,
    ) -> Self {
        let lost = CancellationToken::new();
        let patience = RetryBudget::of_kept(run, &shared.settings, lost.clone());
        Self {
            shared,
            run,
            epoch,
            node,
            leaves_agents_out,
            deliveries,
            inbox: tokio::sync::Mutex::new(inbox),
            lost,
            failure: OnceLock::new(),
            patience,
            begun: AtomicBool::new(false),
            is_handed_over: AtomicBool::new(false),
            notifier: Notify::new(),
            renewed: Mutex::new(Instant::now()),
        }
    }

    pub(crate) fn wake(&self) {
        self.notifier.notify_one();
    }

    /// Reads from the store, and retries as [`RetryBudget::read`] does.
    pub(super) async fn read<T, E, F>(&self, attempt: impl FnMut() -> F) -> Result<T, E>
    where
        E: Recoverable + Display,
        F: Future<Output = Result<T, E>>,
    {
        self.patience.read(&self.shared, attempt).await
    }

    /// Writes to the store, and retries as [`RetryBudget::write`] does.
    pub(super) async fn write<T, E, F>(&self, attempt: impl FnMut() -> F) -> Result<T, E>
    where
        E: Recoverable + Display,
        F: Future<Output = Result<T, E>>,
    {
        self.patience.write(&self.shared, attempt).await
    }

    /// Refuses to write anything once the run is lost. The error is the store's own if that prevented the renewal of its
    /// lease.
    pub(crate) fn check_owned(&self) -> Result<(), KeepError> {
        if !self.lost.is_cancelled() {
            return Ok(());
        }
        Err(match self.failure.get() {
            Some(KeepError::Store(error)) => KeepError::Store(error.clone()),
            Some(_) | None => KeepError::Lost { run: self.run },
        })
    }

    fn since_renewed(&self) -> Duration {
        // The value is replaced as a whole, so a panic elsewhere cannot leave it half written.
        let renewed = self.renewed.lock().unwrap_or_else(PoisonError::into_inner);
        renewed.elapsed()
    }

    /// Marks the run as lost if its lease has run out: a process that was suspended may be asked before its timers fire.
    pub(crate) fn stops_where_lost(&self) {
        let is_over = self.since_renewed() >= self.shared.settings.times.lease;
        if is_over && !self.lost.is_cancelled() {
            self.lose("its lease ran out while this process stood still");
        }
    }

    /// Whether this process has worked on the run.
    pub(crate) fn has_begun(&self) -> bool {
        self.begun.load(Ordering::Acquire)
    }

    /// Records that the run is working; from then on a stop of the run makes it `stopping`.
    pub(crate) async fn begin(&self) -> Result<(), KeepError> {
        match self.change_run(RunState::Running, None).await {
            // Its last owner died before it had stopped; it has now.
            Err(KeepError::Run(RunError::Illegal {
                from: RunState::Stopping,
                ..
            })) => {
                self.change_run(RunState::Paused, None).await?;
                self.change_run(RunState::Running, None).await?;
            }
            changed => changed?,
        }
        self.begun.store(true, Ordering::Release);
        self.tell_stopping().await
    }

    /// Records that the run is stopping, if it is working and was told to stop.
    pub(crate) async fn tell_stopping(&self) -> Result<(), KeepError> {
        if !self.has_begun() {
            return Ok(());
        }
        let active = self.shared.registry.active_stops(self.run);
        let is_of_all = |reach: &Reach| *reach == Reach::Run || !self.leaves_agents_out;
        let Some(stop) = active
            .iter()
            .find(|stop| is_of_all(&stop.reach) && !stop.settled)
        else {
            return Ok(());
        };
        let reason = Some(stop.reason.message.clone());
        match self.change_run(RunState::Stopping, reason).await {
            // It has stopped already, or has ended.
            Ok(()) | Err(KeepError::Run(RunError::Illegal { .. })) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Changes the state of the run in this epoch.
    pub(crate) async fn change_run(
        &self,
        state: RunState,
        reason: Option<String>,
    ) -> Result<(), KeepError> {
        self.check_owned()?;
        let settings = &self.shared.settings;
        let changed = self
            .write(|| {
                settings
                    .store
                    .change_run(self.run, self.epoch, state, reason.clone())
            })
            .await;
        match changed {
            Ok(_run) => Ok(()),
            Err(RunError::Fenced { .. }) => {
                self.lose("another process has taken the run");
                Err(KeepError::Lost { run: self.run })
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Marks the run as lost to this process: all that works on it stops at once.
    pub(crate) fn lose(&self, why: &str) {
        tracing::error!(run = %self.run, epoch = self.epoch, why, "the run is lost");
        self.stop_unrecorded(why.to_owned());
        self.lost.cancel();
    }

    /// Handles an error that cannot be recovered from: the run stops at once, and the error is kept.
    pub(crate) fn fail(&self, error: KeepError) {
        tracing::error!(run = %self.run, %error, "the run cannot be kept any longer");
        self.stop_unrecorded(error_in_words(&error));
        let _first_stands = self.failure.set(error);
    }

    fn stop_unrecorded(&self, message: String) {
        let Some(scope) = self.shared.registry.known_scope(self.run, &Reach::Run) else {
            return;
        };
        scope.stop(StopReason {
            source: StopSource::System,
            mode: StopMode::Immediate,
            message,
            timestamp: self.shared.settings.clock.now(),
        });
    }

    /// Checks the inbox whenever something may be in it, until the run is lost or an error ends it.
    pub(crate) async fn keep_looking(self: Arc<Self>) {
        loop {
            let next = match self.look().await {
                Ok(next) => next,
                Err(KeepError::Lost { .. }) => return,
                Err(_) if self.lost.is_cancelled() => return,
                Err(error) => {
                    self.fail(error);
                    return;
                }
            };
            tokio::select! {
                () = self.notifier.notified() => {}
                () = until(next) => {}
                () = self.lost.cancelled() => return,
                () = self.shared.closed.cancelled() => return,
            }
        }
    }

    /// Renews the leases of the run and of the interrupts delivered to it, until the run is lost.
    pub(crate) async fn keep_owning(self: Arc<Self>) {
        let times = self.shared.settings.times;
        let mut wait = times.heartbeat;
        let mut failed = None;
        loop {
            tokio::select! {
                () = tokio::time::sleep(wait) => {}
                () = self.lost.cancelled() => return,
                () = self.shared.closed.cancelled() => return,
            }
            let began = Instant::now();
            let left = times.lease.saturating_sub(self.since_renewed());
            match tokio::time::timeout(left, self.renew()).await {
                Ok(Ok(())) => {
                    *self.renewed.lock().unwrap_or_else(PoisonError::into_inner) = began;
                    failed = None;
                    wait = times.heartbeat;
                    self.sweep().await;
                    self.wake();
                }
                Ok(Err(RunError::Fenced { .. } | RunError::Unknown { .. })) => {
                    return self.lose("another process has taken the run");
                }
                Ok(Err(error)) if self.since_renewed() < times.lease => {
                    tracing::warn!(run = %self.run, %error, "the lease was not renewed");
                    failed = Some(error);
                    wait = times.heartbeat / 8;
                }
                // Another process may take the run from now on.
                Ok(Err(_)) | Err(_) => {
                    if let Some(RunError::Store(error)) = failed {
                        let _first_stands = self.failure.set(error.into());
                    }
                    return self.lose("its lease could not be renewed in time");
                }
            }
        }
    }

    /// Ends interrupts of any run that have waited too long: every live process does it for all.
    async fn sweep(&self) {
        let store = &self.shared.settings.store;
        let longest = self.shared.settings.times.heartbeat;
        match tokio::time::timeout(longest, store.sweep(MOST_SWEPT)).await {
            Ok(Ok(_swept)) => {}
            Ok(Err(error)) => tracing::warn!(%error, "what has waited too long was not ended"),
            Err(_elapsed) => {
                tracing::warn!("the store was too slow to end what has waited too long")
            }
        }
    }

    async fn renew(&self) -> Result<(), RunError> {
        let settings = &self.shared.settings;
        let (store, lease) = (&settings.store, settings.lease());
        store.renew_run(self.run, self.epoch, lease).await?;
        let filter = Filter {
            run: Some(self.run),
            states: vec![State::Delivered, State::Acknowledged],
            ..Filter::default()
        };
        let mut pages = Pages::of(100);
        while let Some(held) = pages.next(|page| store.interrupts(&filter, page)).await? {
            for (_position, interrupt) in &held {
                let ours = |lease: &crate::life::Lease| lease.owner == settings.owner;
                if interrupt.lease.as_ref().is_some_and(ours) {
                    let renewed = store.renew(interrupt.id, interrupt.epoch, lease).await;
                    match renewed {
                        // An interrupt that has changed meanwhile needs no lease.
                        Ok(_)
                        | Err(
                            ChangeError::Refused(_)
                            | ChangeError::NotRemembered(_)
                            | ChangeError::Unknown { .. },
                        ) => {}
                        Err(ChangeError::Store(error)) => return Err(error.into()),
                    }
                }
            }
        }
        Ok(())
    }
}

async fn until(instant: Option<Instant>) {
    match instant {
        Some(instant) => tokio::time::sleep_until(instant).await,
        None => std::future::pending().await,
    }
}

/// The longest wait before a retry.
pub(crate) const fn longest(shared: &Shared) -> Duration {
    shared.settings.backoff.longest
}
