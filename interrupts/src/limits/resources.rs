//! The limits of memory and processor time.

use std::sync::Arc;
use std::time::Duration;

use crate::Clock;
use serde_json::json;
use tokio::runtime::Handle;
use tokio::time::{Instant, MissedTickBehavior};

use super::guard::LimitGuard;
use super::probe::{ProbeError, ResourceProbe, ResourceSample};
use super::reached::{LimitKind, LimitReached, LimitWarning, StopSink};
use super::watch::{Finding, ResourceLimits, ResourceWatch};

/// The shortest time between two samples: a limit must not become a load.
const SHORTEST_PERIOD: Duration = Duration::from_millis(10);

/// How many samples may fail in a row before watching is given up.
const MOST_FAILURES: u32 = 10;

/// Takes samples of a process and reports when it uses too much.
pub struct ResourceGuard {
    /// What it may use.
    pub limits: ResourceLimits,
    /// Where samples come from.
    pub probe: Arc<dyn ResourceProbe>,
    /// Notified when it uses too much.
    pub sink: Arc<dyn StopSink>,
    /// The time.
    pub clock: Arc<dyn Clock>,
}

impl ResourceGuard {
    /// Takes the first sample, and begins to watch on this runtime.
    ///
    /// # Errors
    ///
    /// [`ProbeError`] if no samples can be taken: a limit that is not watched would be no limit.
    pub fn start(self, runtime: &Handle) -> Result<LimitGuard, ProbeError> {
        let first = self.probe.sample()?;
        Ok(LimitGuard::spawn(runtime, self.watch(first)))
    }

    async fn watch(self, first: ResourceSample) {
        let mut watch = ResourceWatch::new(self.limits);
        let began = Instant::now();
        self.tell(watch.observe(first, Duration::ZERO));
        let every = self.limits.every.max(SHORTEST_PERIOD);
        let mut ticks = tokio::time::interval_at(began + every, every);
        // Samples that were missed are of no use afterwards.
        ticks.set_missed_tick_behavior(MissedTickBehavior::Skip);
        let mut failures = 0;
        loop {
            ticks.tick().await;
            match self.probe.sample() {
                Ok(sample) => {
                    failures = 0;
                    self.tell(watch.observe(sample, began.elapsed()));
                }
                Err(error) => {
                    failures += 1;
                    if failures == MOST_FAILURES {
                        return self.give_up(&error);
                    }
                }
            }
        }
    }

    fn tell(&self, findings: Vec<Finding>) {
        for finding in findings {
            let Finding {
                limit,
                reached,
                message,
                metadata,
            } = finding;
            let at = self.clock.now();
            if reached {
                let mode = self.limits.mode;
                self.sink.stop(LimitReached {
                    limit,
                    mode,
                    message,
                    metadata,
                    at,
                });
            } else {
                self.sink.warn(LimitWarning {
                    limit,
                    message,
                    metadata,
                    at,
                });
            }
        }
    }

    /// The user who set a limit must know that it is not watched any more.
    fn give_up(&self, error: &ProbeError) {
        let limited = [
            (LimitKind::Memory, self.limits.memory.is_some()),
            (
                LimitKind::Cpu,
                self.limits.cpu_time.is_some() || self.limits.cpu_load.is_some(),
            ),
        ];
        for (limit, _limited) in limited.into_iter().filter(|(_limit, limited)| *limited) {
            self.sink.warn(LimitWarning {
                limit,
                message: format!("the limit of {limit} is not watched any more: {error}"),
                metadata: json!({ "failures": MOST_FAILURES }),
                at: self.clock.now(),
            });
        }
    }
}
