//! This worker among the others on its store: what it reports of itself, which runs are its own to take, and which it hands
//! over.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use interrupt_router::RunId;
use interrupts::life::RunState;
use interrupts::manager::{ScanSchedule, Times, time_to_outlast};
use interrupts::store::{Run, WorkerState};
use interrupts::{Fleet, FreeRun, Labels};
use jiff::{SignedDuration, Timestamp};
use journal::{executed_by_worker, needs_in};
use server::WorkerFigures;
use tokio::time::Instant;

use super::{Launcher, RunShare};
use crate::commands::serve::needs::needs_of;

/// The least time between two reports of a worker about itself.
const PACE: Duration = Duration::from_millis(500);

/// For how long a worker leaves a run that it handed over to the others.
const LEFT_TO_OTHERS: Duration = Duration::from_secs(10);

/// The workers from this rank on do not wait longer for those before them.
const LAST_IN_LINE: usize = 3;

/// Why a run is handed over, as its last checkpoint says.
const HANDED_OVER: &str = "another worker has more room for it";

/// A worker among the others.
#[derive(Default)]
pub(super) struct Among {
    labels: Labels,
    /// As they stood when it looked last.
    fleet: Mutex<Fleet>,
    /// The runs that it has handed over, and when each was told to go, or has gone.
    handed_over: Mutex<HashMap<RunId, Instant>>,
    /// How many runs it has handed over.
    count: AtomicU64,
}

impl Among {
    pub(super) fn with(labels: Labels) -> Self {
        Self {
            labels,
            ..Self::default()
        }
    }

    fn fleet(&self) -> MutexGuard<'_, Fleet> {
        // The value is only replaced whole, so a panic elsewhere does not corrupt it.
        self.fleet.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn handed_over(&self) -> MutexGuard<'_, HashMap<RunId, Instant>> {
        // The map is changed by single insertions and removals only.
        self.handed_over
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

/// When a run is a worker's to take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RunTurn {
    /// At once.
    Now,
    /// After this time, if no other worker has taken it by then.
    After(Duration),
    /// Once it has room.
    WithRoom,
    /// Never: this worker lacks what it needs.
    Never,
}

impl Launcher {
    /// When to take a run here. All workers that could take it know which one comes first.
    pub(super) fn turn(&self, run: &Run) -> RunTurn {
        // Another program executes it; this one only carries out its stops.
        if executed_by_worker(&run.content) {
            return RunTurn::Now;
        }
        match self.0.share {
            RunShare::UpTo(_) => {}
            RunShare::Own if !needs_in(&run.content).is_empty() => return RunTurn::Never,
            RunShare::Own | RunShare::None => return RunTurn::Now,
        }
        let needs = needs_of(run);
        let (name, state) = (self.0.run_owner.owner(), self.own_state());
        if !state.labels.cover(&needs) {
            return RunTurn::Never;
        }
        if state.free() == 0 {
            return RunTurn::WithRoom;
        }
        if self.has_handed_over(run.id) {
            return RunTurn::After(LEFT_TO_OTHERS);
        }
        let fleet = self.0.among.fleet().with(name, state);
        let free = match run.state {
            RunState::Running | RunState::Stopping => FreeRun::LetGo(run.id),
            RunState::Created
            | RunState::Paused
            | RunState::Waiting
            | RunState::Completed
            | RunState::Failed
            | RunState::Cancelled => FreeRun::New(run.id),
        };
        let rank = fleet.rank(free, &needs, name).unwrap_or(LAST_IN_LINE);
        let Ok(rank @ 1..) = u32::try_from(rank.min(LAST_IN_LINE)) else {
            return RunTurn::Now;
        };
        // All of them watch an expired lease meanwhile: its owner may only be suspended.
        let to_outlast = self.to_outlast(run).unwrap_or_default();
        RunTurn::After(to_outlast + ScanSchedule::USUAL.of_worker * rank)
    }

    /// For how long to watch a run's lease that has run out by the clock alone.
    pub(super) fn to_outlast(&self, run: &Run) -> Option<Duration> {
        let lapsed = self.0.run_owner.lapsed(run);
        lapsed.map(|_lease| time_to_outlast(Times::default().heartbeat))
    }

    /// Looks at a run after a while, and continues it if no other worker has had it by then. News that came since is handled
    /// on its own.
    pub(super) fn look_later(&self, row: &Run, while_: Duration) {
        let (run, version) = (row.id, row.version);
        let is_watched = self.to_outlast(row).is_some_and(|least| least <= while_);
        let lapsed = self.0.run_owner.lapsed(row).filter(|_lease| is_watched);
        let while_ = SignedDuration::try_from(while_).unwrap_or(SignedDuration::MAX);
        let (delay, launcher) = (self.0.leases.begin(run), self.clone());
        self.0.leases.tasks().spawn(async move {
            if delay.sleeps(Timestamp::now() + while_).await {
                match launcher.0.store().run(run).await {
                    Ok(Some(row)) if row.version == version => {
                        if let Some(lease) = lapsed.filter(|it| row.lease.as_ref() == Some(it)) {
                            launcher.0.run_owner.has_outlasted(run, lease);
                        }
                        launcher.look_again(run).await;
                    }
                    Ok(_moved) => {}
                    Err(error) => tracing::warn!(%run, %error, "the run could not be looked at"),
                }
            }
            launcher.0.leases.end(run, &delay);
        });
    }

