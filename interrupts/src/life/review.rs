//! The review of an interrupt that waits for a person.

use interrupt_router::InterruptId;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::Verdict;
use crate::digest::Digest;
use crate::names::ActorName;

/// A person's soft lock on a review.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Claim {
    /// Who has it.
    pub by: ActorName,
    /// Until when.
    pub until: Timestamp,
}

/// A person's opinion, which is no decision yet.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Vote {
    /// Whose.
    pub by: ActorName,
    /// What for.
    pub verdict: Verdict,
}

/// What reviewers see and have done.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Review {
    /// The digest of what is shown; the decider names it, so that no one decides about something else.
    pub shown: Digest,
    /// Who shall look at it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub assignee: Option<ActorName>,
    /// Who looks at it now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub claim: Option<Claim>,
    /// The votes, one for each person.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub votes: Vec<Vote>,
}

impl Review {
    /// A review that no one has touched.
    pub const fn of(shown: Digest) -> Self {
        Self {
            shown,
            assignee: None,
            claim: None,
            votes: Vec::new(),
        }
    }

    /// The claim that is valid at a time.
    pub fn claim_at(&self, now: Timestamp) -> Option<&Claim> {
        self.claim.as_ref().filter(|claim| claim.until > now)
    }

    /// Whether a person has claimed it, or shall look at it.
    pub fn concerns(&self, person: &ActorName, now: Timestamp) -> bool {
        let claimed = self.claim_at(now).is_some_and(|claim| claim.by == *person);
        claimed || self.assignee.as_ref() == Some(person)
    }
}

/// What may happen to a review without ending it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum ReviewChange {
    /// Its actor looks at it now.
    Claim {
        /// When the claim ends.
        until: Timestamp,
    },
    /// The claim is given back.
    Release,
    /// A person shall look at it.
    Assign {
        /// Who.
        to: ActorName,
    },
    /// Its actor votes.
    Vote {
        /// What for.
        verdict: Verdict,
    },
    /// A user's interrupt goes first.
    Hold {
        /// That interrupt.
        by: InterruptId,
    },
    /// The user's interrupt ended with an unchanged resume: the question is shown again.
    Unhold {
        /// That interrupt.
        by: InterruptId,
    },
}

impl ReviewChange {
    /// The name in errors and in the audit.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Claim { .. } => "claim",
            Self::Release => "release",
            Self::Assign { .. } => "assign",
            Self::Vote { .. } => "vote",
            Self::Hold { .. } => "hold",
            Self::Unhold { .. } => "unhold",
        }
    }
}
