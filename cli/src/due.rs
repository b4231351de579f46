//! Pauses that a policy ends after some time: which ones, when, and their end.

use interrupts::life::{Actor, Choosing, Interrupt, Judge, Role, State};
use interrupts::manager::{StopCause, StopNote};
use interrupts::policy::{Automatic, Policy};
use interrupts::store::{ChangeError, Filter, Store};
use interrupts::{ActorName, Digest};
use jiff::{SignedDuration, Timestamp};
use routing_core::{DecisionId, InterruptType, RunId};

use crate::exit::{Exit, Failure};
use crate::listing;
use crate::refused::{by_change, by_store};

/// The shortest time between a pause and its end: what fails at once again must not become a load.
const SHORTEST: SignedDuration = SignedDuration::from_secs(1);

/// All that a run waits for, where the policy ends each of it.
pub(crate) struct Due {
    pauses: Vec<DuePause>,
    /// When the last of them ends.
    pub(crate) at: Timestamp,
}

/// A pause that the policy ends.
struct DuePause {
    pause: Interrupt,
    choosing: Choosing,
    at: Timestamp,
}

impl Due {
    /// What the policy ends of a run; `None` where anything else is open in it, or nothing is.
    ///
    /// # Errors
    ///
    /// Where the store cannot be read.
    ///
    /// # Cancel safety
    ///
    /// Safe: it only reads.
    pub(crate) async fn of(
        store: &dyn Store,
        policy: &Policy,
        run: RunId,
    ) -> Result<Option<Self>, Failure> {
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
        let open = listing::interrupts_in(store, &filter).await;
        let open = open.map_err(|error| by_store(&error))?;
        let pauses = open.into_iter().map(|pause| due(policy, pause));
        let Some(pauses) = pauses.collect::<Option<Vec<_>>>() else {
            return Ok(None);
        };
        let at = pauses.iter().map(|due| due.at).max();
        Ok(at.map(|at| Self { pauses, at }))
    }

    /// Decides each of them as the policy says; not where somebody else has decided one.
    ///
    /// # Errors
    ///
    /// Where the store cannot be written.
    ///
    /// # Cancel safety
    ///
    /// Dropped, some of them may be decided; the run can be resumed.
    pub(crate) async fn decide(self, store: &dyn Store) -> Result<bool, Failure> {
        for due in self.pauses {
            if !decided(store, due).await? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// When and how the policy ends an interrupt, where it does.
fn due(policy: &Policy, pause: Interrupt) -> Option<DuePause> {
    if pause.interrupt_type != InterruptType::Pause {
        // A question that a rule answers is decided when it is raised; one that is open is a person's.
        return None;
    }
    // An interrupt has one decision at most, so its own bits name it.
    let id = DecisionId::from_uuid(pause.id.uuid());
    match policy.decide(&pause, id) {
        Automatic::Decide { choosing, after }
            if pause.state == State::AwaitingReview && may_end(&pause) =>
        {
            let since = pause.acknowledged_at.unwrap_or(pause.requested_at);
            let at = since.checked_add(after.max(SHORTEST)).ok()?;
            Some(DuePause {
                pause,
                choosing,
                at,
            })
        }
        Automatic::Decide { .. } | Automatic::Ask { .. } => None,
    }
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

async fn decided(store: &dyn Store, due: DuePause) -> Result<bool, Failure> {
    let DuePause {
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
    match store.decide(pause.id, judge, choosing).await {
        Ok(_) => Ok(true),
        Err(ChangeError::Refused(_)) => Ok(false),
        Err(error) => Err(by_change(pause.id, &error)),
    }
}
