//! Decisions: what was chosen, by whom, and where the run continues.

use jiff::Timestamp;
use routing_core::{DecisionId, InterruptId, RuleId};
use serde::{Deserialize, Serialize};

use super::event::Actor;
use crate::digest::{Digest, EffectId};
use crate::names::{ActorName, RouteName};

/// What was decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Go on as asked.
    Approve,
    /// Go on with what the person changed.
    Edit,
    /// Do not go on as asked.
    Reject,
    /// An answer in words or choices.
    Respond,
    /// No answer; go on without one.
    Ignore,
    /// Go on somewhere else.
    Reroute,
    /// Change the plan.
    ModifyPlan,
    /// Cancel it, without side effects.
    Cancel,
    /// Go on after a pause.
    Resume,
    /// A stop was carried out. Only a policy says so.
    Applied,
}

impl Verdict {
    /// All of them.
    pub const ALL: [Self; 10] = [
        Self::Approve,
        Self::Edit,
        Self::Reject,
        Self::Respond,
        Self::Ignore,
        Self::Reroute,
        Self::ModifyPlan,
        Self::Cancel,
        Self::Resume,
        Self::Applied,
    ];

    /// The name on the wire.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Approve => "approve",
            Self::Edit => "edit",
            Self::Reject => "reject",
            Self::Respond => "respond",
            Self::Ignore => "ignore",
            Self::Reroute => "reroute",
            Self::ModifyPlan => "modify_plan",
            Self::Cancel => "cancel",
            Self::Resume => "resume",
            Self::Applied => "applied",
        }
    }
}

/// What happens to an interrupt that no one answered in time. It cannot be approved here.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum ExpiryOutcome {
    /// It counts as rejected.
    Reject,
    /// It is cancelled.
    Cancel,
    /// It goes to another target, one of the run's routes.
    Reroute {
        /// Where.
        target: RouteName,
    },
}

impl ExpiryOutcome {
    /// The verdict that the decision then carries.
    pub const fn verdict(&self) -> Verdict {
        match self {
            Self::Reject => Verdict::Reject,
            Self::Cancel => Verdict::Cancel,
            Self::Reroute { .. } => Verdict::Reroute,
        }
    }
}

/// Who decided.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(tag = "decider", rename_all = "snake_case")]
pub enum Decider {
    /// A person.
    Person {
        /// Who.
        name: ActorName,
    },
    /// A rule, or a reviewing model that the policy trusts.
    Policy,
    /// A standing rule: an earlier decision of a person about the same question.
    Rule {
        /// Which one.
        rule: RuleId,
        /// Who made it.
        name: ActorName,
    },
    /// No one answered in time.
    Deadline,
}

/// A proposed decision.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Choosing {
    /// The decision's id, made by the decider; repeated with it, the decision is the same one.
    pub id: DecisionId,
    /// What is decided.
    pub verdict: Verdict,
    /// Where to go instead; given if and only if the verdict is to reroute.
    pub target: Option<RouteName>,
    /// The answer, as JSON.
    pub content: Option<String>,
}

/// Who wants to decide, and what they know of the interrupt.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Judge {
    /// The run's owner, by its policy.
    Policy {
        /// The epoch of its delivery.
        epoch: u64,
    },
    /// A standing rule, for the run's owner.
    Rule {
        /// The epoch of its delivery.
        epoch: u64,
        /// Which one.
        rule: RuleId,
        /// Who made it.
        name: ActorName,
    },
    /// The one who decided the same question in the run that this one was forked from, if that was not carried out
    /// there.
    HandedOn {
        /// The epoch of the delivery to the run's owner.
        epoch: u64,
        /// The question that was decided there.
        from: InterruptId,
        /// Who decided it.
        by: Decider,
    },
    /// A person.
    Person {
        /// Who.
        actor: Actor,
        /// The version that was shown.
        version: u64,
        /// The digest of what was shown.
        shown: Digest,
    },
    /// A policy, for an interrupt that already waits for a person. It ends no stop that a person asks for.
    PolicyLater {
        /// In whose name.
        actor: Actor,
        /// The version that was seen.
        version: u64,
        /// The digest of what people are shown.
        shown: Digest,
    },
}

/// The one decision of an interrupt. It never changes.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Decision {
    /// Its id.
    pub id: DecisionId,
    /// The interrupt's version that it made.
    pub version: u64,
    /// What was decided.
    pub verdict: Verdict,
    /// Where the run continues.
    pub target: RouteName,
    /// Who decided.
    pub by: Decider,
    /// When, by the store's clock.
    pub at: Timestamp,
    /// The id of its dispatch.
    pub effect: EffectId,
    /// The answer, as JSON.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
}

impl Decision {
    /// The digest of the whole decision, as its JSON is in the interrupt's row.
    pub fn digest(&self) -> Digest {
        // A struct of texts and numbers always serializes.
        Digest::of(&serde_json::to_vec(self).unwrap_or_default())
    }
}
