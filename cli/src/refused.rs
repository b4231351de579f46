//! What a store refuses, as failures with an exit code and a way out.

mod invalid;

use control::{EndedRun, InvalidRequest, message_hint};
use interrupts::life::AdmissionError;
use interrupts::life::{Decider, Decision, NOBODY_ASKS, Refusal, State, Verdict};
use interrupts::store::{
    AdmitError, ChangeError, CheckpointId, MessageError, RuleError, RunError, StoreError,
    WaitingMessages,
};
use jiff::Timestamp;
use routing_core::InterruptId;

use crate::exit::{Exit, Failure};
use crate::state_words::state_words;
use crate::time::{ago, instant};
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

/// An interrupt that was not changed.
pub(crate) fn by_change(interrupt: InterruptId, error: &ChangeError) -> Failure {
    match error {
        ChangeError::Unknown { interrupt } => no_interrupt(*interrupt),
        ChangeError::Refused(refusal) => by_life(interrupt, refusal),
        ChangeError::Store(error) => by_store(error),
        ChangeError::NotRemembered(refusal) => {
            let text = format!("{interrupt} cannot be remembered: {refusal}");
            Failure::new(Exit::Usage, text).hint("decide without remembering; nothing was changed")
        }
        _ => Failure::new(Exit::Failure, error.to_string()),
    }
}

/// What cannot be asked.
pub(crate) fn by_asking(error: &InvalidRequest) -> Failure {
    let text = error.to_string();
    match error {
        InvalidRequest::Fork { .. } => {
            Failure::new(Exit::Conflict, text).hint("begin another run with the same input")
        }
        InvalidRequest::PruneOfRun => {
            Failure::new(Exit::Usage, text).hint("name an agent, RUN/AGENT; `irq ps` lists them")
        }
        InvalidRequest::Question(_)
        | InvalidRequest::EmptyInput
        | InvalidRequest::CatalogueOfFork
        | InvalidRequest::DropsWithoutFork
        | InvalidRequest::Event(_)
        | InvalidRequest::EventId(_)
        | InvalidRequest::Json(_)
        | _ => Failure::new(Exit::Usage, text),
    }
}

/// An interrupt that is not there.
pub(crate) fn no_interrupt(interrupt: impl std::fmt::Display) -> Failure {
    Failure::new(Exit::NotFound, format!("there is no interrupt {interrupt}"))
        .hint("`irq review` lists what waits for a person; is it another --store or --server?")
}

/// A rule that was not changed.
pub(crate) fn by_rule(error: &RuleError) -> Failure {
    match error {
        RuleError::Unknown { rule } => no_rule(&rule.to_string()),
        RuleError::Store(error) => by_store(error),
        RuleError::UnknownInterrupt { .. }
        | RuleError::Taken { .. }
        | RuleError::Refused(_)
        | _ => Failure::new(Exit::Failure, error.to_string()),
    }
}

/// A rule that is not there.
pub(crate) fn no_rule(given: &str) -> Failure {
    let text = format!("there is no rule {}", visible_line(given));
    Failure::new(Exit::NotFound, text).hint("`irq rules list --all` lists them")
}

/// What the life of an interrupt does not allow.
#[expect(clippy::too_many_lines, reason = "one arm for each refusal")]
pub(crate) fn by_life(interrupt: InterruptId, refusal: &Refusal) -> Failure {
    let look = format!("nothing was changed; `irq review {interrupt}` shows it");
    match refusal {
        Refusal::Ended {
            state, decision, ..
        } => {
            let text = match decision {
                Some(decision) => {
                    format!("{interrupt} is decided already: {}", decided(decision))
                }
                None if *state == State::Cancelled => {
                    format!("{interrupt} is cancelled: {NOBODY_ASKS}")
                }
                None => format!("{interrupt} is {}", state_words(*state)),
            };
            Failure::new(Exit::Conflict, text).hint(look)
        }
        Refusal::StaleVersion { given, current } => Failure::new(
            Exit::Conflict,
            format!("{interrupt} has changed since: it has version {current}, not {given}"),
        )
        .hint(look),
        Refusal::Claimed { by, until } => Failure::new(
            Exit::Conflict,
            format!("{by} has claimed {interrupt} until {}", instant(*until)),
        )
        .hint(look),
        Refusal::Held { by } => Failure::new(
            Exit::Conflict,
            format!("{interrupt} is held: {by} goes first"),
        )
        .hint(format!(
            "`irq review {by}` decides that one first; before its agent has stopped, `irq resume` does"
        )),
        Refusal::Role { .. } => Failure::new(Exit::NotAuthorised, refusal.to_string()),
        Refusal::VerdictNotAllowed { verdict, allowed } => by_verdict(interrupt, *verdict, allowed),
        Refusal::AskedByOthers { askings } => {
            let ids: Vec<String> = askings.iter().map(ToString::to_string).collect();
            let text = format!("none of the requests for {interrupt} is yours: {refusal}");
            let hint = format!(
                "`irq withdraw {}` withdraws one of them; `irq review {interrupt}` lists them",
                ids.first().map_or("ID.N", String::as_str)
            );
            Failure::new(Exit::Conflict, text).hint(hint)
        }
        Refusal::NoSuchAsking { .. } => {
            Failure::new(Exit::NotFound, refusal.to_string()).hint(look)
        }
        Refusal::TargetNotAllowed { .. }
        | Refusal::TargetMismatch
        | Refusal::NotAStop
        | Refusal::ReasonTooLong { .. } => {
            Failure::new(Exit::Usage, refusal.to_string()).hint(look)
        }
        Refusal::Illegal { .. }
        | Refusal::Fenced { .. }
        | Refusal::Leased { .. }
        | Refusal::AttemptsSpent { .. }
        | Refusal::ShownDiffers
        | Refusal::DeadlinePassed { .. }
        | Refusal::NotDue
        | Refusal::NotHeld { .. }
        | Refusal::EvidenceInsufficient
        | Refusal::AlreadyTakenBack { .. }
        | Refusal::NobodyAsks
        | Refusal::StillAsked
        | Refusal::AskedByPerson
        | Refusal::NotCancelable { .. }
        | Refusal::TooManyAskings { .. } => {
            Failure::new(Exit::Conflict, refusal.to_string()).hint(look)
        }
        _ => Failure::new(Exit::Failure, refusal.to_string()),
    }
}

