//! Why a decision does not become a rule.

use crate::life::{Role, Verdict};

/// Why a decision does not become a rule, or no rule may answer an interrupt.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RuleRefusal {
    /// It stops; only questions are answered by rules.
    #[error("it is no question: a stop is never answered by a rule")]
    NotAQuestion,
    /// A person or the system asked for it, so a person sees it each time.
    #[error("no agent asked it by itself, so a person sees it each time")]
    NotAskedByAgent,
    /// A supervisor's reroute belongs to it, or a person's interrupt holds it.
    #[error("a supervisor or a person waits for its answer, so a person gives it")]
    Directed,
    /// It is about one moment, which never comes again.
    #[error(
        "it is about this one moment, and never asked again, so a person sees each such question"
    )]
    Once,
    /// No one was shown it.
    #[error("it was not shown to anyone yet, so there is nothing to bind a rule to")]
    NotShown,
    /// What was shown is not what the interrupt asks.
    #[error("what was shown is not what the interrupt asks")]
    ShownDiffers,
    /// Such a decision is for one question alone.
    #[error("a decision to {} holds for one question alone", .verdict.name())]
    Verdict {
        /// The verdict.
        verdict: Verdict,
    },
    /// The interrupt does not allow the verdict, or the target is none of its routes.
    #[error("the interrupt does not allow that decision")]
    NotAllowed,
    /// The role does not suffice.
    #[error("a {role:?} may not make a rule that reaches so far")]
    Role {
        /// The role.
        role: Role,
    },
    /// It would last too short or too long.
    #[error("a rule holds for 1 s to {longest_s} s")]
    Lifetime {
        /// The longest, in seconds.
        longest_s: i64,
    },
    /// It could be used never or too often.
    #[error("a rule is used 1 to {most} times")]
    Uses {
        /// The most uses.
        most: u32,
    },
}
