//! Orphaned runs: their server was killed or stopped, and this one continues them.

use std::collections::HashMap;
use std::time::Duration;

use futures_util::{StreamExt as _, stream};
use interrupt_router::RunId;
use interrupts::life::{Lease, RunState};
use interrupts::manager::ScanSchedule;
use interrupts::store::{Page, Run, StoreError};
use journal::executed_by_worker;
use tokio::task::JoinSet;
use tokio::time::{Instant, MissedTickBehavior, interval_at};

use super::{Launcher, RunShare, RunTurn, Word};
use crate::commands::serve::order::is_launched;
use crate::commands::serve::predecessor::{Hindrance, hindrance};
use crate::exit::Exit;
use crate::listing;
use crate::run_owner::has_process;

/// How many runs of an earlier server are looked at together.
const AT_ONCE: usize = 16;

/// The states that an orphaned run can have.
const ORPHANED: [RunState; 4] = [
    RunState::Created,
    RunState::Running,
    RunState::Stopping,
    RunState::Paused,
];

/// After how long a run is tried again that could not be resumed, and has not changed since.
const TRIES_AGAIN_AFTER: Duration = Duration::from_secs(60);

/// What a server knows of the runs that it has looked at.
#[derive(Default)]
struct ScannedRuns {
    /// The runs that were tried lately: in which version, and when.
    tried: HashMap<RunId, (u64, Instant)>,
    /// The runs that have not begun, and when they were first seen so: normally their creator begins them at once.
    created: HashMap<RunId, Instant>,
    /// The runs that are not to be taken yet: in which version and with which lease, and when they were first seen so.
    left: HashMap<RunId, ((u64, Option<Lease>), Instant)>,
}

impl ScannedRuns {
    /// Whether a run was tried in this version, and not long ago.
    fn has_tried(&self, run: &Run) -> bool {
        self.tried
            .get(&run.id)
            .is_some_and(|it| it.0 == run.version)
    }

    /// Whether a run has not begun though it was there at an earlier look.
    fn has_not_begun(&mut self, run: &Run) -> bool {
        let now = Instant::now();
        let seen = *self.created.entry(run.id).or_insert(now);
        now.duration_since(seen) >= ScanSchedule::USUAL.of_server / 2
    }

    /// Whether a run has been unchanged for this long.
    fn has_stood(&mut self, run: &Run, while_: Duration) -> bool {
        let (now, state_words) = (Instant::now(), (run.version, run.lease.clone()));
        let seen = self
            .left
            .entry(run.id)
            .or_insert((state_words.clone(), now));
        if seen.0 != state_words {
            *seen = (state_words, now);
        }
        now.duration_since(seen.1) >= while_
    }

    /// Forgets runs that were tried or first seen long ago.
    fn forget(&mut self) {
        self.tried
            .retain(|_run, (_version, at)| at.elapsed() < TRIES_AGAIN_AFTER);
        self.created
            .retain(|_run, at| at.elapsed() < TRIES_AGAIN_AFTER);
        self.left
            .retain(|_run, (_stands, at)| at.elapsed() < TRIES_AGAIN_AFTER);
    }
}

impl Launcher {
    /// Continues the runs that servers launched and left: killed, or stopped. Others are only listed.
    ///
    /// # Cancel safety
    ///
    /// Safe to repeat.
    pub(in crate::commands::serve) async fn go_on_with_what_was_left(&self) {
        let live = match listing::live_runs_in(self.0.store()).await {
            Ok(live) => live,
            Err(error) => {
                tracing::warn!(%error, "the runs of an earlier server could not be looked for");
                return;
            }
        };
        // Each may have to wait for a heartbeat of its former owner.
        let looks = live.into_iter().map(|run| async move {
            match self.turn(&run) {
                RunTurn::Now | RunTurn::WithRoom => self.go_on_if_left(run).await,
                RunTurn::After(while_) => {
                    self.look_later(&run, while_);
                    self.go_on_when_due(run.id);
                }
                RunTurn::Never => {}
            }
        });
        stream::iter(looks)
            .buffer_unordered(AT_ONCE)
            .collect::<()>()
            .await;
    }

    async fn go_on_if_left(&self, run: Run) {
        if executed_by_worker(&run.content) || self.0.share == RunShare::None {
            if let Err(error) = self.go_on(&run, Word::News, None).await {
                tracing::debug!(run = %run.id, %error, "the run waits for a worker, or a person");
            }
            return;
        }
        if !is_launched(&run.content) {
            if !has_process(&run) {
                tracing::info!(run = %run.id, state = %run.state, "no process executes the run; irq resume continues it");
            }
            return;
        }
        if !self.has_news(&run).await {
            tracing::debug!(run = %run.id, "the run waits for people");
            self.go_on_when_due(run.id);
            return;
        }
        match self.go_on(&run, Word::Successor, None).await {
            Ok(()) if self.0.here().contains(&run.id) => {
                tracing::info!(run = %run.id, "the run goes on here");
            }
            // Another process has it by now.
            Ok(()) => {}
            Err(error) => {
                if error.exit == Exit::Conflict {
                    // Another process was faster, or a person has to say so first.
                    tracing::debug!(run = %run.id, %error, "the run does not go on here");
                } else {
                    tracing::warn!(run = %run.id, %error, "the run does not go on here");
                }
                self.go_on_when_due(run.id);
            }
        }
    }

