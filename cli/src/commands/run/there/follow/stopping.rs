//! What signals do to a run on a server.

use std::sync::Arc;

use interrupt_router::{InterruptType, RunId, StopMode};
use interrupts::life::Scope;
use interrupts::signals::{Rung, Signal};

use super::{Beside, FollowedRun};
use crate::advice::advised;
use crate::backend::Backend;
use crate::exit::{Exit, Failure};
use crate::request::Addressee;
use crate::run_owner::words;
use crate::time::Grace;
use control::StopOrder;

impl FollowedRun {
    /// What a signal does: the first one asks for a graceful stop, the second for one at once, the third leaves.
    pub(super) fn stop(&mut self, signal: Signal) -> anyhow::Result<()> {
        let exit = Exit::by(signal);
        self.signal.get_or_insert(exit);
        let mode = match self.heard.climb(signal) {
            None => return Ok(()),
            Some(Rung::Ask) => StopMode::Graceful,
            Some(Rung::Insist) => StopMode::Immediate,
            Some(Rung::Leave) => {
                let text = format!(
                    "Left at once. The run goes on stopping on the server: irq ps {} --server {}",
                    self.run, self.url
                );
                return Err(Failure::new(exit, advised(&text)).into());
            }
        };
        self.say(words(signal, mode));
        let (remote, run, sender) = (Arc::clone(&self.remote), self.run, self.beside.0.clone());
        // A server that does not answer must not delay a signal.
        tokio::task::spawn_local(async move {
            let stopped = stop_there(&*remote, run, mode, signal.why_it_stops()).await;
            // The receiver is gone if the following has ended.
            let _ = sender.send(Beside::Stopped(stopped));
        });
        Ok(())
    }
}

/// Asks a server to stop a run; if it has ended meanwhile, the feed says so.
async fn stop_there(
    remote: &dyn Backend,
    run: RunId,
    mode: StopMode,
    reason: &str,
) -> Result<(), Failure> {
    let run = remote.run(run).await?;
    let Some(run) = run.filter(|run| !run.state.is_final()) else {
        return Ok(());
    };
    let to = Addressee::whole(remote, run).await?;
    let stop = StopOrder {
        limit_ms: Grace::OF_SIGNALS.millis(),
        ..StopOrder::new(InterruptType::Pause, mode, Scope::Run, reason.to_owned())
    };
    match remote.stop(&to, &stop).await {
        Ok(_requested) => Ok(()),
        Err(failure) if failure.exit == Exit::Conflict => Ok(()),
        Err(failure) => Err(failure),
    }
}
