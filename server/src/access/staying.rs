//! Whether those who read on may stay: asked once for all who showed the same.

use std::collections::HashMap;
use std::time::Duration;

use interrupts::Digest;
use interrupts::store::{Store, Tokens};
use tokio::sync::Mutex;
use tokio::time::Instant;

/// Remembers for a moment what the store said of a token. Thousands of readers with one token look up at the same
/// heartbeat; the store is asked by the first of them.
#[derive(Debug, Default)]
pub(crate) struct Staying {
    answers: Mutex<HashMap<Digest, (Instant, bool)>>,
}

impl Staying {
    /// Whether a token still lets somebody in, as the store said it no longer ago than this. Where the store cannot
    /// say, he stays.
    pub(crate) async fn may(&self, store: &dyn Store, token: Digest, fresh: Duration) -> bool {
        let mut answers = self.answers.lock().await;
        if let Some((asked, may)) = answers.get(&token)
            && asked.elapsed() < fresh
        {
            return *may;
        }
        let row = Tokens::use_token(store, token).await;
        let may = row.map_or(true, |row| row.is_some());
        answers.retain(|_token, (asked, _may)| asked.elapsed() < fresh);
        answers.insert(token, (Instant::now(), may));
        may
    }
}
