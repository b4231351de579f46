//! The time limit of a call: it is paused while a person is asked.

use std::collections::BTreeMap;
use std::future;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::Instant;

use crate::tool::ToolName;

/// How long calls may take.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallLimits {
    /// Of tools that are not named; `None` is without limit.
    pub others: Option<Duration>,
    /// Of some tools, by their names; `None` is without limit.
    pub by_tool: BTreeMap<ToolName, Option<Duration>>,
}

impl Default for CallLimits {
    /// Ten minutes for all.
    fn default() -> Self {
        Self {
            others: Some(Duration::from_secs(10 * 60)),
            by_tool: BTreeMap::new(),
        }
    }
}

impl CallLimits {
    /// The limit of a call of a tool, which begins to run now.
    pub fn of(&self, tool: &ToolName) -> CallLimit {
        CallLimit::new(self.by_tool.get(tool).copied().unwrap_or(self.others))
    }
}

/// A time limit. Its clones share their time.
#[derive(Debug, Clone)]
pub struct CallLimit {
    shared: Arc<LimitState>,
}

#[derive(Debug)]
struct LimitState {
    limit: Option<Duration>,
    clock: Mutex<RunClock>,
    /// Notifies of each start and pause of the clock.
    changed: watch::Sender<()>,
}

#[derive(Debug)]
struct RunClock {
    ran: Duration,
    /// Since when it runs; absent while it is paused.
    since: Option<Instant>,
    pauses: usize,
}

/// Pauses the limit until this is dropped.
#[derive(Debug)]
#[must_use = "the limit runs again as soon as this is dropped"]
pub struct LimitPause {
    shared: Arc<LimitState>,
}

impl CallLimit {
    /// A limit that begins to run now.
    pub fn of(limit: Duration) -> Self {
        Self::new(Some(limit))
    }

    /// No limit.
    pub fn none() -> Self {
        Self::new(None)
    }

    fn new(limit: Option<Duration>) -> Self {
        let clock = RunClock {
            ran: Duration::ZERO,
            since: Some(Instant::now()),
            pauses: 0,
        };
        Self {
            shared: Arc::new(LimitState {
                limit,
                clock: Mutex::new(clock),
                changed: watch::Sender::new(()),
            }),
        }
    }

    /// How long it is.
    pub fn limit(&self) -> Option<Duration> {
        self.shared.limit
    }

    /// Pauses it, for as long as what is returned lives; pauses may overlap.
    pub fn pause(&self) -> LimitPause {
        self.shared.change(|clock, now| {
            clock.pauses += 1;
            if let Some(since) = clock.since.take() {
                clock.ran += now.saturating_duration_since(since);
            }
        });
        LimitPause {
            shared: Arc::clone(&self.shared),
        }
    }

    /// Waits until it is over.
    ///
    /// # Cancel safety
    ///
    /// Safe: the time runs on.
    pub async fn over(&self) {
        let Some(limit) = self.shared.limit else {
            return future::pending().await;
        };
        let mut changes = self.shared.changed.subscribe();
        loop {
            let over_at = self.shared.over_at(limit);
            let over = async {
                match over_at {
                    Some(moment) => tokio::time::sleep_until(moment).await,
                    None => future::pending().await,
                }
            };
            tokio::select! {
                () = over => return,
                // The sender lives in `self`, so this ends by a change alone.
                _changed = changes.changed() => {}
            }
        }
    }
}

impl LimitState {
    fn change(&self, change: impl FnOnce(&mut RunClock, Instant)) {
        let mut clock = self.clock.lock().unwrap_or_else(PoisonError::into_inner);
        change(&mut clock, Instant::now());
        drop(clock);
        self.changed.send_replace(());
    }

    fn over_at(&self, limit: Duration) -> Option<Instant> {
        let clock = self.clock.lock().unwrap_or_else(PoisonError::into_inner);
        clock
            .since
            .map(|since| since + limit.saturating_sub(clock.ran))
    }
}

impl Drop for LimitPause {
    fn drop(&mut self) {
        self.shared.change(|clock, now| {
            clock.pauses -= 1;
            if clock.pauses == 0 {
                clock.since = Some(now);
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::time::{Instant, advance};

    use super::CallLimit;

    #[tokio::test(start_paused = true)]
    async fn a_limit_stands_still_while_any_pause_lasts() {
        let start = Instant::now();
        let limit = CallLimit::of(Duration::from_secs(10));
        advance(Duration::from_secs(4)).await;
        let (first, second) = (limit.pause(), limit.pause());
        advance(Duration::from_secs(100)).await;
        drop(first);
        advance(Duration::from_secs(100)).await;
        drop(second);
        limit.over().await;
        assert_eq!(start.elapsed().as_secs(), 210);
    }

    #[tokio::test(start_paused = true)]
    async fn a_pause_that_comes_while_somebody_waits_counts_too() {
        let start = Instant::now();
        let limit = CallLimit::of(Duration::from_secs(10));
        let asking = async {
            advance(Duration::from_secs(9)).await;
            let pause = limit.pause();
            tokio::time::sleep(Duration::from_secs(60)).await;
            drop(pause);
        };
        tokio::join!(limit.over(), asking);
        assert_eq!(start.elapsed().as_secs(), 70);
    }
}
