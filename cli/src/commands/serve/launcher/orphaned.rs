//! Runs that a server has left, because it was killed or stopped: whichever server executes runs goes on with them.

use std::time::Duration;

use futures_util::{StreamExt as _, stream};
use interrupts::life::RunState;
use interrupts::store::{Page, Run, StoreError};
use tokio::task::JoinSet;
use tokio::time::{Instant, MissedTickBehavior, interval_at};

use super::{Launcher, Word};
use crate::commands::serve::order::is_launched;
use crate::commands::serve::predecessor::{Hindrance, hindrance};
use crate::listing;
use crate::storage::is_owned;

/// How many runs of an earlier server are looked at together.
const AT_ONCE: usize = 16;

/// How many runs are read together.
const PAGE: u32 = 200;

/// How runs stand that somebody may have left.
const LEFT: [RunState; 3] = [RunState::Running, RunState::Stopping, RunState::Paused];

/// How often a server looks for runs that others have left meanwhile.
const LOOKS_EVERY: Duration = Duration::from_secs(3);

impl Launcher {
    /// Goes on with the runs that servers launched and left: killed, or stopped. Others are only told.
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
        // Each may have to wait for a beat of whoever had it.
        let looks = live.into_iter().map(|run| self.go_on_if_left(run));
        stream::iter(looks)
            .buffer_unordered(AT_ONCE)
            .collect::<()>()
            .await;
    }

    async fn go_on_if_left(&self, run: Run) {
        if !is_launched(&run.content) {
            if !is_owned(&run) {
                tracing::info!(run = %run.id, state = %run.state, "nobody executes the run; irq resume goes on with it");
            }
            return;
        }
        if !self.has_news(&run).await {
            tracing::debug!(run = %run.id, "the run waits for people");
            self.go_on_when_due(run.id);
            return;
        }
        match self.go_on(&run, Word::Successor, None).await {
            Ok(()) => tracing::info!(run = %run.id, "the run goes on here"),
            Err(error) => {
                tracing::warn!(run = %run.id, %error, "the run does not go on here");
                self.go_on_when_due(run.id);
            }
        }
    }

    /// Goes on, again and again, with what servers leave that end after this one has begun.
    ///
    /// # Cancel safety
    ///
    /// Safe: a run is taken wholly, or left to whoever looks next.
    pub(in crate::commands::serve) async fn keep_going_on_with_what_is_left(&self) {
        let mut looks = interval_at(Instant::now() + LOOKS_EVERY, LOOKS_EVERY);
        looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            looks.tick().await;
            if let Err(error) = self.go_on_with_what_is_left().await {
                tracing::warn!(%error, "the runs that were left could not be looked for");
            }
        }
    }

    async fn go_on_with_what_is_left(&self) -> Result<(), StoreError> {
        let mut taken_up = JoinSet::new();
        let mut page = Page {
            after: 0,
            limit: PAGE,
        };
        loop {
            let runs = self.0.store().runs(&LEFT, page).await?;
            let is_last = runs.len() < PAGE as usize;
            for (position, run) in runs {
                page.after = position;
                if self.was_left(&run).await {
                    let launcher = self.clone();
                    taken_up.spawn(async move { launcher.go_on_if_left(run).await });
                }
            }
            if is_last {
                taken_up.join_all().await;
                return Ok(());
            }
        }
    }

    /// Whether a server had the run and has it no more, and nothing else holds it.
    async fn was_left(&self, run: &Run) -> bool {
        if !is_launched(&run.content)
            || self.0.here().contains(&run.id)
            || self.0.keeping.is_held_elsewhere(run)
        {
            return false;
        }
        match run.state {
            RunState::Running | RunState::Stopping => true,
            // What holds it is only that its server was stopped.
            RunState::Paused => match hindrance(self.0.store(), run).await {
                Ok(found) => found == Hindrance::Shutdown,
                Err(error) => {
                    tracing::warn!(run = %run.id, %error, "what holds the run could not be read");
                    false
                }
            },
            RunState::Created
            | RunState::Waiting
            | RunState::Completed
            | RunState::Failed
            | RunState::Cancelled => false,
        }
    }
}
