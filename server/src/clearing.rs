//! Periodic work: expiring what is past its deadline, and forgetting what is no longer used.

use std::time::Duration;

use interrupts::OwnerName;
use interrupts::store::Run;
use tokio::time::MissedTickBehavior;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;
use workers::GoneAskers;

use crate::app::App;

/// How often it looks.
const EVERY: Duration = Duration::from_secs(1);
/// The most interrupts that one look ends.
const AT_ONCE: u32 = 200;
/// After how many looks programs that asked and have gone are looked for.
const ASKERS: u32 = 10;
/// After how many looks idle callers are forgotten.
const LOOKS: u32 = 60;

/// Clears up until `stop` is cancelled.
pub(crate) async fn clear_up(app: App, stop: CancellationToken) {
    let mut ticks = tokio::time::interval(EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut looks = 0_u32;
    loop {
        tokio::select! {
            () = stop.cancelled() => return,
            _ = ticks.tick() => {}
        }
        sweep(&app).await;
        looks = looks.wrapping_add(1);
        if looks.is_multiple_of(ASKERS) {
            end_of_gone(&app, None).await;
        }
        if looks.is_multiple_of(LOOKS) {
            app.pace.forget_the_quiet();
        }
    }
}

/// Questions whose program has gone are withdrawn, those of one run or of all: a decision about them would reach no one.
/// Returns whether there was such a program.
pub(crate) async fn end_of_gone(app: &App, only: Option<&Run>) -> bool {
    let name = format!("server-{}", Uuid::now_v7().simple());
    let Ok(owner) = OwnerName::new(name) else {
        return false;
    };
    let gone = GoneAskers {
        store: app.store(),
        catalogues: &app.catalogues,
        policy: &app.config.policy,
        owner: &owner,
        is_gone: &|owner| app.config.launcher.is_gone(owner),
    };
    let ended = match only {
        Some(run) => gone.end_one(run, app.now()).await,
        None => gone.end(app.now()).await.map(|count| count > 0),
    };
    ended.unwrap_or_else(|error| {
        tracing::warn!(%error, "programs that have gone could not be looked for");
        false
    })
}

async fn sweep(app: &App) {
    match app.store().sweep(AT_ONCE).await {
        Ok(swept) => {
            for id in swept.expired {
                if let Ok(Some(interrupt)) = app.store().interrupt(id).await {
                    app.wake_run(interrupt.run);
                }
            }
        }
        Err(error) => tracing::warn!(%error, "what is past its deadline could not be looked for"),
    }
}
