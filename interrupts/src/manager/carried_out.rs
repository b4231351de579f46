//! Records that decisions about stops are carried out: they are once the run continues or ends.

use super::owned_run_state::{KeepError, OwnedRunState};
use crate::life::{Family, Interrupt, RunState, Verdict};
use crate::store::{JournalError, Pages};

const PAGE: u32 = 200;

impl OwnedRunState {
    /// Records that the decisions of all stops that came from outside have been carried out. Stops that an agent has
    /// raised itself are carried out and recorded by its workflow. A decision to cancel the run is carried out once the
    /// run is cancelled: until then its next owner has to find it.
    pub(crate) async fn carry_out_stops(&self) -> Result<(), KeepError> {
        let settings = &self.shared.settings;
        let mut pages = Pages::of(PAGE);
        while let Some(open) = pages
            .next(|page| async move {
                self.read(|| settings.store.unknown_effects(self.run, page))
                    .await
            })
            .await?
        {
            for entry in open {
                let Some(id) = entry.dispatched() else {
                    continue;
                };
                let interrupt = self.read(|| settings.store.interrupt(id)).await?;
                let Some(stop) = interrupt.filter(is_from_outside) else {
                    continue;
                };
                if !gives_up(&stop) || self.is_cancelled().await? {
                    self.carried_out(entry.intent.effect).await?;
                }
            }
        }
        Ok(())
    }

    pub(super) async fn is_cancelled(&self) -> Result<bool, KeepError> {
        let settings = &self.shared.settings;
        let run = self.read(|| settings.store.run(self.run)).await?;
        Ok(run.is_some_and(|run| run.state == RunState::Cancelled))
    }

    pub(super) async fn carried_out(&self, effect: crate::EffectId) -> Result<(), KeepError> {
        let settings = &self.shared.settings;
        let finished = self
            .write(|| settings.store.finish(self.epoch, effect, "{}".to_owned()))
            .await;
        match finished {
            Ok(_) => Ok(()),
            Err(JournalError::Store(error)) => Err(error.into()),
            Err(JournalError::Fenced { .. }) => Err(KeepError::Lost { run: self.run }),
            // Another part of the program has recorded another result.
            Err(error) => {
                tracing::debug!(%effect, %error, "the dispatch of a stop was recorded before");
                Ok(())
            }
        }
    }
}

fn is_from_outside(interrupt: &Interrupt) -> bool {
    interrupt.family() == Family::Stop && !interrupt.is_raised_by_agent()
}

/// Whether the decision cancels the run.
fn gives_up(stop: &Interrupt) -> bool {
    let decision = stop.decision.as_ref();
    decision.is_some_and(|decision| decision.verdict == Verdict::Cancel)
}
