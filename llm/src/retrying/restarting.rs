//! Tells a sink that an answer starts again, and remembers what was said of it.

use std::sync::{Arc, Mutex, PoisonError};

use interrupt_router::Outcome;
use interrupt_router::model::{CallNote, ChunkSink, ModelReply, PartialReply};

/// Tells the caller's sink that an answer starts again, once something of the new one arrives.
///
/// Until then the old pieces count, so an interrupt in between keeps them.
pub(crate) struct RestartingSink {
    inner: Option<Arc<dyn ChunkSink>>,
    said: Mutex<StreamedText>,
}

#[derive(Default)]
struct StreamedText {
    text: String,
    restarts: bool,
}

impl RestartingSink {
    pub(crate) fn around(inner: Option<Arc<dyn ChunkSink>>) -> Arc<Self> {
        Arc::new(Self {
            inner,
            said: Mutex::default(),
        })
    }

    /// The next piece begins a new answer.
    pub(crate) fn restart(&self) {
        self.change(|said| said.restarts = !said.text.is_empty());
    }

    /// The pieces that count.
    pub(crate) fn said(&self) -> String {
        self.change(|said| said.text.clone())
    }

    /// The outcome of the last try. If it was interrupted before its first piece, the pieces of the one before still
    /// count.
    pub(crate) fn kept_in(
        &self,
        outcome: Outcome<ModelReply, PartialReply>,
    ) -> Outcome<ModelReply, PartialReply> {
        match outcome {
            Outcome::Interrupted {
                reason,
                mut partial,
            } => {
                if partial.text.is_empty() {
                    partial.text = self.said();
                }
                Outcome::Interrupted { reason, partial }
            }
            Outcome::Completed(reply) => Outcome::Completed(reply),
        }
    }

    fn change<T>(&self, change: impl FnOnce(&mut StreamedText) -> T) -> T {
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

    fn noted(&self, note: &CallNote) {
        if let Some(inner) = &self.inner {
            inner.noted(note);
        }
    }
}
