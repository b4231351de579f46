//! Stays: the streams and sockets of a caller end when the token that opened them is no longer valid.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use interrupts::Digest;
use interrupts::store::{Store, Tokens};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

/// How often the store is asked about each token that keeps something open: other processes revoke tokens too.
const EVERY: Duration = Duration::from_secs(1);

/// The tokens that keep streams and sockets open. Thousands of readers may share one token; the store is asked once for
/// all of them.
#[derive(Debug, Default)]
pub(crate) struct SessionExpiry {
    stays: Mutex<HashMap<Digest, Weak<Stay>>>,
    notified: Notify,
}

/// What one token keeps open.
#[derive(Debug, Default)]
pub(crate) struct Stay {
    over: CancellationToken,
}

impl Stay {
    /// Waits until the token is no longer valid.
    ///
    /// Cancel safe: it only waits.
    pub(crate) async fn is_over(&self) {
        self.over.cancelled().await;
    }
}

impl SessionExpiry {
    /// Begins a stay by a token, which lasts as long as the caller keeps what this returns.
    pub(crate) fn begin(&self, token: Digest) -> Arc<Stay> {
        let mut stays = self.lock();
        if let Some(stay) = stays.get(&token).and_then(Weak::upgrade) {
            return stay;
        }
        let stay = Arc::new(Stay::default());
        stays.insert(token, Arc::downgrade(&stay));
        stay
    }

    /// Checks the tokens now: one may have been revoked.
    pub(crate) fn look(&self) {
        self.notified.notify_one();
    }

    /// Ends the stays of tokens that are no longer valid, until `stop` is cancelled. If the store cannot say, they stay.
    pub(crate) async fn watch(&self, store: &dyn Store, stop: CancellationToken) {
        loop {
            for (token, stay) in self.open_tokens() {
                if matches!(Tokens::use_token(store, token).await, Ok(None)) {
                    stay.over.cancel();
                }
            }
            tokio::select! {
                () = stop.cancelled() => return,
                () = self.notified.notified() => {}
                () = tokio::time::sleep(EVERY) => {}
            }
        }
    }

    /// The tokens that keep something open.
    fn open_tokens(&self) -> Vec<(Digest, Arc<Stay>)> {
        let mut open_tokens = Vec::new();
        self.lock().retain(|token, stay| {
            let stay = stay.upgrade().filter(|stay| !stay.over.is_cancelled());
            stay.map(|stay| open_tokens.push((*token, stay))).is_some()
        });
        open_tokens
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Digest, Weak<Stay>>> {
        // Every change is one insertion or removal, so a panic elsewhere leaves the map consistent.
        self.stays.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