    /// Looks every few seconds for runs that lost their server after this one began, and continues them.
    ///
    /// # Cancel safety
    ///
    /// Safe: a run is taken with one transaction, or not at all.
    pub(in crate::commands::serve) async fn watch_for_orphaned_runs(&self) {
        let every = if self.is_worker() {
            ScanSchedule::USUAL.of_worker
        } else {
            ScanSchedule::USUAL.of_server
        };
        let mut looks = interval_at(Instant::now() + every, every);
        looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut looked = ScannedRuns::default();
        // If this is dropped, they end.
        let mut resuming = JoinSet::new();
        loop {
            tokio::select! {
                _ = looks.tick() => {}
                // A slot may have become free.
                () = self.0.moved.notified(), if self.is_worker() => {}
            }
            if let Err(error) = self.resume_orphaned_runs(&mut looked, &mut resuming).await {
                tracing::warn!(%error, "orphaned runs could not be looked for");
            }
        }
    }

    /// Starts to continue what is found without waiting for it: if an owner may only be suspended, that takes longer than
    /// one interval, and other orphaned runs must not wait as well.
    async fn resume_orphaned_runs(
        &self,
        looked: &mut ScannedRuns,
        resuming: &mut JoinSet<()>,
    ) -> Result<(), StoreError> {
        while resuming.try_join_next().is_some() {}
        let mut page = Page {
            after: 0,
            limit: ScanSchedule::USUAL.page,
        };
        looked.forget();
        let mut room = self.room().unwrap_or(usize::MAX);
        loop {
            let runs = self.0.store().runs(&ORPHANED, page).await?;
            let is_last = runs.len() < ScanSchedule::USUAL.page as usize;
            for (position, run) in runs {
                page.after = position;
                if self.0.run_owner.is_held_elsewhere(&run) {
                    // Once that process has lost it, it is tried at once.
                    looked.tried.remove(&run.id);
                }
                let is_left = room > 0 && !looked.has_tried(&run);
                if is_left
                    && self.is_orphaned(&run, looked).await
                    && self.comes_to_turn(&run, looked)
                {
                    room -= 1;
                    looked.tried.insert(run.id, (run.version, Instant::now()));
                    let launcher = self.clone();
                    resuming.spawn(async move { launcher.go_on_if_left(run).await });
                }
            }
            if is_last || room == 0 {
                return Ok(());
            }
        }
    }

    /// Whether it is this worker's turn to take a run, or has become so since it was first seen. All workers watch a lease
    /// that has run out by the clock alone at the same time, so that the next in line loses no time if the first is gone as
    /// well.
    fn comes_to_turn(&self, run: &Run, looked: &mut ScannedRuns) -> bool {
        let while_ = match self.turn(run) {
            // A server looks too seldom for that.
            RunTurn::Now if !self.is_worker() => return true,
            RunTurn::Now => self.to_outlast(run).unwrap_or_default(),
            RunTurn::After(while_) => while_,
            RunTurn::WithRoom | RunTurn::Never => return false,
        };
        let comes = looked.has_stood(run, while_);
        let outlasted = self.to_outlast(run).filter(|least| *least <= while_);
        if comes
            && outlasted.is_some()
            && let Some(lease) = self.0.run_owner.lapsed(run)
        {
            self.0.run_owner.has_outlasted(run.id, lease);
        }
        comes
    }

    /// Whether a server launched the run, no process has it, and nothing else keeps it from going on.
    async fn is_orphaned(&self, run: &Run, looked: &mut ScannedRuns) -> bool {
        if executed_by_worker(&run.content) {
            // No worker takes it before its stop has taken effect, and the server that was to ensure that has died.
            return run.state == RunState::Stopping && !self.0.run_owner.is_held_elsewhere(run);
        }
        if !is_launched(&run.content)
            || self.0.here().contains(&run.id)
            || self.0.run_owner.is_held_elsewhere(run)
        {
            return false;
        }
        match run.state {
            RunState::Running | RunState::Stopping => true,
            RunState::Created => {
                let waits = self.is_worker() || looked.has_not_begun(run);
                waits && self.is_held_by(run, Hindrance::None).await
            }
            // Paused by the end of its server, as earlier versions did it, and by nothing else.
            RunState::Paused => self.is_held_by(run, Hindrance::Shutdown).await,
            RunState::Waiting | RunState::Completed | RunState::Failed | RunState::Cancelled => {
                false
            }
        }
    }

    /// Whether this, and nothing stronger, keeps a run from going on.
    async fn is_held_by(&self, run: &Run, held_by: Hindrance) -> bool {
        match hindrance(self.0.store(), run).await {
            Ok(found) => found == held_by,
            Err(error) => {
                tracing::warn!(run = %run.id, %error, "the pauses of the run could not be read");
                false
            }
        }
    }
}
