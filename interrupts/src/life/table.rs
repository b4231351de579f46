//! The table of legal transitions. Nothing else says what may follow what.

use super::state::State;

/// One legal transition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Transition {
    /// The row of the contract that it belongs to: 2 to 13. One row may allow several pairs.
    pub row: u8,
    /// The state before.
    pub from: State,
    /// The state after.
    pub to: State,
    /// What causes it.
    pub trigger: Trigger,
    /// The condition for it.
    pub guard: &'static str,
    /// What happens in the same transaction, beside the audit row that every transition has.
    pub effects: &'static str,
}

/// What causes a transition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Trigger {
    /// The run's owner takes it, for the first time or again.
    Take,
    /// The stop took effect, or the agent said what it asks.
    Acknowledge,
    /// Its type, kind or policy needs a person.
    RequireReview,
    /// A policy or a person decides.
    Decide,
    /// Claim, assign, vote, hold or release.
    Review,
    /// The deadline has passed.
    Deadline,
    /// The requester, a supervisor or the end of its run or node.
    Withdraw,
    /// A delivery failed, and it was the last one allowed.
    DeliveryFailed,
    /// An operator tries again.
    Redrive,
}

impl Trigger {
    /// What the diagram says.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Take => "take",
            Self::Acknowledge => "acknowledge",
            Self::RequireReview => "require review",
            Self::Decide => "decide",
            Self::Review => "claim, assign, vote, hold, release",
            Self::Deadline => "deadline",
            Self::Withdraw => "withdraw",
            Self::DeliveryFailed => "delivery failed",
            Self::Redrive => "redrive",
        }
    }
}

/// How an interrupt comes into being: the first row of the contract, which starts from nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Admitting {
    /// What causes it.
    pub trigger: &'static str,
    /// The condition for it.
    pub guard: &'static str,
    /// What happens in the same transaction.
    pub effects: &'static str,
}

const TAKE: &str = "lease free, expired, or its owner lost";
const TAKEN: &str = "attempt counted, lease, new epoch";
const DECIDED: &str = "epoch current; verdict allowed; target in the run's route set";
const DISPATCHED: &str = "decision, bound reroute consumed, dispatch told";
const JUDGED: &str =
    "may decide; not held; version, digest and deadline match; target in the route set";
const ENDED: &str = "bound reroute pending again, publisher told";
const EXPIRED: &str =
    "decision with the policy's outcome, its dispatch, bound reroute pending again";
const LAST: &str = "role; of a stop with its last asking, of STOP and PRUNE before it is delivered";
const UNTOLD: &str = "role; of a stop only the end of its run or node, or a newer stop";
const DUE: &str = "deadline passed by the store's clock; the outcome is never approve";

impl Transition {
    /// How an interrupt begins.
    pub const ADMITTING: Admitting = Admitting {
        trigger: "admit",
        guard: "key unseen; sizes and routes fit; the run is not final",
        effects: "interrupt, mode, deadline, notice of admission, pending reroute where it names a target",
    };

    /// The 23 legal transitions, in the order of the contract. Each pair of states appears once.
    #[rustfmt::skip]
    pub const LEGAL: [Self; 23] = [
        row(2, State::Requested, State::Delivered, Trigger::Take, TAKE, TAKEN),
        row(3, State::Delivered, State::Delivered, Trigger::Take, TAKE, TAKEN),
        row(4, State::Delivered, State::Acknowledged, Trigger::Acknowledge, "epoch current; the evidence fits the family", "pending reroute bound"),
        row(5, State::Acknowledged, State::Acknowledged, Trigger::Take, TAKE, "lease, new epoch; the agent is not asked again"),
        row(6, State::Acknowledged, State::AwaitingReview, Trigger::RequireReview, "epoch current", "review opened, reviewers told"),
        row(7, State::Acknowledged, State::Resolved, Trigger::Decide, DECIDED, DISPATCHED),
        row(7, State::Acknowledged, State::Rerouted, Trigger::Decide, DECIDED, DISPATCHED),
        row(8, State::AwaitingReview, State::AwaitingReview, Trigger::Review, "role; version matches", "new version"),
        row(9, State::AwaitingReview, State::Resolved, Trigger::Decide, JUDGED, DISPATCHED),
        row(9, State::AwaitingReview, State::Rerouted, Trigger::Decide, JUDGED, DISPATCHED),
        row(10, State::Requested, State::Expired, Trigger::Deadline, DUE, EXPIRED),
        row(10, State::Delivered, State::Expired, Trigger::Deadline, DUE, EXPIRED),
        row(10, State::Acknowledged, State::Expired, Trigger::Deadline, DUE, EXPIRED),
        row(10, State::AwaitingReview, State::Expired, Trigger::Deadline, DUE, EXPIRED),
        row(11, State::Requested, State::Cancelled, Trigger::Withdraw, LAST, ENDED),
        row(11, State::Delivered, State::Cancelled, Trigger::Withdraw, UNTOLD, ENDED),
        row(11, State::Acknowledged, State::Cancelled, Trigger::Withdraw, LAST, ENDED),
        row(11, State::AwaitingReview, State::Cancelled, Trigger::Withdraw, LAST, ENDED),
        row(12, State::Requested, State::DeadLettered, Trigger::DeliveryFailed, "attempts spent", "last error, alert"),
        row(12, State::Delivered, State::DeadLettered, Trigger::DeliveryFailed, "attempts spent; epoch current or lease expired", "last error, alert"),
        row(12, State::Acknowledged, State::DeadLettered, Trigger::DeliveryFailed, "attempts spent; epoch current or lease expired", "last error, alert"),
        row(13, State::DeadLettered, State::Requested, Trigger::Redrive, "an operator", "attempts counted anew, notice"),
        row(13, State::DeadLettered, State::Cancelled, Trigger::Withdraw, "an operator", ENDED),
    ];

    /// The transition between two states, or `None` if there is none.
    pub fn between(from: State, to: State) -> Option<&'static Self> {
        Self::LEGAL
            .iter()
            .find(|transition| transition.from == from && transition.to == to)
    }

    /// What a trigger may lead to from a state.
    pub fn caused(from: State, trigger: Trigger) -> impl Iterator<Item = &'static Self> {
        Self::from(from).filter(move |transition| transition.trigger == trigger)
    }

    /// What may follow a state.
    pub fn from(state: State) -> impl Iterator<Item = &'static Self> {
        Self::LEGAL
            .iter()
            .filter(move |transition| transition.from == state)
    }
}

const fn row(
    row: u8,
    from: State,
    to: State,
    trigger: Trigger,
    guard: &'static str,
    effects: &'static str,
) -> Transition {
    Transition {
        row,
        from,
        to,
        trigger,
        guard,
        effects,
    }
}
