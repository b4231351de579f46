//! The desk as a program: all that `irq` does, with the desk as one more workflow.
//!
//! ```console
//! $ cargo run -- run '{"order": 17, "wish": "The cup is broken"}'
//! $ cargo run -- resume run_…
//! $ cargo run -- serve
//! ```

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use desk::{Desk, Shop, ShopError};

/// A shop in which an order costs its number in euros.
struct CornerShop;

#[async_trait]
impl Shop for CornerShop {
    async fn cents_of(&self, order: u32) -> Result<u32, ShopError> {
        // It has to look into its books: time enough for Ctrl+C.
        tokio::time::sleep(Duration::from_secs(1)).await;
        order
            .checked_mul(100)
            .ok_or_else(|| ShopError(format!("there is no order {order}")))
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

fn main() -> ExitCode {
    let shop = Arc::new(CornerShop);
    irq::program().workflow(Desk { shop }).main()
}
