//! Runs that go on by themselves: pauses that a policy ends after some time.

use std::time::Duration;

use interrupts::policy::Policy;
use interrupts::signals::{OsSignals, SignalSource};
use jiff::Timestamp;
use routing_core::RunId;

use crate::address::find_run;
use crate::due::Due;
use crate::exit::{Exit, Failure};
use crate::installation::Local;
use crate::storage::is_owned;
use crate::time::instant;
use crate::visible::visible_line;

/// How often is looked whether somebody else has gone on with the run.
const LOOK: Duration = Duration::from_secs(1);

/// Waits until the policy ends all that a run waits for, and decides it so. Whether the run can go on now: not
/// where a person or anything else is waited for, where somebody else has the run by then, and where a signal came.
/// `ended` is how the run has ended for now, which is said before the waiting; `signals` have been heard since before
/// the run was executed.
///
/// # Errors
///
/// Where the store cannot be read or written.
///
/// # Cancel safety
///
/// Dropped, some of the pauses may be decided; the run can be resumed.
pub(super) async fn went_on(
    local: &Local,
    policy: &Policy,
    run: RunId,
    ended: &anyhow::Result<Exit>,
    signals: &mut OsSignals,
) -> Result<bool, Failure> {
    let row = find_run(local, &run.to_string()).await?;
    if row.state.is_final() || is_owned(&row) {
        return Ok(false);
    }
    let store = &*local.storage().store;
    let Some(due) = Due::of(store, policy, run).await? else {
        return Ok(false);
    };
    if let Err(failure) = ended {
        eprintln!("error: {}", visible_line(&failure.to_string()));
    }
    eprintln!(
        "It goes on by itself at {}, as the policy says; Ctrl+C leaves it paused.",
        instant(due.at)
    );
    if !waited(local, run, due.at, signals).await? {
        return Ok(false);
    }
    due.decide(store).await
}

/// Waits; not to its end where a signal comes or has come before, or somebody else goes on with the run.
async fn waited(
    local: &Local,
    run: RunId,
    until: Timestamp,
    signals: &mut OsSignals,
) -> Result<bool, Failure> {
    loop {
        let row = find_run(local, &run.to_string()).await?;
        if row.state.is_final() || is_owned(&row) {
            return Ok(false);
        }
        let left = until.duration_since(Timestamp::now());
        if !left.is_positive() {
            return Ok(true);
        }
        tokio::select! {
            biased;
            _signal = signals.next() => return Ok(false),
            () = tokio::time::sleep(left.unsigned_abs().min(LOOK)) => {}
        }
    }
}
