//! Ends a call whose answer is already wrong.

use std::sync::{Arc, Mutex, PoisonError};

use jiff::Timestamp;

use crate::answer::ArrivingAnswer;
use crate::model::{CallNote, ChunkSink};
use crate::route_set::RouteSet;
use crate::routing::Routing;
use crate::stop::{StopMode, StopReason, StopScope, StopSource};

/// How the reason begins when a wrong answer is rejected early.
const REJECTED: &str = "the answer is wrong already";

/// Whether a call was ended because its answer could not become right any more, and not because a stop was asked for.
/// What had arrived is the answer then, and is corrected like every other wrong one.
pub fn is_rejected_early(reason: &StopReason) -> bool {
    reason.source == StopSource::Programmatic && reason.message.starts_with(REJECTED)
}

/// Checks the pieces of an answer on their way to their sink, and stops the call once no further piece could make the
/// answer right.
pub(super) struct EarlyEnd<R: Routing> {
    inner: Option<Arc<dyn ChunkSink>>,
    answer: Mutex<ArrivingAnswer<R>>,
    call: StopScope,
}

impl<R: Routing> EarlyEnd<R> {
    pub(super) fn around(
        inner: Option<Arc<dyn ChunkSink>>,
        allowed: RouteSet<R>,
        call: StopScope,
    ) -> Arc<Self> {
        Arc::new(Self {
            inner,
            answer: Mutex::new(ArrivingAnswer::new(allowed)),
            call,
        })
    }

    fn change<T>(&self, change: impl FnOnce(&mut ArrivingAnswer<R>) -> T) -> T {
        change(&mut self.answer.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl<R: Routing> ChunkSink for EarlyEnd<R> {
    fn chunk(&self, text: &str) {
        if let Some(inner) = &self.inner {
            inner.chunk(text);
        }
        let fault = self.change(|answer| answer.push(text).map(ToString::to_string));
        if let Some(fault) = fault {
            self.call.stop(StopReason {
                source: StopSource::Programmatic,
                mode: StopMode::Immediate,
                message: format!("{REJECTED}: {fault}"),
                // Only the model sees it, and the core reads no clock.
                timestamp: Timestamp::UNIX_EPOCH,
            });
        }
    }

    fn restarted(&self) {
        if let Some(inner) = &self.inner {
            inner.restarted();
        }
        self.change(ArrivingAnswer::restart);
    }

    fn noted(&self, note: &CallNote) {
        if let Some(inner) = &self.inner {
            inner.noted(note);
        }
    }
}