    /// Reports the state of this worker to the others, and reads theirs. If that fails, the last known state is kept.
    ///
    /// # Cancel safety
    ///
    /// Safe to repeat.
    pub(in crate::commands::serve) async fn tell_others(&self) {
        let lease = Times::default().lease;
        self.tell(SignedDuration::try_from(lease).unwrap_or(SignedDuration::ZERO))
            .await;
        match self.0.store().workers().await {
            Ok(workers) => *self.0.among.fleet() = Fleet::new(workers),
            Err(error) => tracing::warn!(%error, "it is not known which workers there are"),
        }
    }

    /// Reports that this worker takes no more runs.
    ///
    /// # Cancel safety
    ///
    /// Safe to repeat.
    pub(in crate::commands::serve) async fn leave_others(&self) {
        self.tell(SignedDuration::ZERO).await;
    }

    async fn tell(&self, lease: SignedDuration) {
        let (name, state) = (self.0.run_owner.owner(), self.own_state());
        if let Err(error) = self.0.store().tell_worker(name, state, lease).await {
            tracing::warn!(%error, "other workers are not told of this one");
        }
    }

    /// Reports to the others, as often as a lease is renewed and whenever a run has come or gone, and hands a run over if
    /// they have more room.
    ///
    /// # Cancel safety
    ///
    /// Safe: a run that was told to go goes all the same.
    pub(in crate::commands::serve) async fn keep_telling_others(&self) {
        loop {
            let moved = self.0.moved.notified();
            self.tell_others().await;
            self.hand_over_where_crowded().await;
            tokio::time::sleep(PACE).await;
            let next = Times::default().heartbeat.saturating_sub(PACE);
            let _next_or_moved = tokio::time::timeout(next, moved).await;
        }
    }

    /// Hands over the youngest run that others have more room for, if this worker is the one to do so.
    async fn hand_over_where_crowded(&self) {
        let (name, fleet) = (self.0.run_owner.owner(), self.0.among.fleet().clone());
        let mut here: Vec<RunId> = self.0.here().iter().copied().collect();
        here.sort_unstable();
        if self.waits_for_hand_over(&here) {
            return;
        }
        for run in here.into_iter().rev() {
            let row = match self.0.store().run(run).await {
                Ok(Some(row)) if self.is_at_work(&row) => row,
                Ok(_) => continue,
                Err(error) => {
                    tracing::warn!(%run, %error, "the run could not be looked at");
                    return;
                }
            };
            if fleet.hands_over(&needs_of(&row), name) {
                self.0.among.handed_over().insert(run, Instant::now());
                if self.0.run_owner.manager.hand_over(run, HANDED_OVER) {
                    self.0.among.count.fetch_add(1, Ordering::Relaxed);
                    tracing::info!(%run, "the run is handed over: {HANDED_OVER}");
                }
                return;
            }
        }
    }

    /// Whether a run that was handed over is still here, or left so recently that its new worker may not have reported it
    /// yet: a second one would be too many. Forgets those that left long ago.
    fn waits_for_hand_over(&self, here: &[RunId]) -> bool {
        let mut handed_over = self.0.among.handed_over();
        handed_over.retain(|run, at| here.contains(run) || at.elapsed() < LEFT_TO_OTHERS);
        let beat = Times::default().heartbeat;
        handed_over
            .iter()
            .any(|(run, at)| here.contains(run) || at.elapsed() < beat)
    }

    /// Whether a run is handed over to other workers, or was a short time ago.
    pub(super) fn has_handed_over(&self, run: RunId) -> bool {
        let at = self.0.among.handed_over().get(&run).copied();
        at.is_some_and(|at| self.0.here().contains(&run) || at.elapsed() < LEFT_TO_OTHERS)
    }

    /// A run has gone: if it was handed over, its time starts now.
    pub(super) fn has_gone(&self, run: RunId) {
        if let Some(at) = self.0.among.handed_over().get_mut(&run) {
            *at = Instant::now();
        }
    }

    /// The state of this worker, and its counters.
    pub(in crate::commands::serve) fn figures(&self) -> WorkerFigures {
        let WorkerState { slots, taken, .. } = self.own_state();
        WorkerFigures {
            slots,
            taken,
            takeovers: self.0.takeovers.load(Ordering::Relaxed),
            handed_over: self.0.among.count.load(Ordering::Relaxed),
            late_results: self.0.counts.late_results(),
        }
    }

    fn own_state(&self) -> WorkerState {
        let count = |many: usize| u32::try_from(many).unwrap_or(u32::MAX);
        let taken = count(self.0.here().len());
        WorkerState {
            slots: taken.saturating_add(count(self.room().unwrap_or(usize::MAX))),
            taken,
            labels: self.0.among.labels.clone(),
        }
    }
}
