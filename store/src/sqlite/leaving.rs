//! Files that are being closed, for a process that exits: what belongs to a file is in the file alone once it is
//! closed.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How long to wait for stores that are still in use.
const GRACE: Duration = Duration::from_millis(200);

/// The stores of this process.
#[derive(Debug, Default)]
struct Stores {
    /// How many files are open.
    open: usize,
    /// How many stores are in use. A store's file is closed after its last user is gone.
    owned: usize,
}

static STORES: Mutex<Stores> = Mutex::new(Stores { open: 0, owned: 0 });
static CLOSED: Condvar = Condvar::new();

fn stores() -> MutexGuard<'static, Stores> {
    STORES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A store is in use.
#[derive(Debug)]
pub(super) struct Owned(());

impl Owned {
    pub(super) fn begin() -> Self {
        stores().owned += 1;
        Self(())
    }
}

impl Drop for Owned {
    fn drop(&mut self) {
        stores().owned -= 1;
    }
}

/// The file of a store is open.
#[derive(Debug)]
pub(super) struct OpenStore(());

impl OpenStore {
    pub(super) fn begin() -> Self {
        stores().open += 1;
        Self(())
    }
}

impl Drop for OpenStore {
    fn drop(&mut self) {
        stores().open -= 1;
        CLOSED.notify_all();
    }
}

/// Waits until the files of all stores are closed; whether they are. Stores that were dropped get the time given here,
/// those still in use a moment. A program does this last: SQLite moves what was written lately into the file itself
/// when its last user closes it, and a copy of that file alone has all of it then.
pub fn until_closed(patience: Duration) -> bool {
    let begun = Instant::now();
    let mut stores = stores();
    while stores.open > 0 {
        let most = if stores.open > stores.owned {
            patience
        } else {
            GRACE.min(patience)
        };
        let Some(left) = most.checked_sub(begun.elapsed()).filter(|it| !it.is_zero()) else {
            return false;
        };
        let waited = CLOSED.wait_timeout(stores, left.min(GRACE));
        (stores, _) = waited.unwrap_or_else(PoisonError::into_inner);
    }
    true
}
