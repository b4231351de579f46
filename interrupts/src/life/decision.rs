//! Decisions: what was chosen, by whom, and where the run continues.

use interrupt_router::handler::DecidedBy;
use interrupt_router::review::Answer;
use interrupt_router::{DecisionId, RuleId, Verdict};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::event::Actor;
use crate::digest::{Digest, EffectId};
use crate::names::{ActorName, RouteName};

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

impl Decider {
    /// Who decided, as the code that asked reads it. A policy that has asked a reviewing model decides with that
    /// model's confidence.
    pub fn decided_by(&self, confidence: Option<u8>) -> DecidedBy {
        match self {
            Self::Person { .. } => DecidedBy::Person,
            Self::Rule { .. } => DecidedBy::Rule,
            Self::Policy => confidence.map_or(DecidedBy::Policy, |confidence| DecidedBy::Model {
                confidence,
            }),
            Self::Deadline => DecidedBy::Deadline,
        }
    }

    /// Who decided, in a sentence.
    pub fn title(&self) -> &str {
        match self {
            Self::Person { name } => name.as_str(),
            Self::Rule { .. } => "a standing rule",
            Self::Policy => "the policy",
            Self::Deadline => "its deadline",
        }
    }
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
    /// The answer as it counts with the verdict, and how sure a reviewing model was of it, in percent. The input of a
    /// resumed pause is the text.
    ///
    /// # Errors
    ///
    /// If the content is not an answer.
    pub fn answer(&self) -> Result<(Answer, Option<u8>), serde_json::Error> {
        let Some(content) = self.content.as_deref() else {
            return Ok((Answer::default(), None));
        };
        let Value::Object(mut fields) = serde_json::from_str(content)? else {
            return Ok((Answer::default(), None));
        };
        if let Some(input) = fields.remove("input") {
            let answer = Answer {
                text: input.as_str().map(str::to_owned),
                ..Answer::default()
            };
            return Ok((answer, None));
        }
        let confidence = fields.remove("confidence");
        let confidence = confidence.and_then(|value| u8::try_from(value.as_u64()?).ok());
        let answer: Answer = serde_json::from_value(fields.into())?;
        Ok((answer.kept_with(self.verdict), confidence))
    }

    /// The digest of the whole decision, as its JSON is in the interrupt's row.
    pub fn digest(&self) -> Digest {
        // A struct of texts and numbers always serializes.
        Digest::of(&serde_json::to_vec(self).unwrap_or_default())
    }
}
