//! The limit of steps.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::Clock;
use interrupt_router::StopMode;
use serde_json::json;

use super::reached::{LimitKind, LimitReached, StopSink};

/// How many steps may be begun by all clones together: no matter how many callers begin a step at once, no more than
/// the limit may.
#[derive(Clone)]
pub struct StepLimit {
    shared: Arc<StepCounter>,
}

struct StepCounter {
    most: u64,
    begun: AtomicU64,
    told: AtomicBool,
    sink: Arc<dyn StopSink>,
    clock: Arc<dyn Clock>,
}

impl std::fmt::Debug for StepLimit {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let StepCounter { most, begun, .. } = &*self.shared;
        formatter
            .debug_struct("StepLimit")
            .field("most", most)
            .field("begun", begun)
            .finish_non_exhaustive()
    }
}

impl StepLimit {
    /// A limit of `most` steps, of which `begun` were begun before.
    pub fn new(most: u64, begun: u64, sink: Arc<dyn StopSink>, clock: Arc<dyn Clock>) -> Self {
        Self {
            shared: Arc::new(StepCounter {
                most,
                begun: AtomicU64::new(begun),
                told: AtomicBool::new(false),
                sink,
                clock,
            }),
        }
    }

    /// Begins a step, and gives its number, from 1.
    ///
    /// # Errors
    ///
    /// [`LimitReached`] if all steps were begun before; this one must not begin. The first time, a stop is requested as
    /// well.
    pub fn begin(&self) -> Result<u64, LimitReached> {
        let StepCounter { most, begun, .. } = &*self.shared;
        begun
            .try_update(Ordering::Relaxed, Ordering::Relaxed, |begun| {
                (begun < *most).then_some(begun + 1)
            })
            .map(|before| before + 1)
            .map_err(|_all_begun| self.refuse())
    }

    /// How many were begun.
    pub fn begun(&self) -> u64 {
        self.shared.begun.load(Ordering::Relaxed)
    }

    fn refuse(&self) -> LimitReached {
        let StepCounter {
            most, sink, clock, ..
        } = &*self.shared;
        let reached = LimitReached {
            limit: LimitKind::Steps,
            mode: StopMode::Graceful,
            message: format!("the limit of {most} steps is reached"),
            metadata: json!({ "limit": most }),
            at: clock.now(),
        };
        if !self.shared.told.swap(true, Ordering::Relaxed) {
            sink.stop(reached.clone());
        }
        reached
    }
}
