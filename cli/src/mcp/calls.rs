//! The calls that run, and which of them their client has cancelled.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use rmcp::model::RequestId;
use tokio_util::sync::CancellationToken;

/// The calls of one client that run.
#[derive(Default)]
pub(super) struct Calls(Mutex<HashMap<RequestId, CancellationToken>>);

/// A call that runs; it has ended when this is dropped.
pub(super) struct Call<'c> {
    calls: &'c Calls,
    id: RequestId,
    /// Cancelled once the client has cancelled the call. The end of a connection cancels nothing.
    pub(super) cancelled: CancellationToken,
}

impl Calls {
    /// A call begins.
    pub(super) fn begin(&self, id: RequestId) -> Call<'_> {
        let cancelled = CancellationToken::new();
        self.running().insert(id.clone(), cancelled.clone());
        let calls = self;
        Call {
            calls,
            id,
            cancelled,
        }
    }

    /// The client has cancelled a call. One that has ended is not there any more.
    pub(super) fn cancel(&self, id: &RequestId) {
        if let Some(cancelled) = self.running().get(id) {
            cancelled.cancel();
        }
    }

    fn running(&self) -> std::sync::MutexGuard<'_, HashMap<RequestId, CancellationToken>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Call<'_> {
    fn drop(&mut self) {
        self.calls.running().remove(&self.id);
    }
}
