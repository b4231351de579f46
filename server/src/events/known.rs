//! The interrupts that events are about: read once for a whole part of the feed, and remembered.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

use futures_util::{StreamExt, stream};
use interrupt_router::InterruptId;
use interrupts::life::{Interrupt, Notice};
use interrupts::store::{Notification, OutboxRow, Store};

/// How many interrupts are remembered so that their node need not be read again.
const REMEMBERED: usize = 4_096;
/// How many are read from the store at a time.
const TOGETHER: usize = 8;

/// Interrupts, by their ids.
pub(crate) type Interrupts = HashMap<InterruptId, Arc<Interrupt>>;

/// The immutable parts of interrupts, remembered.
#[derive(Default)]
pub(super) struct KnownInterrupts(Mutex<Remembered>);

#[derive(Default)]
struct Remembered {
    interrupts: Interrupts,
    /// The oldest first.
    order: VecDeque<InterruptId>,
}

impl Remembered {
    fn put(&mut self, interrupt: Arc<Interrupt>) {
        let id = interrupt.id;
        if self.interrupts.insert(id, interrupt).is_none() {
            self.order.push_back(id);
        }
        if self.order.len() > REMEMBERED
            && let Some(oldest) = self.order.pop_front()
        {
            self.interrupts.remove(&oldest);
        }
    }
}

/// The interrupt that a row is about, and whether its event says more than was known when it was admitted.
fn about(row: &OutboxRow) -> Option<(InterruptId, bool)> {
    let Notification::Interrupt {
        interrupt, notice, ..
    } = &row.notification
    else {
        return None;
    };
    let is_later = match notice {
        // When it was acknowledged, and what was decided, is known from then on.
        Notice::Acknowledged | Notice::Dispatch { .. } => true,
        Notice::Admitted
        | Notice::Delivered
        | Notice::ReviewOpened
        | Notice::ReviewChanged { .. }
        | Notice::ModeRaised
        | Notice::Asked { .. }
        | Notice::TakenBack { .. }
        | Notice::Ended
        | Notice::DeadLettered
        | Notice::Redriven => false,
    };
    Some((*interrupt, is_later))
}

impl KnownInterrupts {
    /// The interrupts of some rows: the current ones if their rows say more about them, the others as they are
    /// remembered. One that cannot be read is omitted: its events are rendered without it.
    pub(super) async fn of(&self, store: &dyn Store, rows: &[OutboxRow]) -> Interrupts {
        let mut changed = HashSet::new();
        let mut wanted = HashSet::new();
        for (interrupt, is_later) in rows.iter().filter_map(about) {
            wanted.insert(interrupt);
            if is_later {
                changed.insert(interrupt);
            }
        }
        let mut known = Interrupts::with_capacity(wanted.len());
        {
            // Whole values are put in and out, so a panic elsewhere leaves the map consistent.
            let remembered = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            wanted.retain(|id| match remembered.interrupts.get(id) {
                Some(interrupt) if !changed.contains(id) => {
                    known.insert(*id, Arc::clone(interrupt));
                    false
                }
                Some(_) | None => true,
            });
        }
        let read = stream::iter(wanted)
            .map(|id| store.interrupt(id))
            .buffer_unordered(TOGETHER);
        let read: Vec<_> = read.collect().await;
        let mut remembered = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for interrupt in read.into_iter().filter_map(|read| read.ok().flatten()) {
            let interrupt = Arc::new(interrupt);
            known.insert(interrupt.id, Arc::clone(&interrupt));
            remembered.put(interrupt);
        }
        known
    }
}
