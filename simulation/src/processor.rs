//! The cores of the store's machine: all jobs get the same share, and none more than one core.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
use std::time::Duration;

/// A job, with the share at which it is done.
#[derive(Debug)]
struct SharedJob<J> {
    done_at: f64,
    number: u64,
    job: J,
}

impl<J> PartialEq for SharedJob<J> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl<J> Eq for SharedJob<J> {}

impl<J> PartialOrd for SharedJob<J> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<J> Ord for SharedJob<J> {
    fn cmp(&self, other: &Self) -> Ordering {
        let times = self.done_at.total_cmp(&other.done_at);
        times.then(self.number.cmp(&other.number))
    }
}

/// Cores that are shared evenly.
#[derive(Debug)]
pub struct Processor<J> {
    cores: f64,
    is_away: bool,
    /// The work, in seconds, that a job present from the start has got.
    share: f64,
    since: Duration,
    number: u64,
    jobs: BinaryHeap<Reverse<SharedJob<J>>>,
    /// The work done, in seconds of a core.
    pub worked: f64,
}

impl<J> Processor<J> {
    /// An idle machine with so many cores.
    pub fn new(cores: f64) -> Self {
        Self {
            cores,
            is_away: false,
            share: 0.0,
            since: Duration::ZERO,
            number: 0,
            jobs: BinaryHeap::new(),
            worked: 0.0,
        }
    }

    /// How fast each job is done, in cores.
    fn rate(&self) -> f64 {
        match self.is_away {
            true => 0.0,
            false => (self.cores / self.jobs.len() as f64).min(1.0),
        }
    }

    /// Works until now.
    fn advance(&mut self, now: Duration) {
        let worked = self.rate() * now.saturating_sub(self.since).as_secs_f64();
        if !self.jobs.is_empty() {
            self.share += worked;
            self.worked += worked * self.jobs.len() as f64;
        }
        self.since = now;
    }

    /// Adds a job of so much work.
    pub fn add(&mut self, now: Duration, work: Duration, job: J) {
        self.advance(now);
        self.number += 1;
        let (done_at, number) = (self.share + work.as_secs_f64(), self.number);
        self.jobs.push(Reverse(SharedJob {
            done_at,
            number,
            job,
        }));
    }

    /// Pauses all work, or resumes it.
    pub fn set_away(&mut self, now: Duration, is_away: bool) {
        self.advance(now);
        self.is_away = is_away;
    }

    /// When the next job will be done, if none is added.
    pub fn next(&self) -> Option<Duration> {
        let Reverse(job) = self.jobs.peek()?;
        let left = (job.done_at - self.share).max(0.0) / self.rate();
        // Rounded up, so that it is done then.
        left.is_finite()
            .then(|| self.since + Duration::from_secs_f64(left) + Duration::from_nanos(1))
    }

    /// A job that is done by now.
    pub fn finish(&mut self, now: Duration) -> Option<J> {
        self.advance(now);
        let is_done = self.jobs.peek()?.0.done_at <= self.share;
        is_done.then(|| self.jobs.pop().map(|Reverse(job)| job.job))?
    }
}
