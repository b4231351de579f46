//! Runs that were put aside: this process continues them when there is news for them.

use interrupts::manager::UnkeptRun;
use interrupts::store::Run;
use tokio::sync::mpsc::UnboundedReceiver;

use super::{Launcher, RunTurn, is_launched};

impl Launcher {
    /// What comes once this returns for runs that are not executed here.
    ///
    /// # Cancel safety
    ///
    /// Safe: nothing was received.
    pub(in crate::commands::serve) async fn news(&self) -> UnboundedReceiver<UnkeptRun> {
        self.0.run_owner.manager.news_of_unkept_runs().await
    }

    /// Continues runs that were unloaded or paused when any process decides or withdraws their interrupts, until the manager
    /// or the last run has ended.
    ///
    /// # Cancel safety
    ///
    /// Safe: the decisions are in the store.
    pub(in crate::commands::serve) async fn go_on_with_what_was_put_aside(
        &self,
        mut news: UnboundedReceiver<UnkeptRun>,
    ) {
        while let Some(news) = news.recv().await {
            let run = match news {
                UnkeptRun::Reached(run) => run,
                UnkeptRun::Moved(run) => {
                    self.take_if_free(run).await;
                    continue;
                }
            };
            match self.0.store().run(run).await {
                Ok(Some(row)) if is_launched(&row.content) && self.is_at_work(&row) => {
                    self.look_when_left(run);
                }
                Ok(Some(row)) if is_launched(&row.content) && self.was_let_go(&row).await => {
                    if self.0.run_owner.is_held_elsewhere(&row) {
                        self.look_when_left(run);
                    } else {
                        self.look_in_turn(&row).await;
                    }
                }
                Ok(_) => {}
                Err(error) => tracing::warn!(%run, %error, "the run could not be looked at"),
            }
        }
    }

    /// Looks at a run with news: here now, or later if it is another worker's turn.
    async fn look_in_turn(&self, run: &Run) {
        match self.turn(run) {
            RunTurn::Now | RunTurn::WithRoom => {
                self.look_again(run.id).await;
                self.go_on_when_due(run.id);
            }
            RunTurn::After(while_) => {
                self.look_later(run, while_);
                self.go_on_when_due(run.id);
            }
            RunTurn::Never => {}
        }
    }
}
