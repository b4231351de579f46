//! Which worker takes a free run, and which one hands a run over: as [`interrupts::Fleet`] decides for workers without
//! labels, with the digests of a run and the workers made once and not at every question.

use interrupts::{Digest, OwnerName};
use routing_core::RunId;

/// From this worker on, those that could take a run no longer wait for the ones before them:
/// `cli/src/commands/serve/launcher/turn.rs`.
pub const LAST_IN_LINE: usize = 3;

/// How well a run fits each of the workers, for each slot that is free there.
#[derive(Debug, Clone)]
pub struct Lots(Vec<f64>);

impl Lots {
    /// Those of a run, in the order of the workers.
    pub fn new(run: RunId, workers: &[OwnerName]) -> Self {
        let run = run.to_string();
        let lot = |worker: &OwnerName| {
            let digest = Digest::of_parts([run.as_bytes(), worker.as_str().as_bytes()]);
            let mut first = [0; 4];
            first.copy_from_slice(&digest.bytes()[..4]);
            let part = (f64::from(u32::from_be_bytes(first)) + 0.5) / (f64::from(u32::MAX) + 1.0);
            -1.0 / part.ln()
        };
        Self(workers.iter().map(lot).collect())
    }

    fn score(&self, worker: usize, free: u32) -> f64 {
        self.0[worker] * f64::from(free)
    }

    /// How many workers go before one that has so many free slots, and no more than the last in line.
    pub fn rank(&self, free: impl Fn(usize) -> u32, (own, own_free): (usize, u32)) -> usize {
        let best = self.score(own, own_free);
        let others = (0..self.0.len()).filter(|&it| it != own && self.score(it, free(it)) > best);
        others.take(LAST_IN_LINE).count()
    }

    /// The workers that do not wait like the last in line, the first one first.
    pub fn first(&self, free: impl Fn(usize) -> u32) -> Vec<usize> {
        let mut first: Vec<(f64, usize)> = Vec::new();
        for worker in (0..self.0.len()).filter(|&it| free(it) > 0) {
            first.push((self.score(worker, free(worker)), worker));
            first.sort_by(|one, other| other.0.total_cmp(&one.0));
            first.truncate(LAST_IN_LINE);
        }
        first.into_iter().map(|(_score, worker)| worker).collect()
    }
}

/// Whether a worker hands one of its runs over, by how many each is known to have; all have so many slots.
pub fn hands_over(taken: &[Option<u32>], slots: u32, own: usize) -> bool {
    let known = || taken.iter().flatten().copied();
    let Some(mine) = taken.get(own).copied().flatten() else {
        return false;
    };
    let all: u64 = known().map(u64::from).sum();
    let share = u64::from(slots) * all / (known().count() as u64 * u64::from(slots)).max(1);
    let surplus = |it: u32| u64::from(it).saturating_sub(share);
    let places: u64 = known().map(|it| share.saturating_sub(it.into())).sum();
    let before = taken.iter().enumerate().filter(|&(worker, it)| {
        it.is_some_and(|it| surplus(it) > surplus(mine) || (it == mine && worker < own))
    });
    surplus(mine) > 0 && (before.count() as u64) < places
}
