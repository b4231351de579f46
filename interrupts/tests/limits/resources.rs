//! The limits of memory and processor time.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use interrupts::limits::{
    CpuLoad, LimitKind, ProbeError, ResourceGuard, ResourceLimits, ResourceProbe, ResourceSample,
    ResourceWatch,
};
use proptest::prelude::*;
use tokio::runtime::Handle;
use tokio::time::advance;

use crate::scene::{Heard, Still};

const SECOND: Duration = Duration::from_secs(1);

fn sample(memory: u64, cpu_millis: u64) -> ResourceSample {
    ResourceSample {
        memory,
        cpu: Duration::from_millis(cpu_millis),
    }
}

#[test]
fn memory_is_near_once_and_reached_once() {
    let mut watch = ResourceWatch::new(ResourceLimits {
        memory: Some(1_000),
        warn_at: 80,
        ..ResourceLimits::default()
    });
    let held = [799, 800, 900, 700, 1_000, 2_000, 10, 1_500];
    let findings: Vec<_> = (1..)
        .zip(held)
        .flat_map(|(at, held)| watch.observe(sample(held, 0), at * SECOND))
        .map(|finding| (finding.metadata["held_bytes"].clone(), finding.reached))
        .collect();
    assert_eq!(findings, [(800.into(), false), (1_000.into(), true)]);
}

#[test]
fn processor_time_counts_from_the_first_sample() {
    let mut watch = ResourceWatch::new(ResourceLimits {
        cpu_time: Some(SECOND),
        ..ResourceLimits::default()
    });
    assert!(watch.observe(sample(0, 5_000), SECOND).is_empty());
    assert!(watch.observe(sample(0, 5_899), 2 * SECOND).is_empty());
    assert!(!watch.observe(sample(0, 5_900), 3 * SECOND)[0].reached);
    assert!(watch.observe(sample(0, 6_000), 4 * SECOND)[0].reached);
}

#[test]
fn a_peak_is_no_load_and_a_load_that_lasts_is() {
    let limits = ResourceLimits {
        cpu_load: Some(CpuLoad {
            percent: 50,
            during: 4 * SECOND,
        }),
        ..ResourceLimits::default()
    };
    let found = |loads: &[u64]| {
        let mut watch = ResourceWatch::new(limits);
        let mut used = 0;
        (0..).zip(loads).find_map(|(at, load)| {
            used += load * 10;
            let findings = watch.observe(sample(0, used), at * SECOND);
            findings.first().map(|finding| (at, finding.limit))
        })
    };
    assert_eq!(found(&[0, 100, 0, 0, 0, 0, 0, 90, 90, 0, 0, 0]), None);
    assert_eq!(
        found(&[0, 10, 10, 60, 60, 60, 60, 60]),
        Some((6, LimitKind::Cpu))
    );
}

proptest! {
    #[test]
    fn each_limit_tells_at_most_once_that_it_is_near_and_once_that_it_is_reached(
        samples in prop::collection::vec((0..2_000_u64, 0..3_000_u64), 0..60),
    ) {
        let mut watch = ResourceWatch::new(ResourceLimits {
            memory: Some(1_000),
            cpu_time: Some(20 * SECOND),
            cpu_load: Some(CpuLoad { percent: 150, during: 3 * SECOND }),
            ..ResourceLimits::default()
        });
        let mut used = 0;
        let (mut near, mut reached) = (0, 0);
        for (at, (memory, cpu)) in (0..).zip(samples) {
            used += cpu;
            for finding in watch.observe(sample(memory, used), at * SECOND) {
                if finding.reached { reached += 1 } else { near += 1 }
            }
        }
        prop_assert!(near <= 2 && reached <= 3);
    }
}

/// A process whose memory a test sets, and whose probe it may break.
struct Process {
    memory: AtomicU64,
    taken: AtomicU64,
    broken: Mutex<bool>,
}

impl Process {
    fn of(memory: u64) -> Arc<Self> {
        Arc::new(Self {
            memory: AtomicU64::new(memory),
            taken: AtomicU64::new(0),
            broken: Mutex::new(false),
        })
    }

    fn guard(self: &Arc<Self>, heard: &Arc<Heard>) -> ResourceGuard {
        ResourceGuard {
            limits: ResourceLimits {
                memory: Some(1_000),
                every: SECOND,
                ..ResourceLimits::default()
            },
            probe: Arc::<Self>::clone(self),
            sink: Arc::<Heard>::clone(heard),
            clock: Arc::new(Still),
        }
    }
}

impl ResourceProbe for Process {
    fn sample(&self) -> Result<ResourceSample, ProbeError> {
        self.taken.fetch_add(1, Ordering::Relaxed);
        if *self.broken.lock().unwrap() {
            return Err(ProbeError::Unsupported);
        }
        Ok(sample(self.memory.load(Ordering::Relaxed), 0))
    }
}

async fn pass(seconds: u32) {
    for _second in 0..seconds {
        for _turn in 0..5 {
            tokio::task::yield_now().await;
        }
        advance(SECOND).await;
    }
    for _turn in 0..5 {
        tokio::task::yield_now().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_process_that_grows_is_stopped_at_the_next_sample() {
    let (heard, process) = (Arc::new(Heard::default()), Process::of(10));
    let guard = process.guard(&heard).start(&Handle::current()).unwrap();
    pass(3).await;
    assert!(heard.stops().is_empty());
    process.memory.store(1 << 40, Ordering::Relaxed);
    pass(1).await;
    assert_eq!(heard.stops()[0].limit, LimitKind::Memory);
    guard.stop().await;
    let taken = process.taken.load(Ordering::Relaxed);
    pass(5).await;
    assert_eq!(
        process.taken.load(Ordering::Relaxed),
        taken,
        "nobody samples any more"
    );
}

#[tokio::test(start_paused = true)]
async fn where_nothing_can_be_measured_no_limit_is_promised() {
    let (heard, process) = (Arc::new(Heard::default()), Process::of(10));
    *process.broken.lock().unwrap() = true;
    let refused = process.guard(&heard).start(&Handle::current());
    assert!(matches!(refused, Err(ProbeError::Unsupported)));
}

#[tokio::test(start_paused = true)]
async fn a_probe_that_breaks_later_is_told_after_some_tries() {
    let (heard, process) = (Arc::new(Heard::default()), Process::of(10));
    let guard = process.guard(&heard).start(&Handle::current()).unwrap();
    *process.broken.lock().unwrap() = true;
    pass(9).await;
    assert!(heard.warnings().is_empty());
    pass(1).await;
    assert!(
        heard.warnings()[0]
            .message
            .starts_with("the limit of memory is not watched any more")
    );
    assert!(guard.is_finished() && heard.stops().is_empty());
}
