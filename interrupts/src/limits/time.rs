//! The limit of time.

use std::sync::Arc;
use std::time::Duration;

use crate::Clock;
use interrupt_router::StopMode;
use serde_json::json;
use tokio::runtime::Handle;

use super::guard::LimitGuard;
use super::reached::{LimitKind, LimitReached, LimitWarning, StopSink};

/// How long something may take, waiting for people included. The clock runs from the start of the guard, and
/// is not moved by changes of the machine's time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimeLimit {
    /// How long it may take.
    pub limit: Duration,
    /// How much of that was used before, by the part of a run that came before a resume.
    pub used: Duration,
    /// How long before the end a warning is given; `None` for none.
    pub warn_before: Option<Duration>,
    /// How it is stopped.
    pub mode: StopMode,
}

impl TimeLimit {
    /// A limit after which work is stopped gracefully, without a warning.
    pub const fn of(limit: Duration) -> Self {
        Self {
            limit,
            used: Duration::ZERO,
            warn_before: None,
            mode: StopMode::Graceful,
        }
    }

    /// Begins to count on this runtime.
    pub fn start(
        self,
        sink: Arc<dyn StopSink>,
        clock: Arc<dyn Clock>,
        runtime: &Handle,
    ) -> LimitGuard {
        LimitGuard::spawn(runtime, self.watch(sink, clock))
    }

    async fn watch(self, sink: Arc<dyn StopSink>, clock: Arc<dyn Clock>) {
        let left = self.limit.saturating_sub(self.used);
        let warned = self.warn_before.filter(|before| *before < left);
        if let Some(before) = warned {
            tokio::time::sleep(left - before).await;
            sink.warn(LimitWarning {
                limit: LimitKind::Time,
                message: format!("{before:?} of the time limit of {:?} are left", self.limit),
                metadata: json!({ "limit_ms": millis(self.limit), "left_ms": millis(before) }),
                at: clock.now(),
            });
            tokio::time::sleep(before).await;
        } else {
            tokio::time::sleep(left).await;
        }
        sink.stop(LimitReached {
            limit: LimitKind::Time,
            mode: self.mode,
            message: format!("the time limit of {:?} is reached", self.limit),
            metadata: json!({ "limit_ms": millis(self.limit) }),
            at: clock.now(),
        });
    }
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
