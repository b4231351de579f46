//! The clock and the planned events: in the order of their times, and of their planning if those are equal.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
use std::time::Duration;

/// A planned event. Times are since the start of the simulation.
#[derive(Debug)]
struct Planned<E> {
    at: Duration,
    number: u64,
    event: E,
}

impl<E> PartialEq for Planned<E> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl<E> Eq for Planned<E> {}

impl<E> PartialOrd for Planned<E> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<E> Ord for Planned<E> {
    fn cmp(&self, other: &Self) -> Ordering {
        (self.at, self.number).cmp(&(other.at, other.number))
    }
}

/// The clock of a simulation.
#[derive(Debug)]
pub struct Timeline<E> {
    now: Duration,
    number: u64,
    planned: BinaryHeap<Reverse<Planned<E>>>,
}

impl<E> Default for Timeline<E> {
    fn default() -> Self {
        Self {
            now: Duration::ZERO,
            number: 0,
            planned: BinaryHeap::new(),
        }
    }
}

impl<E> Timeline<E> {
    /// The time since the start of the simulation.
    pub const fn now(&self) -> Duration {
        self.now
    }

    /// Plans an event at a time; a time in the past means now.
    pub fn at(&mut self, at: Duration, event: E) {
        let (at, number) = (at.max(self.now), self.number);
        self.number += 1;
        self.planned.push(Reverse(Planned { at, number, event }));
    }

    /// Plans an event after a while.
    pub fn after(&mut self, wait: Duration, event: E) {
        self.at(self.now + wait, event);
    }

    /// Goes on to the next event, unless that is later than `end`.
    pub fn next_until(&mut self, end: Duration) -> Option<E> {
        if self.planned.peek()?.0.at > end {
            return None;
        }
        let Reverse(planned) = self.planned.pop()?;
        self.now = planned.at;
        Some(planned.event)
    }
}
