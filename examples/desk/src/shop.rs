//! The shop behind the desk: another system, which knows nothing of runs.

use async_trait::async_trait;

/// What the desk wants of the shop.
#[async_trait]
pub trait Shop: Send + Sync {
    /// What an order has cost.
    async fn cents_of(&self, order: u32) -> Result<u32, ShopError>;

    /// Whether an order was paid back before, by whomever.
    async fn is_paid_back(&self, order: u32) -> Result<bool, ShopError>;

    /// Pays an order back. The same key again is the same payment: it is made once.
    async fn pay_back(&self, key: String, order: u32, cents: u32) -> Result<String, ShopError>;
}

/// The shop does not answer, or not as it should.
#[derive(Debug)]
pub struct ShopError(pub String);

impl std::fmt::Display for ShopError {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "the shop: {}", self.0)
    }
}

impl std::error::Error for ShopError {}
