//! Tells a sink that an answer starts again, and remembers what was said of it.

use std::sync::{Arc, Mutex, PoisonError};

use routing_core::model::ChunkSink;

/// Tells the caller's sink that an answer starts again, once something of the new one arrives.
///
/// Until then the old pieces stand, so an interrupt in between keeps them.
pub(super) struct RestartingSink {
    inner: Option<Arc<dyn ChunkSink>>,
    said: Mutex<Said>,
}

#[derive(Default)]
struct Said {
    text: String,
    restarts: bool,
}

impl RestartingSink {
    pub(super) fn around(inner: Option<Arc<dyn ChunkSink>>) -> Arc<Self> {
        Arc::new(Self {
            inner,
            said: Mutex::default(),
        })
    }

    /// The next piece begins a new answer.
    pub(super) fn restart(&self) {
        self.change(|said| said.restarts = !said.text.is_empty());
    }

    /// The pieces that stand.
    pub(super) fn said(&self) -> String {
        self.change(|said| said.text.clone())
    }

    fn change<T>(&self, change: impl FnOnce(&mut Said) -> T) -> T {
        change(&mut self.said.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl ChunkSink for RestartingSink {
    fn chunk(&self, text: &str) {
        let restarts = self.change(|said| {
            let restarts = std::mem::take(&mut said.restarts);
            if restarts {
                said.text.clear();
            }
            said.text.push_str(text);
            restarts
        });
        if let Some(inner) = &self.inner {
            if restarts {
                inner.restarted();
            }
            inner.chunk(text);
        }
    }

    fn restarted(&self) {
        self.change(|said| {
            said.text.clear();
            said.restarts = false;
        });
        if let Some(inner) = &self.inner {
            inner.restarted();
        }
    }
}
