//! What samples of a process mean: a synchronous value, samples and times in, findings out.

use std::collections::VecDeque;
use std::time::Duration;

use interrupt_router::StopMode;
use serde_json::{Value, json};

use super::probe::ResourceSample;
use super::reached::LimitKind;

/// How busy a process may be for how long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CpuLoad {
    /// The processor time used in a time, in percent of that time: 100 is one processor, all the time.
    pub percent: u32,
    /// Over how long that is measured; a shorter peak does not matter.
    pub during: Duration,
}

/// What a process may use. `None` is without limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ResourceLimits {
    /// The memory that it may use, in bytes.
    pub memory: Option<u64>,
    /// The processor time that it may use from now on.
    pub cpu_time: Option<Duration>,
    /// How busy it may be.
    pub cpu_load: Option<CpuLoad>,
    /// At which part of the limit of memory or processor time a warning is given, in percent.
    pub warn_at: u8,
    /// The time between two samples.
    pub every: Duration,
    /// How it is stopped.
    pub mode: StopMode,
}

impl Default for ResourceLimits {
    /// No limits; a warning at 90 percent, two samples a second, a graceful stop.
    fn default() -> Self {
        Self {
            memory: None,
            cpu_time: None,
            cpu_load: None,
            warn_at: 90,
            every: Duration::from_millis(500),
            mode: StopMode::Graceful,
        }
    }
}

/// What a sample showed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// What is limited.
    pub limit: LimitKind,
    /// Whether the limit is reached; otherwise it is only near.
    pub reached: bool,
    /// In words.
    pub message: String,
    /// The figures, as a JSON object.
    pub metadata: Value,
}

/// Watches a process's use. Each limit is found near once, and reached once.
#[derive(Debug, Clone)]
pub struct ResourceWatch {
    limits: ResourceLimits,
    /// The processor time at the first sample.
    cpu_before: Option<Duration>,
    /// The samples of the window over which the load is measured, with their times.
    window: VecDeque<(Duration, Duration)>,
    memory: LimitWarnings,
    cpu_time: LimitWarnings,
    cpu_load: LimitWarnings,
}

#[derive(Debug, Clone, Copy, Default)]
struct LimitWarnings {
    near: bool,
    reached: bool,
}

impl LimitWarnings {
    /// Whether to report it, and as what; at most once each.
    fn tell(&mut self, near: bool, reached: bool) -> Option<bool> {
        if reached && !self.reached {
            *self = Self {
                near: true,
                reached: true,
            };
            return Some(true);
        }
        if near && !self.near {
            self.near = true;
            return Some(false);
        }
        None
    }
}

impl ResourceWatch {
    /// A watch that has seen nothing.
    pub const fn new(limits: ResourceLimits) -> Self {
        Self {
            limits,
            cpu_before: None,
            window: VecDeque::new(),
            memory: LimitWarnings {
                near: false,
                reached: false,
            },
            cpu_time: LimitWarnings {
                near: false,
                reached: false,
            },
            cpu_load: LimitWarnings {
                near: false,
                reached: false,
            },
        }
    }

    /// Takes a sample that was made at a time, counted from any beginning.
    pub fn observe(&mut self, sample: ResourceSample, at: Duration) -> Vec<Finding> {
        let before = *self.cpu_before.get_or_insert(sample.cpu);
        let used = sample.cpu.saturating_sub(before);
        [
            self.memory(sample.memory),
            self.cpu_time(used),
            self.cpu_load(sample.cpu, at),
        ]
        .into_iter()
        .flatten()
        .collect()
    }

    fn memory(&mut self, held: u64) -> Option<Finding> {
        let limit = self.limits.memory?;
        let near = u128::from(held) * 100 >= u128::from(limit) * u128::from(self.limits.warn_at);
        let reached = self.memory.tell(near, held >= limit)?;
        Some(Finding {
            limit: LimitKind::Memory,
            reached,
            message: format!(
                "the process holds {} of memory, the limit is {}",
                mebibytes(held),
                mebibytes(limit)
            ),
            metadata: json!({ "limit_bytes": limit, "held_bytes": held }),
        })
    }

    fn cpu_time(&mut self, used: Duration) -> Option<Finding> {
        let limit = self.limits.cpu_time?;
        let near = used.as_nanos() * 100 >= limit.as_nanos() * u128::from(self.limits.warn_at);
        let reached = self.cpu_time.tell(near, used >= limit)?;
        Some(Finding {
            limit: LimitKind::Cpu,
            reached,
            message: format!("{used:.1?} of processor time are used, the limit is {limit:?}"),
            metadata: json!({ "limit_ms": millis(limit), "used_ms": millis(used) }),
        })
    }

    fn cpu_load(&mut self, cpu: Duration, at: Duration) -> Option<Finding> {
        let CpuLoad { percent, during } = self.limits.cpu_load?;
        self.window.push_back((at, cpu));
        // The newest sample that is old enough begins the window; what is older is not needed any more.
        while self
            .window
            .get(1)
            .is_some_and(|(time, _cpu)| at.saturating_sub(*time) >= during)
        {
            self.window.pop_front();
        }
        let (began, cpu_then) = *self.window.front()?;
        let passed = at.saturating_sub(began);
        if passed < during || passed.is_zero() {
            return None;
        }
        let load = cpu.saturating_sub(cpu_then).as_nanos() * 100 / passed.as_nanos();
        let reached = load >= u128::from(percent);
        self.cpu_load.tell(false, reached)?;
        Some(Finding {
            limit: LimitKind::Cpu,
            reached,
            message: format!(
                "the process used {load} percent of a processor for {during:?}, the limit is {percent} percent"
            ),
            metadata: json!({
                "limit_percent": percent,
                "load_percent": u64::try_from(load).unwrap_or(u64::MAX),
                "during_ms": millis(during),
            }),
        })
    }
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

fn mebibytes(bytes: u64) -> String {
    format!("{} MiB", bytes.div_ceil(1 << 20))
}
