//! How long runs had no process: from the end of their owner until another one has them.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use interrupts::life::RunState;
use interrupts::store::Run;

use crate::installation::{ALL, Installation};

/// How often it is looked who has a run.
const LOOK: Duration = Duration::from_millis(50);

/// The lease of a run: it is renewed every 5 s.
pub(crate) const LEASE: Duration = Duration::from_secs(15);

/// What the rules allow beside the lease: a worker looks for runs once a second, waits for longer than one beat of an
/// owner that may only have slept, and for up to three workers that it takes for alive and that would go before it.
pub(crate) const ALLOWED: Duration = Duration::from_millis(1_000 + 6_250 + 3_000);

/// What a busy machine may add.
const BUSY: Duration = Duration::from_secs(3);

/// What was measured.
#[derive(Debug, Default)]
pub(crate) struct Takeovers(Mutex<Vec<Duration>>);

impl Takeovers {
    /// From the shortest to the longest.
    pub(crate) fn sorted(&self) -> Vec<Duration> {
        let mut all = self.0.lock().unwrap().clone();
        all.sort();
        all
    }
}

/// The runs that an owner works on.
pub(crate) async fn owned_by(installation: &Installation, owner: &str) -> Vec<Run> {
    let states = [RunState::Running, RunState::Stopping];
    let runs = installation.store.runs(&states, ALL).await.unwrap();
    let is_owned = |run: &Run| {
        let lease = run.lease.as_ref();
        lease.is_some_and(|lease| lease.owner.as_str() == owner)
    };
    let runs = runs.into_iter().map(|(_position, run)| run);
    runs.filter(is_owned).collect()
}

/// Waits until each of these runs has another owner, or none because it rests, and notes how long that took.
///
/// # Panics
///
/// Where it takes longer than the rules allow.
pub(crate) async fn are_taken_over(
    installation: &Arc<Installation>,
    runs: Vec<Run>,
    since: Instant,
) -> usize {
    let taken = runs
        .into_iter()
        .map(|run| is_taken_over(installation, run, since));
    let taken = futures_util::future::join_all(taken).await;
    let taken: Vec<Duration> = taken.into_iter().flatten().collect();
    let count = taken.len();
    installation.takeovers.0.lock().unwrap().extend(taken);
    count
}

async fn is_taken_over(
    installation: &Installation,
    before: Run,
    since: Instant,
) -> Option<Duration> {
    loop {
        let now = installation.store.run(before.id).await.unwrap().unwrap();
        if now.epoch > before.epoch {
            return Some(since.elapsed());
        }
        // Where it has no owner, what the last one wrote last has arrived: the run was at its end, or waits for people.
        now.lease.as_ref()?;
        assert!(
            since.elapsed() < LEASE + ALLOWED + BUSY,
            "not taken after {:?}: {now:?}",
            since.elapsed()
        );
        tokio::time::sleep(LOOK).await;
    }
}
