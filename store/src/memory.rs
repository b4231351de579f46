//! Everything in the memory of one process, in a database that nothing else opens.

use std::fmt::{self, Debug};
use std::sync::{Mutex, MutexGuard};

use jiff::Timestamp;

use crate::adapter::{Adapter, StoreSettings};
use crate::operation::Operation;
use crate::relational::{Database, Found, Relational, Transactions as _, carry_out};
use crate::sqlite::{FileWriter, memory_writer};

/// A store in the memory of one process. It has the meaning of the durable ones, and forgets all when dropped.
pub type MemoryStore = Adapter<Memory>;

impl MemoryStore {
    /// An empty store.
    pub fn new(settings: StoreSettings) -> Self {
        let database = Mutex::new(memory_writer(settings.clone()));
        Self::over(Memory { settings, database })
    }
}

/// The memory of one process. An operation runs to its end on the thread that calls it.
pub struct Memory {
    settings: StoreSettings,
    /// Why there is none, if so: every operation says it.
    database: Mutex<Found<FileWriter>>,
}

impl Debug for Memory {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Memory")
    }
}

impl Memory {
    fn lock(&self) -> MutexGuard<'_, Found<FileWriter>> {
        self.database.lock().unwrap_or_else(|poisoned| {
            // Nothing of an operation that panicked stays.
            self.database.clear_poison();
            let mut database = poisoned.into_inner();
            if let Ok(database) = &mut *database {
                database.roll_back();
            }
            database
        })
    }
}

impl Relational for Memory {
    fn time(&self) -> Timestamp {
        self.settings.now()
    }

    async fn submit<O: Operation>(&self, operation: O) -> Result<O::Output, O::Error> {
        match &mut *self.lock() {
            Ok(database) => carry_out(database, &self.settings, operation),
            Err(error) => Err(error.clone().into()),
        }
    }

    async fn ask<T: Send + 'static>(
        &self,
        question: impl Fn(&mut dyn Database) -> Found<T> + Send + 'static,
    ) -> Found<T> {
        match &mut *self.lock() {
            Ok(database) => question(database),
            Err(error) => Err(error.clone()),
        }
    }
}
