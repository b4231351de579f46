//! Stops of an asker's run, and keeping the run meanwhile.

use std::time::Duration;

use interrupt_router::{InterruptType, RunId};
use interrupts::life::State;
use interrupts::store::{Filter, Pages, Run};
use tokio::time::Instant;
use workers::{Owned, WorkError};

use super::{Asker, LEASE, RENEWAL};
use crate::exit::Failure;

/// How often to look for stops without a notification.
const LOOK: Duration = Duration::from_secs(1);

/// How many interrupts are read together.
const PAGE: u32 = 200;

impl Asker {
    /// Keeps the run of this asker and carries out its stops, for as long as it is polled.
    ///
    /// # Cancel safety
    ///
    /// Safe: the next owner of the run completes a stop that was begun.
    pub(crate) async fn tend(&self) {
        let mut news = self.store.news();
        let mut renewed = Instant::now();
        loop {
            tokio::select! {
                _changed = news.changed() => {}
                () = tokio::time::sleep(LOOK) => {}
            }
            if let Err(error) = self.look(&mut renewed).await {
                tracing::warn!(%error, "the run could not be looked at");
            }
        }
    }

    async fn look(&self, renewed: &mut Instant) -> Result<(), WorkError> {
        let mut held = self.held.lock().await;
        let (Some(run), Some(epoch)) = (held.run, held.epoch) else {
            return Ok(());
        };
        let owned = match self.store.protocol().owned(run, epoch).await {
            Ok(owned) => owned,
            Err(WorkError::LeaseLost { .. } | WorkError::Ended { .. }) => {
                held.epoch = None;
                return Ok(());
            }
            Err(error) => return Err(error),
        };
        if owned.is_told_to_stop().await? {
            held.epoch = None;
            self.stop(owned).await?;
            self.store.changed();
        } else if renewed.elapsed() >= RENEWAL {
            owned.renew(LEASE).await?;
            *renewed = Instant::now();
        }
        Ok(())
    }

    /// Carries out the stops of a run. None of its agents works: its client only waits for people.
    pub(super) async fn stop(&self, owned: Owned<'_>) -> Result<(), WorkError> {
        let run = owned.run.id;
        owned.signals(None).await?;
        owned.cut_off_all().await?;
        owned.release(false).await?;
        let carried_out = self.store.run_owner.carry_out_late(run).await;
        carried_out.map_err(unexpected)
    }

    /// Whether nothing keeps a paused run paused: what had paused it was decided or withdrawn.
    pub(super) async fn was_let_go(&self, run: RunId) -> Result<bool, WorkError> {
        let filter = Filter {
            run: Some(run),
            node: None,
            states: vec![
                State::Requested,
                State::Delivered,
                State::Acknowledged,
                State::AwaitingReview,
            ],
        };
        let mut pages = Pages::of(PAGE);
        while let Some(rows) = pages
            .next(|page| self.store.protocol().store.interrupts(&filter, page))
            .await?
        {
            let is_pause = |it: &InterruptType| *it == InterruptType::Pause;
            if rows
                .iter()
                .any(|(_position, it)| is_pause(&it.interrupt_type))
            {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Resumes a run that nothing keeps paused any more.
    pub(super) async fn lift(&self, run: &Run) -> Result<(), WorkError> {
        let lifted = self.store.run_owner.let_worker_go_on(run, None, None).await;
        lifted.map_err(unexpected)
    }
}

fn unexpected(failure: Failure) -> WorkError {
    WorkError::Unexpected(failure.to_string())
}
