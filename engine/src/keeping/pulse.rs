//! The manager's pulse as a bell.

use async_trait::async_trait;
use interrupts::{Bell, OwnerName};
use tokio::sync::{Mutex, watch};

/// Heard whenever something may have changed in the store. Ringing it does nothing.
pub struct PulseBell {
    pulse: Mutex<watch::Receiver<u64>>,
}

impl PulseBell {
    /// Heard with each change of this.
    pub fn new(pulse: watch::Receiver<u64>) -> Self {
        Self {
            pulse: Mutex::new(pulse),
        }
    }
}

#[async_trait]
impl Bell for PulseBell {
    async fn ring(&self, _owner: &OwnerName) {}

    async fn heard(&self) {
        if self.pulse.lock().await.changed().await.is_err() {
            // The manager has ended: there will be no more news.
            std::future::pending::<()>().await;
        }
    }
}
