//! What a store refuses, as failures with an exit code and a way out.

mod invalid;

use control::{NotDone, Refusal, decider, direction, not_read};
use interrupts::life::Decision;
use interrupts::store::{CheckpointId, PendingInput, RunError, StoreError};
use jiff::Timestamp;

use crate::exit::{Exit, Failure, causes};
use crate::time::ago;
use crate::visible::visible_line;

pub(crate) use invalid::by_invalid;

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        by_store(&error)
    }
}

/// A store that could not do its work.
pub(crate) fn by_store(error: &StoreError) -> Failure {
    let failure = Failure::new(Exit::Failure, error.to_string());
    match error {
        StoreError::Full => failure.hint("free some space; nothing was accepted"),
        StoreError::ReadOnly => failure.hint(
            "it can be looked at and verified; to go on with it, copy it to where you may write, with its -wal where it has one, and name the copy: --store PATH",
        ),
        StoreError::Corrupt { .. } => {
            failure.hint("keep the file as it is, and go on with a backup: --store PATH")
        }
        StoreError::Gone { .. } => failure.hint(
            "nothing was recorded since; stop every irq that uses it, and put the file or a backup of it back",
        ),
        StoreError::DamagedRow { .. } => failure
            .hint("other rows can be read; irq history --verify names all that is damaged")
            .of_one_row(),
        StoreError::DamagedCheckpoint { checkpoint } => damaged(*checkpoint, error),
        StoreError::Foreign => failure.hint("name another file: --store PATH"),
        StoreError::InvalidValue { .. } => Failure::new(Exit::Usage, error.to_string())
            .hint("change that value: no store keeps it, and nothing was accepted"),
        StoreError::Locked => {
            failure.hint("try again; where it lasts, look for a process that hangs")
        }
        StoreError::Unreachable { .. } => Failure::new(Exit::Unreachable, error.to_string())
            .hint("check the address, and that its server listens; `irq doctor` tries it"),
        StoreError::Unavailable { .. } => {
            failure.hint("`irq doctor` says whether the store can be reached and used, and what room is left")
        }
        StoreError::Newer { .. }
        | StoreError::EngineTooOld { .. }
        | StoreError::NotDurable { .. }
        | StoreError::Closed
        | _ => failure,
    }
}

/// A checkpoint that no run can continue from; those before it are unaffected.
fn damaged(checkpoint: CheckpointId, error: &StoreError) -> Failure {
    let run = checkpoint.run;
    Failure::new(Exit::Conflict, error.to_string()).hint(format!(
        "nothing was changed; go on from another one: irq checkpoints {run}, irq fork {run} --at N"
    ))
}

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Self {
        let code = refusal.code();
        let failure = Self::new(
            exit_of(code.name(), code.status()),
            visible_line(refusal.text()),
        );
        match refusal.hint() {
            "" => failure,
            hint => failure.hint(hint),
        }
    }
}

impl From<NotDone> for Failure {
    fn from(error: NotDone) -> Self {
        match error {
            NotDone::Refused(refusal) => refusal.into(),
            NotDone::Store(error) => by_store(&error),
            NotDone::Failed(error) => Self::new(Exit::Failure, causes(&*error)),
        }
    }
}

/// How a command ends that was refused with this code, which has this status in HTTP: beside a store and by a server.
pub(crate) fn exit_of(code: &str, status: u16) -> Exit {
    match (code, status) {
        // What failed is the model.
        ("no-suggestion", _) => Exit::Failure,
        // The key belongs to another request.
        ("idempotency-conflict", _) => Exit::Conflict,
        (_, 401 | 403) => Exit::NotAuthorised,
        (_, 404) => Exit::NotFound,
        (_, 409 | 410 | 412) => Exit::Conflict,
        (_, 400..=428 | 430..=499 | 501) => Exit::Usage,
        (_, 502..=504) => Exit::Unreachable,
        _ => Exit::Failure,
    }
}

/// An interrupt that is not there.
pub(crate) fn no_interrupt(interrupt: impl std::fmt::Display) -> Failure {
    control::no_interrupt(&interrupt.to_string()).into()
}

/// A decision as a sentence: who, what, where to, when.
pub(crate) fn decided(decision: &Decision) -> String {
    format!(
        "{} decided `{}`{}, {}",
        decider(&decision.by),
        decision.verdict.name(),
        direction(decision),
        ago(decision.at, Timestamp::now())
    )
}

/// A run that was not changed.
pub(crate) fn by_run(error: &RunError) -> Failure {
    match error {
        RunError::Store(error) => by_store(error),
        RunError::Unknown { .. } => Failure::new(Exit::NotFound, error.to_string()),
        RunError::NoCheckpoint { checkpoint } => {
            let hint = format!("`irq checkpoints {}` lists them", checkpoint.run);
            Failure::new(Exit::NotFound, error.to_string()).hint(hint)
        }
        RunError::Taken { .. }
        | RunError::Owned { .. }
        | RunError::Fenced { .. }
        | RunError::Illegal { .. } => Failure::new(Exit::Conflict, error.to_string()),
        RunError::Pending {
            pending: PendingInput::Messages(waiting),
            ..
        } => not_read(waiting).into(),
        RunError::Pending { run, goes_on, .. } => {
            let first = match goes_on {
                true => format!("let it go on first: irq resume {run}; or "),
                false => String::new(),
            };
            let hint = format!("{first}fork it without that: irq fork {run} --drop-pending");
            Failure::new(Exit::Conflict, error.to_string()).hint(hint)
        }
        _ => Failure::new(Exit::Failure, error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use control::Code;
    use interrupts::store::StoreError;

    use super::{by_store, exit_of};
    use crate::exit::Exit;

    #[test]
    fn each_refusal_ends_a_command_as_its_status_says() {
        for (code, exit) in [
            (Code::Unauthenticated, Exit::NotAuthorised),
            (Code::Forbidden, Exit::NotAuthorised),
            (Code::RunNotFound, Exit::NotFound),
            (Code::AlreadyResolved, Exit::Conflict),
            (Code::Expired, Exit::Conflict),
            (Code::StaleVersion, Exit::Conflict),
            (Code::IdempotencyConflict, Exit::Conflict),
            (Code::Host, Exit::Usage),
            (Code::Shape, Exit::Usage),
            (Code::PreconditionRequired, Exit::Usage),
            (Code::RateLimited, Exit::Failure),
            (Code::Internal, Exit::Failure),
            (Code::NoSuggestion, Exit::Failure),
            (Code::Unavailable, Exit::Unreachable),
        ] {
            assert_eq!(exit_of(code.name(), code.status()), exit, "{code:?}");
        }
    }

    #[test]
    fn a_store_that_may_only_be_read_is_no_matter_of_keys() {
        assert_eq!(by_store(&StoreError::ReadOnly).exit, Exit::Failure);
    }
}
