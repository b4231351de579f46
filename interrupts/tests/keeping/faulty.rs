//! A store that fails when a test says so.

use std::sync::Arc;
use std::sync::Mutex;

use interrupts::store::operations::*;
use store::MemoryStore;
use tokio::sync::Semaphore;

/// What a faulty store does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Fault {
    /// The next operations fail, so many of them.
    Next { count: u32, error: StoreError },
    /// All operations from the n-th one on fail, counted from now; 0 is the next one.
    From { operation: u32, error: StoreError },
    /// What keeps and stops a run is not written; it can be read.
    Writing { error: StoreError },
}

/// What is written of a run that is kept and told to stop.
const WRITING: [&str; 12] = [
    "admit",
    "join",
    "ask",
    "raise_mode",
    "deliver",
    "renew",
    "acknowledge",
    "require_review",
    "renew_run",
    "release_run",
    "change_run",
    "finish",
];

/// A store in memory that fails as it is told.
pub(crate) struct FaultyStore {
    pub(crate) store: Arc<MemoryStore>,
    fault: Mutex<Option<Fault>>,
    operations: Mutex<u32>,
    /// While there is one, each admission waits for a permit of it.
    gate: Mutex<Option<Arc<Semaphore>>>,
}

impl FaultyStore {
    pub(crate) fn over(store: Arc<MemoryStore>) -> Arc<Self> {
        Arc::new(Self {
            store,
            fault: Mutex::new(None),
            operations: Mutex::new(0),
            gate: Mutex::new(None),
        })
    }

    pub(crate) fn set(&self, fault: Option<Fault>) {
        *self.fault.lock().unwrap() = fault;
    }

    /// How many operations were asked for.
    pub(crate) fn operations(&self) -> u32 {
        *self.operations.lock().unwrap()
    }

    /// From now on each admission waits for a permit.
    pub(crate) fn hold_admissions(&self) -> Arc<Semaphore> {
        let gate = Arc::new(Semaphore::new(0));
        *self.gate.lock().unwrap() = Some(Arc::clone(&gate));
        gate
    }

    async fn pass(&self, operation: &str) -> Result<(), StoreError> {
        let gate = self.gate.lock().unwrap().clone();
        if matches!(operation, "admit" | "join")
            && let Some(gate) = gate
        {
            gate.acquire().await.unwrap().forget();
        }
        self.fault(operation)
    }

    fn fault(&self, operation: &str) -> Result<(), StoreError> {
        *self.operations.lock().unwrap() += 1;
        let mut fault = self.fault.lock().unwrap();
        match fault.as_mut() {
            None | Some(Fault::Next { count: 0, .. }) => Ok(()),
            Some(Fault::Writing { error }) if WRITING.contains(&operation) => Err(error.clone()),
            Some(Fault::Writing { .. }) => Ok(()),
            Some(Fault::Next { count, error }) => {
                *count -= 1;
                Err(error.clone())
            }
            Some(Fault::From {
                operation: 0,
                error,
            }) => Err(error.clone()),
            Some(Fault::From { operation, .. }) => {
                *operation -= 1;
                Ok(())
            }
        }
    }
}

impl Clock for FaultyStore {
    fn now(&self) -> Timestamp {
        self.store.now()
    }
}

macro_rules! ports {
    ($($port:ident { $(fn $name:ident($($argument:ident: $type:ty),*) -> $output:ty;)* })*) => {$(
        #[async_trait]
        impl $port for FaultyStore {
            $(async fn $name(&self, $($argument: $type),*) -> $output {
                self.pass(stringify!($name)).await?;
                self.store.$name($($argument),*).await
            })*
        }
    )*};
}

interrupts::store_operations!(ports);
