//! Runs that go on by themselves: pauses that a policy ends after some time.

use std::time::Duration;

use interrupts::life::{Actor, Choosing, Interrupt, Judge, Role, State};
use interrupts::manager::{StopCause, StopNote};
use interrupts::policy::{Automatic, Policy};
use interrupts::signals::{OsSignals, SignalSource};
use interrupts::store::{ChangeError, Filter};
use interrupts::{ActorName, Digest};
use jiff::{SignedDuration, Timestamp};
use routing_core::{DecisionId, RunId};

use crate::address::find_run;
use crate::exit::{Exit, Failure};
use crate::installation::Local;
use crate::listing;
use crate::refused::by_change;
use crate::storage::is_owned;
use crate::time::instant;
use crate::visible::visible_line;

/// The shortest time between a pause and its end: what fails at once again must not become a load.
const SHORTEST: SignedDuration = SignedDuration::from_secs(1);

/// How often is looked whether somebody else has gone on with the run.
const LOOK: Duration = Duration::from_secs(1);

/// A pause that the policy ends.
struct Due {
    pause: Interrupt,
    choosing: Choosing,
    at: Timestamp,
}

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
    let Some(due) = due(local, policy, run).await? else {
        return Ok(false);
    };
    let Some(at) = due.iter().map(|due| due.at).max() else {
        return Ok(false);
    };
    if let Err(failure) = ended {
        eprintln!("error: {}", visible_line(&failure.to_string()));
    }
    eprintln!(
        "It goes on by itself at {}, as the policy says; Ctrl+C leaves it paused.",
        instant(at)
    );
    if !waited(local, run, at, signals).await? {
        return Ok(false);
    }
    for due in due {
        if !decided(local, due).await? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The pauses of a run, where the policy ends all that is open in it.
async fn due(local: &Local, policy: &Policy, run: RunId) -> Result<Option<Vec<Due>>, Failure> {
    let filter = Filter {
        run: Some(run),
        states: vec![
            State::Requested,
            State::Delivered,
            State::Acknowledged,
            State::AwaitingReview,
        ],
        ..Filter::default()
    };
    let open = listing::interrupts(local, &filter).await?;
    let due = open.into_iter().map(|pause| {
        // An interrupt has one decision at most, so its own bits name it.
        let id = DecisionId::from_uuid(pause.id.uuid());
        match policy.decide(&pause, id) {
            Automatic::Decide { choosing, after }
                if pause.state == State::AwaitingReview && may_end(&pause) =>
            {
                let since = pause.acknowledged_at.unwrap_or(pause.requested_at);
                let at = since.checked_add(after.max(SHORTEST)).ok()?;
                Some(Due {
                    pause,
                    choosing,
                    at,
                })
            }
            Automatic::Decide { .. } | Automatic::Ask { .. } => None,
        }
    });
    let due: Option<Vec<Due>> = due.collect();
    Ok(due.filter(|due| !due.is_empty()))
}

/// Whether waiting can help: a limit that was reached stays reached, and a process that was told to end ends.
fn may_end(pause: &Interrupt) -> bool {
    let note = serde_json::from_str::<StopNote>(&pause.content).ok();
    match note.map(|note| note.cause) {
        Some(
            StopCause::Budget | StopCause::Timeout | StopCause::Resource | StopCause::Shutdown,
        ) => false,
        Some(
            StopCause::UserEscape
            | StopCause::Permission
            | StopCause::SystemError
            | StopCause::Policy
            | StopCause::Hook
            | StopCause::Code,
        )
        | None => true,
    }
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

/// Decides a pause as the policy says; not where somebody else has decided it.
async fn decided(local: &Local, due: Due) -> Result<bool, Failure> {
    let Due {
        pause, choosing, ..
    } = due;
    let named = ActorName::new("policy");
    let judge = Judge::Person {
        actor: Actor {
            name: named.map_err(|error| Failure::new(Exit::Failure, error.to_string()))?,
            role: Role::Operator,
        },
        version: pause.version,
        shown: pause.review.as_ref().map_or(Digest::ZERO, |it| it.shown),
    };
    let store = &local.storage().store;
    match store.decide(pause.id, judge, choosing).await {
        Ok(_) => Ok(true),
        Err(ChangeError::Refused(_)) => Ok(false),
        Err(error) => Err(by_change(pause.id, &error)),
    }
}
