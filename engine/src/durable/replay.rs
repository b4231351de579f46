//! Whether the running task is still replaying what the run has done before.

use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError};

use jiff::Timestamp;

tokio::task_local! {
    static CURRENT: Replay;
}

/// Whether a flow repeats what was recorded, and when that happened.
#[derive(Debug, Clone, Default)]
pub struct Replay(Arc<Mutex<Option<Timestamp>>>);

impl Replay {
    /// A flow that begins with what was recorded at this time, or live.
    pub fn since(recorded: Option<Timestamp>) -> Self {
        Self(Arc::new(Mutex::new(recorded)))
    }

    /// The recorded time; `None` if the flow is live.
    pub fn recorded(&self) -> Option<Timestamp> {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn set(&self, recorded: Option<Timestamp>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = recorded;
    }

    /// Runs a flow in it.
    pub async fn around<F: Future>(self, flow: F) -> F::Output {
        CURRENT.scope(self, flow).await
    }
}

/// When the running task's flow last read something recorded; `None` if it is live, or is no flow.
pub fn recorded() -> Option<Timestamp> {
    CURRENT.try_with(Replay::recorded).ok().flatten()
}

/// The running task's flow has read something that was recorded at this time.
pub fn read(at: Timestamp) {
    // Without a flow there is nothing to note.
    let _no_flow = CURRENT.try_with(|replay| replay.set(Some(at)));
}

/// The running task's flow goes live: it does what was not done before.
pub fn go_live() {
    let _no_flow = CURRENT.try_with(|replay| replay.set(None));
}
