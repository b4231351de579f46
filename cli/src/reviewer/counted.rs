//! Which interrupt of its kind of agent an interrupt is.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use engine::run::{RunEvent, RunObserver, RunOccurrence};
use interrupt_router::InterruptId;

/// Counts the interrupts of each kind of agent, in the order in which they are raised.
#[derive(Debug, Default)]
pub(crate) struct InterruptCount {
    seen: Mutex<SeenInterrupts>,
}

#[derive(Debug, Default)]
struct SeenInterrupts {
    of_kind: HashMap<&'static str, u32>,
    number: HashMap<InterruptId, u32>,
}

impl InterruptCount {
    /// The interrupt's number among those of its kind of agent, from 1; `None` for one that was not
    /// raised yet.
    pub(crate) fn number(&self, interrupt: InterruptId) -> Option<u32> {
        let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        seen.number.get(&interrupt).copied()
    }
}

impl RunObserver for InterruptCount {
    fn observe(&self, occurrence: &RunOccurrence) {
        let RunEvent::InterruptRaised {
            interrupt, kind, ..
        } = &occurrence.event
        else {
            return;
        };
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let count = seen.of_kind.entry(*kind).or_default();
        *count += 1;
        let number = *count;
        seen.number.insert(*interrupt, number);
    }
}
