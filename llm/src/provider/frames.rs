//! Watches the events of a stream as they are read: whether it goes on, and what it says of its cost.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use genai::chat::{ChatFrameSink, FrameCtx, RawFrameRef};
use routing_core::model::TokenUsage;

use super::usage;

/// The longest event that is read for its cost: such events are short.
const LONGEST_WITH_USAGE: usize = 64 * 1024;

/// What was seen of a stream so far.
#[derive(Debug, Default)]
pub(crate) struct FrameWatch {
    events: AtomicU64,
    with_data: AtomicU64,
    usage: Mutex<TokenUsage>,
}

impl FrameWatch {
    /// How many events there were, comments that keep a connection open included.
    pub(crate) fn events(&self) -> u64 {
        self.events.load(Ordering::Relaxed)
    }

    /// Whether there were blocks of lines, and none of them was an event.
    pub(crate) fn is_no_event_stream(&self) -> bool {
        self.events() > 0 && self.with_data.load(Ordering::Relaxed) == 0
    }

    /// What is known of the cost.
    pub(crate) fn usage(&self) -> TokenUsage {
        *self.usage.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ChatFrameSink for FrameWatch {
    fn on_frame(&self, _context: &FrameCtx, frame: RawFrameRef<'_>) {
        self.events.fetch_add(1, Ordering::Relaxed);
        if !frame.data.is_empty() {
            self.with_data.fetch_add(1, Ordering::Relaxed);
        }
        if frame.data.len() <= LONGEST_WITH_USAGE
            && frame.data.contains("\"usage")
            && let Some(event) = frame.json()
        {
            let mut known = self.usage.lock().unwrap_or_else(PoisonError::into_inner);
            *known = usage::updated(*known, &event);
        }
    }
}
