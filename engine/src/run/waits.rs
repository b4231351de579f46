//! Which calls to models wait for their next try, as shown to other processes.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Mutex, MutexGuard, PoisonError};

use interrupt_router::NodeId;
use interrupt_router::model::CallNote;
use interrupts::store::CallWait;
use jiff::{SignedDuration, Timestamp};
use tokio::sync::Notify;

/// The waits of the calls of a run.
#[derive(Debug, Default)]
pub struct CallWaits {
    waits: Mutex<CurrentWaits>,
    news: Notify,
}

#[derive(Debug, Default)]
struct CurrentWaits {
    of: HashMap<NodeId, CallWait>,
    changed: BTreeSet<NodeId>,
}

impl CallWaits {
    /// A call of this node waits, or goes on.
    pub(super) fn noted(&self, node: &NodeId, note: &CallNote, now: Timestamp) {
        let mut waits = self.lock();
        match note {
            CallNote::Waits { why, wait } => {
                let wait = SignedDuration::try_from(*wait).unwrap_or(SignedDuration::MAX);
                let until = now.checked_add(wait).unwrap_or(Timestamp::MAX);
                let why = why.clone();
                waits.of.insert(node.clone(), CallWait { why, until });
            }
            CallNote::GoesOn => {
                waits.of.remove(node);
            }
            CallNote::Cut { .. } | _ => return,
        }
        waits.changed.insert(node.clone());
        self.news.notify_one();
    }

    /// What the call of a node waits for.
    pub fn of(&self, node: &NodeId) -> Option<CallWait> {
        self.lock().of.get(node).cloned()
    }

    /// The nodes whose calls wait, or go on, since the last time.
    pub fn take_changed(&self) -> BTreeSet<NodeId> {
        std::mem::take(&mut self.lock().changed)
    }

    /// Waits until a call waits, or goes on.
    ///
    /// # Cancel safety
    ///
    /// Safe: news that was not taken is there for the next call.
    pub async fn news(&self) {
        self.news.notified().await;
    }

    fn lock(&self) -> MutexGuard<'_, CurrentWaits> {
        self.waits.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
