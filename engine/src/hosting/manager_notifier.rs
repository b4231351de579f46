//! Notifies whenever the manager has seen a change.

use async_trait::async_trait;
use interrupts::{Notifier, OwnerName};
use tokio::sync::{Mutex, watch};

/// Heard whenever something may have changed in the store. Notifying does nothing.
pub struct ManagerNotifier {
    pulse: Mutex<watch::Receiver<u64>>,
}

impl ManagerNotifier {
    /// Heard with each change of this.
    pub fn new(pulse: watch::Receiver<u64>) -> Self {
        Self {
            pulse: Mutex::new(pulse),
        }
    }
}

#[async_trait]
impl Notifier for ManagerNotifier {
    async fn notify(&self, _owner: &OwnerName) {}

    async fn heard(&self) {
        if self.pulse.lock().await.changed().await.is_err() {
            // The manager has ended: there will be no more news.
            std::future::pending::<()>().await;
        }
    }
}
