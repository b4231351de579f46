//! Standing rules as a store keeps them.

use async_trait::async_trait;
use interrupt_router::{InterruptId, RuleId};

use super::error::{ChangeError, StoreError};
use super::interrupt::Page;
use super::question::Deciders;
use crate::digest::Digest;
use crate::life::{Actor, Choosing, Interrupt};
use crate::rules::{Remember, RuleRefusal, StandingRule};

/// A rule that a person makes of an interrupt without deciding that one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewRule {
    /// The interrupt that he was shown.
    pub interrupt: InterruptId,
    /// The digest of what he was shown.
    pub shown: Digest,
    /// What is decided. The id of the choosing is not used.
    pub choosing: Choosing,
    /// For how long, how often, how far.
    pub remember: Remember,
    /// Who makes it.
    pub by: Actor,
}

/// Why a rule was not made or not changed. Nothing was recorded.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RuleError {
    /// There is no such interrupt.
    #[error("there is no interrupt {interrupt}")]
    UnknownInterrupt {
        /// The id.
        interrupt: InterruptId,
    },
    /// There is no such rule.
    #[error("there is no rule {rule}")]
    Unknown {
        /// The id.
        rule: RuleId,
    },
    /// The id belongs to another rule.
    #[error("{rule} is another rule already")]
    Taken {
        /// The id.
        rule: RuleId,
    },
    /// A demand is not met.
    #[error(transparent)]
    Refused(#[from] RuleRefusal),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Keeps standing rules.
#[async_trait]
pub trait StandingRules: Send + Sync {
    /// Makes a rule of an interrupt that a person was shown. The same rule under the same id gives the stored one.
    ///
    /// # Errors
    ///
    /// [`RuleError`]; refused if a person must see such an interrupt each time.
    ///
    /// # Cancel safety
    ///
    /// Safe to repeat with the same id.
    async fn put_rule(&self, new: NewRule) -> Result<StandingRule, RuleError>;

    /// Asks those who may decide an acknowledged interrupt. A rule's use is counted in the transaction of the decision, so
    /// that a rule is never used more often than it says, however many interrupts are raised at once. The interrupt as it
    /// is then: unchanged, if it is not acknowledged or none of the deciders decides it.
    ///
    /// # Errors
    ///
    /// [`ChangeError`]; refused if a newer epoch has begun and people are to be asked.
    ///
    /// # Cancel safety
    ///
    /// If dropped, it was decided or not: read the interrupt to see. Safe to repeat.
    async fn consult(
        &self,
        interrupt: InterruptId,
        epoch: u64,
        deciders: Deciders,
    ) -> Result<Interrupt, ChangeError>;

    /// Ends a rule. What it decided stays decided. One that has ended already stays as it is. The actor who made it may
    /// revoke it, and so may every supervisor and operator.
    ///
    /// # Errors
    ///
    /// [`RuleError`].
    ///
    /// # Cancel safety
    ///
    /// Safe to repeat.
    async fn revoke_rule(&self, rule: RuleId, by: Actor) -> Result<StandingRule, RuleError>;

    /// Ends the rules whose time is over, at most so many. An expired rule is not used even before it is ended here: it
    /// is judged by the store's clock when it is used. Returns the ended ones.
    ///
    /// # Errors
    ///
    /// [`StoreError`]. What was ended before the error stays so.
    ///
    /// # Cancel safety
    ///
    /// Safe to repeat.
    async fn expire_rules(&self, limit: u32) -> Result<Vec<RuleId>, StoreError>;

    /// A rule.
    ///
    /// # Errors
    ///
    /// [`StoreError`].
    ///
    /// # Cancel safety
    ///
    /// Safe: it only reads.
    async fn rule(&self, rule: RuleId) -> Result<Option<StandingRule>, StoreError>;

    /// Rules in the order in which they were made, each with its position, which begins the next page.
    ///
    /// # Errors
    ///
    /// [`StoreError`].
    ///
    /// # Cancel safety
    ///
    /// Safe: it only reads.
    async fn rules(&self, page: Page) -> Result<Vec<(u64, StandingRule)>, StoreError>;
}
