//! Wakes another process so that it looks into the store at once instead of at its next poll.

use async_trait::async_trait;

use crate::names::OwnerName;

/// Notifies the owner of a run, and hears when others notify this process. Only a hint: the work is in the store, so polling
/// makes up for a lost notification, and an extra one costs one look.
#[async_trait]
pub trait Notifier: Send + Sync {
    /// Rings for an owner. Never waits for it.
    ///
    /// # Cancel safety
    ///
    /// If dropped, it may have notified or not.
    async fn notify(&self, owner: &OwnerName);

    /// Waits for a notification. Several may be heard as one; one that came before the wait is heard.
    ///
    /// # Cancel safety
    ///
    /// Safe: a notification that was not heard is heard by the next wait.
    async fn heard(&self);
}

/// No notifier: a waiting process looks when its poll is due.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoNotifier;

#[async_trait]
impl Notifier for NoNotifier {
    async fn notify(&self, _owner: &OwnerName) {}

    async fn heard(&self) {
        std::future::pending().await
    }
}
