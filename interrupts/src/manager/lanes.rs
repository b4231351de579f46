//! The priority lanes in which interrupts wait for their delivery: users first, without starving the others.

use std::collections::VecDeque;

use crate::life::Lane;

/// How often the head of a lane may be passed over.
const MOST_PASSED: u32 = 8;

/// A queue of three lanes. Each lane is first in, first out. A user's items go before an agent's, an agent's before the
/// system's; but an item that was passed over too often goes next, before all others.
#[derive(Debug)]
pub struct Lanes<T> {
    lanes: [LaneQueue<T>; 3],
    most_passed: u32,
}

#[derive(Debug)]
struct LaneQueue<T> {
    items: VecDeque<T>,
    /// How often the first item was passed over.
    passed: u32,
}

impl<T> Default for Lanes<T> {
    fn default() -> Self {
        Self::bounded(MOST_PASSED)
    }
}

impl<T> Lanes<T> {
    /// Lanes whose heads are passed over at most `most_passed` times before they are due.
    pub fn bounded(most_passed: u32) -> Self {
        Self {
            lanes: std::array::from_fn(|_lane| LaneQueue {
                items: VecDeque::new(),
                passed: 0,
            }),
            most_passed,
        }
    }

    /// Puts an item at the end of its lane.
    pub fn push(&mut self, lane: Lane, item: T) {
        let [user, agent, system] = &mut self.lanes;
        let waiting = match lane {
            Lane::User => user,
            Lane::Agent => agent,
            Lane::System => system,
        };
        waiting.items.push_back(item);
    }

    /// Takes the item whose turn it is.
    pub fn pop(&mut self) -> Option<T> {
        let chosen = self.due().or_else(|| {
            self.lanes
                .iter()
                .position(|waiting| !waiting.items.is_empty())
        })?;
        let mut taken = None;
        for (index, waiting) in self.lanes.iter_mut().enumerate() {
            if index == chosen {
                waiting.passed = 0;
                taken = waiting.items.pop_front();
            } else if !waiting.items.is_empty() {
                waiting.passed = waiting.passed.saturating_add(1);
            }
        }
        taken
    }

    /// The lane whose head was passed over most often, if that is too often.
    fn due(&self) -> Option<usize> {
        let due = self.lanes.iter().enumerate().filter(|(_index, waiting)| {
            !waiting.items.is_empty() && waiting.passed >= self.most_passed
        });
        // On a tie the first lane goes first.
        due.rev()
            .max_by_key(|(_index, waiting)| waiting.passed)
            .map(|(index, _waiting)| index)
    }

    /// How many items wait.
    pub fn len(&self) -> usize {
        self.lanes.iter().map(|waiting| waiting.items.len()).sum()
    }

    /// Whether nothing waits.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