/// A verdict that an interrupt does not take.
fn by_verdict(interrupt: InterruptId, verdict: Verdict, allowed: &[Verdict]) -> Failure {
    let text = format!("{interrupt} does not take `{}`", verdict.name());
    // A stop has no answer that could go elsewhere.
    if verdict == Verdict::Reroute && allowed.contains(&Verdict::Resume) {
        let text = format!("{text}: it is a stop, and its agent goes on where it was");
        return Failure::new(Exit::Usage, text).hint(
            "`irq reroute AGENT --to AGENT_TYPE` publishes a reroute for its agent; then go on with `irq resume`",
        );
    }
    let allowed: Vec<&str> = allowed.iter().copied().map(Verdict::name).collect();
    Failure::new(Exit::Usage, text).hint(format!("it takes: {}", allowed.join(", ")))
}

/// An interrupt that was not admitted.
pub(crate) fn by_admission(error: &AdmitError) -> Failure {
    match error {
        AdmitError::UnknownRun { .. } => Failure::new(Exit::NotFound, error.to_string()),
        AdmitError::OtherContent { .. } | AdmitError::IdTaken { .. } => {
            Failure::new(Exit::Conflict, error.to_string())
                .hint("give a new id, or the same content again")
        }
        AdmitError::Refused(AdmissionError::RunEnded { .. }) => {
            Failure::new(Exit::Conflict, error.to_string()).hint("`irq ps` lists the live runs")
        }
        AdmitError::NodeEnded { .. } => Failure::new(Exit::Conflict, error.to_string())
            .hint("`irq ps` lists the agents that are not"),
        AdmitError::MessagesWait(waiting) => by_waiting(waiting),
        AdmitError::Refused(_) => Failure::new(Exit::Usage, error.to_string()),
        AdmitError::Store(error) => by_store(error),
        AdmitError::NotRaised(_) | _ => Failure::new(Exit::Failure, error.to_string()),
    }
}

/// A message that was not accepted.
pub(crate) fn by_mailbox(error: &MessageError) -> Failure {
    let exit = match error {
        MessageError::Store(error) => return by_store(error),
        MessageError::UnknownRun { .. }
        | MessageError::UnknownNode { .. }
        | MessageError::UnknownMessage { .. } => Exit::NotFound,
        MessageError::Empty | MessageError::TooLarge { .. } => Exit::Usage,
        MessageError::AlreadyRead { .. }
        | MessageError::RunEnded { .. }
        | MessageError::NodeEnded { .. }
        | MessageError::TakesNoMessages { .. }
        | MessageError::NodeStops { .. }
        | MessageError::OtherContent { .. }
        | _ => Exit::Conflict,
    };
    let failure = Failure::new(exit, error.to_string());
    match message_hint(error) {
        Some(hint) => failure.hint(hint),
        None => failure,
    }
}

/// A run that has ended.
pub(crate) fn by_ended(ended: EndedRun) -> Failure {
    Failure::new(Exit::Conflict, ended.to_string()).hint(ended.hint())
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

/// Where a decision leads, after a comma; a no leads nowhere.
pub(crate) fn direction(decision: &Decision) -> String {
    if decision.verdict.declines() {
        String::new()
    } else {
        format!(", to {}", decision.target)
    }
}

/// Who decided, in words.
pub(crate) fn decider(by: &Decider) -> String {
    match by {
        Decider::Person { name } => name.to_string(),
        Decider::Policy => "the policy".to_owned(),
        Decider::Rule { name, .. } => format!("a standing rule of {name}"),
        Decider::Deadline => "the deadline".to_owned(),
    }
}

/// A fork that would go on without what agents were sent.
fn by_waiting(waiting: &WaitingMessages) -> Failure {
    Failure::new(Exit::Conflict, waiting.to_string()).hint(
        "go on with the run first, so that they are read: `irq resume RUN`; or take them back: \
         `irq send AGENT --waiting` lists them, `irq send AGENT --take-back N` takes one back",
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
        RunError::MessagesWait(waiting) => by_waiting(waiting),
        _ => Failure::new(Exit::Failure, error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use interrupts::store::StoreError;

    use super::by_store;
    use crate::exit::Exit;

    #[test]
    fn a_store_that_may_only_be_read_is_no_matter_of_keys() {
        assert_eq!(by_store(&StoreError::ReadOnly).exit, Exit::Failure);
    }
}
