//! Standing rules: a person's decision that also applies when the same question is asked again.
//!
//! A rule is made of one interrupt that a person was shown, and answers only the same question: the same kind of agent,
//! the same type of question, the same words, choices, confirmations and context, the same origin, routes and allowed
//! decisions ([`matter_of`] is the digest of all of it). Beside that it reaches no further than it says, ends by itself
//! by time and by uses, and can be revoked at any moment.
//!
//! What a rule never answers: a stop, a question that a person or the system asked for, one that a supervisor's
//! reroute waits for, and one that is held because a person interrupted the run.

mod fingerprint;
mod refusal;
mod remember;
mod rule;

pub use fingerprint::matter_of;
pub use refusal::RuleRefusal;
pub use remember::{LONGEST_RULE, MOST_USES, Reach, Remember};
pub use rule::{RuleEnd, RuleEnding, RuleOrigin, RuleScope, StandingRule};
