//! The shop behind the desk: another system, which knows nothing of runs.

use std::time::Duration;

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
#[derive(Debug, thiserror::Error)]
#[error("the shop: {0}")]
pub struct ShopError(pub String);

/// A shop in which an order costs its number in euros.
pub struct CornerShop;

#[async_trait]
impl Shop for CornerShop {
    async fn cents_of(&self, order: u32) -> Result<u32, ShopError> {
        // It has to look into its books: time enough for Ctrl+C.
        tokio::time::sleep(Duration::from_secs(1)).await;
        let no_such = || ShopError(format!("there is no order {order}"));
        order.checked_mul(100).ok_or_else(no_such)
    }

    async fn is_paid_back(&self, _order: u32) -> Result<bool, ShopError> {
        // The bank has to look into its books, too: time enough for a supervisor.
        tokio::time::sleep(Duration::from_secs(1)).await;
        Ok(false)
    }

    async fn pay_back(&self, key: String, order: u32, cents: u32) -> Result<String, ShopError> {
        eprintln!("  the bank pays {cents} cents for order {order} ({key})");
        Ok(format!("paid back {cents} cents for order {order}"))
    }
}
