//! The bell: wakes another process so that it looks into the store at once instead of at its next poll.

use async_trait::async_trait;

use crate::names::OwnerName;

/// Rings for the owner of a run, and hears its own ring. Only a hint: the work is recorded in the store, so polling
/// makes up for a lost ring, and an extra ring costs one look.
#[async_trait]
pub trait Bell: Send + Sync {
    /// Rings for an owner. Never waits for it.
    ///
    /// # Cancel safety
    ///
    /// If dropped, it may have rung or not.
    async fn ring(&self, owner: &OwnerName);

    /// Waits for a ring. Several rings may be heard as one; one that came before the wait is heard.
    ///
    /// # Cancel safety
    ///
    /// Safe: a ring that was not heard is heard by the next wait.
    async fn heard(&self);
}

/// No bell: a waiting process looks when its poll is due.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoBell;

#[async_trait]
impl Bell for NoBell {
    async fn ring(&self, _owner: &OwnerName) {}

    async fn heard(&self) {
        std::future::pending().await
    }
}
