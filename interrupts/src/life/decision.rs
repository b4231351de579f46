//! Decisions: what was chosen, by whom, and where the run goes on.

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
    /// Give the matter up, without side effects.
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

/// What happens to an interrupt that nobody answered in time. There is no way to approve here.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum ExpiryOutcome {
    /// It counts as rejected.
    Reject,
    /// The matter is given up.
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
    /// Nobody answered in time.
    Deadline,
}

/// What somebody wants to be the decision.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Choosing {
    /// The decision's id, made by whoever decides; repeated with it, the decision is the same one.
    pub id: DecisionId,
    /// What is decided.
    pub verdict: Verdict,
    /// Where to go instead; given exactly where the verdict is to reroute.
    pub target: Option<RouteName>,
    /// The answer, as JSON.
    pub content: Option<String>,
}

/// Who wants to decide, and what he knows of the interrupt.
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
    /// Whoever decided the same question in the run that this one was forked off, where nobody had carried that out.
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
    /// A policy, of what waits for a person already. It ends no stop that a person asks for.
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
    /// Where the run goes on.
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
    /// The digest of the whole decision, as its JSON stands in the interrupt's row.
    pub fn digest(&self) -> Digest {
        // A struct of texts and numbers always serializes.
        Digest::of(&serde_json::to_vec(self).unwrap_or_default())
    }
}
