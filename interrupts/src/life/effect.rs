//! What a transition causes, as values. A store performs them in the transaction that records the transition.

use interrupt_router::{DecisionId, EventId, InterruptId};
use serde::{Deserialize, Serialize};

use super::asking::Asking;
use super::event::Actor;
use super::review::Claim;
use super::state::State;
use crate::digest::{Digest, EffectId};
use crate::names::{OwnerName, RouteName};

/// What listeners are told; the row of the outbox says of which interrupt.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(tag = "notice", rename_all = "snake_case")]
pub enum Notice {
    /// It was accepted.
    Admitted,
    /// A worker has it.
    Delivered,
    /// It took effect.
    Acknowledged,
    /// It waits for a person.
    ReviewOpened,
    /// Its review changed.
    ReviewChanged {
        /// How. Rows of older versions of the program do not say.
        #[serde(default, skip_serializing_if = "ReviewStep::is_unnamed")]
        step: ReviewStep,
    },
    /// A harder stop was asked for.
    ModeRaised,
    /// One more actor asks for the stop, or one asks for it harder than before.
    Asked {
        /// What is asked.
        asking: Box<Asking>,
    },
    /// An actor no longer asks for the stop.
    TakenBack {
        /// The numbers of what was taken back.
        askings: Vec<u32>,
        /// By whom.
        by: Actor,
    },
    /// It ended by a decision, which is to be dispatched.
    Dispatch {
        /// Names the dispatch, so that the target can tell a repetition.
        effect: EffectId,
        /// Where to.
        target: RouteName,
        /// The decision.
        decision: DecisionId,
    },
    /// It ended without a decision.
    Ended,
    /// It could not be delivered, an operator is needed.
    DeadLettered,
    /// An operator lets it be tried again.
    Redriven,
}

/// How a review changed, as far as that has a name of its own.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(tag = "change", rename_all = "snake_case")]
pub enum ReviewStep {
    /// A person looks at it now.
    Claimed(Claim),
    /// The claim was given back.
    Released,
    /// Another interrupt goes first.
    Held {
        /// That interrupt.
        by: InterruptId,
    },
    /// Anything else.
    #[default]
    #[serde(other)]
    Unnamed,
}

impl ReviewStep {
    fn is_unnamed(&self) -> bool {
        *self == Self::Unnamed
    }
}

/// What the audit keeps of one step.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Audited {
    /// What happened.
    pub event: String,
    /// The row of the table; `None` if the state did not change.
    pub row: Option<u8>,
    /// The state before; `None` for an admission.
    pub from: Option<State>,
    /// The state after.
    pub to: State,
    /// The version after.
    pub version: u64,
    /// The epoch after.
    pub epoch: u64,
    /// Who did it, if an actor did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub actor: Option<Actor>,
    /// In words: a reason, a cause, an error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// For a decision: the digest of the question as it was shown, if it was shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shown: Option<Digest>,
    /// For a decision: the digest of the whole of it, as the interrupt's row has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<Digest>,
}

/// What a store does with a step, beside writing the interrupt.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Effect {
    /// A row of the audit.
    Audit(Audited),
    /// A row of the outbox.
    Tell(Notice),
    /// A delivery begins: a new epoch fences off the old ones.
    NewEpoch {
        /// The epoch.
        epoch: u64,
        /// Its owner.
        owner: OwnerName,
    },
    /// A reroute waits for the node's interrupt.
    StoreReroute {
        /// Its event.
        event: EventId,
        /// Where it leads.
        target: RouteName,
    },
    /// The pending reroute belongs to this interrupt now.
    BindReroute {
        /// Its event.
        event: EventId,
    },
    /// The bound reroute has been used.
    ConsumeReroute {
        /// Its event.
        event: EventId,
        /// The decision that used it.
        decision: DecisionId,
    },
    /// The bound reroute waits again.
    ReleaseReroute {
        /// Its event.
        event: EventId,
    },
    /// A person chose another target: a reroute of its own, stored, bound and consumed at once.
    ChooseReroute {
        /// Where it leads.
        target: RouteName,
        /// The decision.
        decision: DecisionId,
    },
    /// A review item.
    OpenReview {
        /// The digest of what is shown.
        shown: Digest,
    },
    /// The decision is to be carried out: an intent in the journal, and a row of the outbox.
    Dispatch {
        /// Names it.
        effect: EffectId,
        /// Where to.
        target: RouteName,
        /// The decision.
        decision: DecisionId,
    },
    /// An operator must look.
    Alert {
        /// What went wrong last.
        error: String,
    },
}
