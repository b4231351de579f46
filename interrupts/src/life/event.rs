//! What may happen to an interrupt.

use interrupt_router::{AnswerForm, InterruptId, StopMode};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::asking::NewAsking;
use super::decision::{Choosing, Judge};
use super::interrupt::BoundReroute;
use super::refusal::Refusal;
use super::review::ReviewChange;
use super::table::Trigger;
use crate::digest::Digest;
use crate::names::{ActorName, OwnerName, RouteName};

/// What an actor may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Only looks.
    Observer,
    /// An agent or a program that raises interrupts, and may withdraw its own.
    Requester,
    /// A program that executes runs of one workflow over the network: it raises their interrupts as their agents do.
    Worker,
    /// Answers interrupts.
    Reviewer,
    /// Directs agents: publishes, withdraws, assigns.
    Supervisor,
    /// Runs the installation.
    Operator,
    /// The machinery itself.
    System,
}

/// An actor. The code that lets actors in decides who may use which name.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Actor {
    /// His name.
    pub name: ActorName,
    /// What he may do.
    pub role: Role,
}

impl Actor {
    /// Whether this role may accept a changed catalogue.
    ///
    /// # Errors
    ///
    /// [`Refusal::Role`].
    pub const fn check_may_ask_again(&self) -> Result<(), Refusal> {
        match self.role {
            Role::Supervisor | Role::Operator | Role::System => Ok(()),
            Role::Observer | Role::Requester | Role::Worker | Role::Reviewer => {
                Err(Refusal::Role {
                    role: self.role,
                    event: "ask_again",
                })
            }
        }
    }
}

/// Why a delivery counts as acknowledged.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Evidence {
    /// The nodes of a stop's scope have reached their boundary. Enough for a graceful stop.
    Boundary,
    /// The nodes of a stop's scope have confirmed that they are cancelled. Enough for every stop.
    Cancelled,
    /// The agent's typed request, of a turn whose history holds the message that asked for it.
    Request {
        /// The request, as JSON; it becomes the content of the interrupt.
        content: String,
        /// What an answer is, if the request says so where its content does not.
        form: Option<AnswerForm>,
    },
}

/// Why an interrupt is withdrawn.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(tag = "cause", rename_all = "snake_case")]
pub enum WithdrawCause {
    /// The actor who asked for it, or one above, does not want it any more. For a stop, this takes back what the actor
    /// asks.
    Withdrawn,
    /// One asking of a stop is taken back, by the actor who made it or by one above.
    Asking {
        /// Its number.
        number: u32,
    },
    /// A stop has taken effect, and all its askings were taken back.
    NobodyAsks,
    /// A newer one has taken its place.
    Superseded {
        /// The newer one.
        by: InterruptId,
    },
    /// Its run has ended.
    RunEnded,
    /// Its node has ended.
    NodeEnded,
}

/// What happens to an interrupt.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Event {
    /// A worker takes it.
    Take {
        /// The worker.
        owner: OwnerName,
        /// When its lease ends.
        until: Timestamp,
        /// The worker that is known to be gone, whose lease does not count any more.
        lost: Option<OwnerName>,
    },
    /// Its owner still works at it.
    Renew {
        /// The epoch of the delivery.
        epoch: u64,
        /// When the lease then ends.
        until: Timestamp,
    },
    /// The stop took effect, or the agent said what it asks.
    Acknowledge {
        /// The epoch of the delivery.
        epoch: u64,
        /// What shows that.
        evidence: Evidence,
        /// The reroute that waits for an interrupt of this node.
        pending: Option<BoundReroute>,
    },
    /// A person is needed.
    RequireReview {
        /// The epoch of the delivery.
        epoch: u64,
        /// The digest of what people are shown.
        shown: Digest,
    },
    /// Something happens to its review.
    Review {
        /// Who does it.
        actor: Actor,
        /// The version that he saw.
        version: u64,
        /// What he does.
        change: ReviewChange,
    },
    /// It is decided.
    Decide {
        /// By whom.
        judge: Judge,
        /// How.
        choosing: Choosing,
    },
    /// Its deadline has passed.
    Deadline {
        /// The id that the decision gets.
        id: interrupt_router::DecisionId,
    },
    /// It is withdrawn.
    Withdraw {
        /// By whom.
        actor: Actor,
        /// Why.
        cause: WithdrawCause,
    },
    /// A delivery failed.
    DeliveryFailed {
        /// The epoch of the delivery; `None` if it failed before a worker took it, or the lease ran out.
        epoch: Option<u64>,
        /// What went wrong.
        error: String,
    },
    /// It is tried again.
    Redrive {
        /// By whom.
        actor: Actor,
    },
    /// A graceful stop that is under way has taken too long.
    RaiseMode {
        /// By whom.
        actor: Actor,
        /// The mode that it gets; modes only go up.
        mode: StopMode,
    },
    /// One more request for a stop that is under way.
    Ask {
        /// Who, how and why.
        asking: NewAsking,
    },
    /// It is asked again with the schemas of another catalogue.
    AskAgain {
        /// Who accepted the catalogue.
        actor: Actor,
        /// The catalogue.
        catalogue: Digest,
        /// The routes that this one has.
        routes: Vec<RouteName>,
    },
}

impl Event {
    /// What it triggers; `None` for what changes no state.
    pub const fn trigger(&self) -> Option<Trigger> {
        match self {
            Self::Take { .. } => Some(Trigger::Take),
            Self::Acknowledge { .. } => Some(Trigger::Acknowledge),
            Self::RequireReview { .. } => Some(Trigger::RequireReview),
            Self::Review { .. } => Some(Trigger::Review),
            Self::Decide { .. } => Some(Trigger::Decide),
            Self::Deadline { .. } => Some(Trigger::Deadline),
            Self::Withdraw { .. } => Some(Trigger::Withdraw),
            Self::DeliveryFailed { .. } => Some(Trigger::DeliveryFailed),
            Self::Redrive { .. } => Some(Trigger::Redrive),
            Self::Renew { .. }
            | Self::RaiseMode { .. }
            | Self::Ask { .. }
            | Self::AskAgain { .. } => None,
        }
    }

    /// The name in errors and in the audit.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Take { .. } => "take",
            Self::Renew { .. } => "renew",
            Self::Acknowledge { .. } => "acknowledge",
            Self::RequireReview { .. } => "require_review",
            Self::Review { change, .. } => change.name(),
            Self::Decide { .. } => "decide",
            Self::Deadline { .. } => "deadline",
            Self::Withdraw { .. } => "withdraw",
            Self::DeliveryFailed { .. } => "delivery_failed",
            Self::Redrive { .. } => "redrive",
            Self::RaiseMode { .. } => "raise_mode",
            Self::Ask { .. } => "ask",
            Self::AskAgain { .. } => "ask_again",
        }
    }

    /// Who does it, if an actor does.
    pub const fn actor(&self) -> Option<&Actor> {
        match self {
            Self::Review { actor, .. }
            | Self::Withdraw { actor, .. }
            | Self::Redrive { actor }
            | Self::RaiseMode { actor, .. }
            | Self::AskAgain { actor, .. }
            | Self::Ask {
                asking: NewAsking { by: actor, .. },
            }
            | Self::Decide {
                judge: Judge::Person { actor, .. } | Judge::PolicyLater { actor, .. },
                ..
            } => Some(actor),
            Self::Take { .. }
            | Self::Renew { .. }
            | Self::Acknowledge { .. }
            | Self::RequireReview { .. }
            | Self::Decide { .. }
            | Self::Deadline { .. }
            | Self::DeliveryFailed { .. } => None,
        }
    }
}
