//! Why an interrupt did not take an event.

use interrupt_router::{InterruptId, InterruptType};
use jiff::Timestamp;

use super::Verdict;
use super::asking::AskingId;
use super::decision::Decision;
use super::event::Role;
use super::state::State;
use crate::names::{ActorName, OwnerName, RouteName};

/// Why a cancelled question cannot be decided.
pub const NOBODY_ASKS: &str = "it was taken back, its run has ended, or the program that asked has gone: no one would hear an answer";

/// Why an event was refused. The interrupt is as it was.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// It has ended.
    #[error("the interrupt is {state} and takes no {event}")]
    Ended {
        /// How.
        state: State,
        /// What was refused.
        event: &'static str,
        /// The decision, if one ended it.
        decision: Option<Box<Decision>>,
    },
    /// Its state has no such transition.
    #[error("an interrupt that is {state} takes no {event}")]
    Illegal {
        /// Its state.
        state: State,
        /// What was refused.
        event: &'static str,
    },
    /// A newer delivery has fenced this one off.
    #[error("epoch {given} is not the current one, {current}")]
    Fenced {
        /// The epoch of the request.
        given: u64,
        /// The epoch of the interrupt.
        current: u64,
    },
    /// A worker has it.
    #[error("{owner} has it until {until}")]
    Leased {
        /// Who.
        owner: OwnerName,
        /// Until when.
        until: Timestamp,
    },
    /// It was delivered as often as is allowed.
    #[error("all {attempts} deliveries are spent")]
    AttemptsSpent {
        /// How often.
        attempts: u32,
    },
    /// It has changed since it was shown.
    #[error("version {given} is not the current one, {current}")]
    StaleVersion {
        /// The version of the request.
        given: u64,
        /// The version of the interrupt.
        current: u64,
    },
    /// What was shown is not what is asked.
    #[error("what was shown is not what the interrupt asks")]
    ShownDiffers,
    /// Its deadline has passed.
    #[error("its deadline was {deadline}")]
    DeadlinePassed {
        /// When it was.
        deadline: Timestamp,
    },
    /// Its deadline has not passed, or it has none.
    #[error("its deadline has not passed")]
    NotDue,
    /// The actor may not do that.
    #[error("a {role:?} may not {event}")]
    Role {
        /// What he is.
        role: Role,
        /// What he may not do.
        event: &'static str,
    },
    /// Another person has claimed it.
    #[error("{by} has claimed it until {until}")]
    Claimed {
        /// Who.
        by: ActorName,
        /// Until when.
        until: Timestamp,
    },
    /// A user's interrupt goes first.
    #[error("it is held by {by}")]
    Held {
        /// That interrupt.
        by: InterruptId,
    },
    /// It is not held by that interrupt, or would hold itself.
    #[error("it is not for {by} to hold")]
    NotHeld {
        /// The interrupt.
        by: InterruptId,
    },
    /// The verdict is none of those that are allowed.
    #[error("{verdict:?} is not among the allowed verdicts {allowed:?}")]
    VerdictNotAllowed {
        /// The verdict.
        verdict: Verdict,
        /// Those that are allowed.
        allowed: Vec<Verdict>,
    },
    /// The target is none of the run's routes.
    #[error("{target} is not among the run's routes")]
    TargetNotAllowed {
        /// The target.
        target: RouteName,
    },
    /// A target was given without a reroute, or a reroute without a target.
    #[error("a target is given with a reroute, and only with it")]
    TargetMismatch,
    /// The evidence does not show that it took effect.
    #[error("the evidence does not show that the interrupt took hold")]
    EvidenceInsufficient,
    /// Only stops have modes that can be raised.
    #[error("a question has no mode to raise")]
    NotAStop,
    /// The asking has no such number.
    #[error("there is no request {asking}")]
    NoSuchAsking {
        /// Its id.
        asking: AskingId,
    },
    /// The asking was taken back before.
    #[error("{asking} was withdrawn before")]
    AlreadyTakenBack {
        /// Its id.
        asking: AskingId,
    },
    /// The actor who withdraws has asked for nothing, and several others have.
    #[error("it is requested by others: {}", list(.askings))]
    AskedByOthers {
        /// What they ask.
        askings: Vec<AskingId>,
    },
    /// No one asks for the stop any more: its run continues once it has taken effect.
    #[error("all requests for it were withdrawn")]
    NobodyAsks,
    /// Someone still asks for the stop.
    #[error("it is still requested")]
    StillAsked,
    /// A policy ends nothing that a person asks for.
    #[error("a person asks for it, so only a person can end it")]
    AskedByPerson,
    /// Its run was told to carry it out, and it cannot be taken back.
    #[error("this {interrupt_type} was delivered to its run, and can no longer be withdrawn")]
    NotCancelable {
        /// What it does.
        interrupt_type: InterruptType,
    },
    /// Its source has no room for one more asking of the stop.
    #[error("the stop has {most} requests of that source already, and can have no more")]
    TooManyAskings {
        /// How many may.
        most: usize,
    },
    /// The reason is too long.
    #[error("the reason has {given} bytes, and may have {most}")]
    ReasonTooLong {
        /// How long it is.
        given: usize,
        /// How long it may be.
        most: usize,
    },
}

fn list(askings: &[AskingId]) -> String {
    let ids: Vec<String> = askings.iter().map(AskingId::to_string).collect();
    ids.join(", ")
}
