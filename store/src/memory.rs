//! Everything in the memory of one process, behind one lock.

mod read;

use std::fmt::{self, Debug};
use std::sync::{Mutex, MutexGuard, PoisonError};

use interrupts::store::StoreError;
use jiff::Timestamp;

use crate::adapter::{Adapter, StoreSettings};
use crate::operation::{Halt, Operation};
use crate::tables::{Forgotten, Tables};

/// A store in the memory of one process. It has the meaning of the durable ones, and forgets all when dropped.
pub type MemoryStore = Adapter<Memory>;

impl MemoryStore {
    /// An empty store.
    pub fn new(settings: StoreSettings) -> Self {
        let tables = Mutex::new(Tables::whole(settings.rules()));
        Self::over(Memory { settings, tables })
    }
}

/// The memory of one process.
pub struct Memory {
    settings: StoreSettings,
    tables: Mutex<Tables>,
}

impl Debug for Memory {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Memory")
    }
}

impl Memory {
    fn lock(&self) -> MutexGuard<'_, Tables> {
        // An operation that panicked is undone by the next one, before it reads anything.
        self.tables.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn time(&self) -> Timestamp {
        self.settings.now()
    }

    fn run_operation<O: Operation>(&self, operation: &O) -> Result<O::Output, O::Error> {
        let now = self.time();
        let mut tables = self.lock();
        tables.undo();
        tables.now = now;
        match operation.run(&mut tables) {
            Ok(output) => {
                tables.keep();
                // It is gone from here already, and there is nowhere else.
                tables.forgotten = Forgotten::default();
                Ok(output)
            }
            Err(halt) => {
                tables.undo();
                Err(match halt {
                    Halt::Refused(error) => error,
                    Halt::Absent => StoreError::Unavailable {
                        detail: "a table of the memory store is not whole".to_owned(),
                    }
                    .into(),
                })
            }
        }
    }
}
