//! A store whose process dies at one of its operations: just before it happens, or just after, unheard of.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use interrupts::store::Store;
use interrupts::store::operations::*;
use tokio::sync::watch;

/// When the process dies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Death {
    /// Before this operation happens, counted from 0.
    Before(usize),
    /// After this operation happened, before its answer is heard.
    After(usize),
    /// Never.
    Never,
}

/// A store as a process that dies sees it.
pub struct Mortal {
    inner: Arc<dyn Store>,
    death: Death,
    operations: AtomicUsize,
    dead: watch::Sender<bool>,
}

impl Mortal {
    /// A store as this process sees it that dies then.
    pub fn new(inner: Arc<dyn Store>, death: Death) -> Arc<Self> {
        Arc::new(Self {
            inner,
            death,
            operations: AtomicUsize::new(0),
            dead: watch::Sender::new(false),
        })
    }

    /// How many operations there were.
    pub fn operations(&self) -> usize {
        self.operations.load(Ordering::SeqCst)
    }

    /// Waits for the death.
    pub async fn died(&self) {
        let mut dead = self.dead.subscribe();
        // An error says that the store is gone, and its process with it.
        let _gone = dead.wait_for(|dead| *dead).await;
    }

    async fn die(&self) {
        self.dead.send_replace(true);
        std::future::pending::<()>().await;
    }

    async fn before(&self) -> usize {
        if *self.dead.borrow() {
            std::future::pending::<()>().await;
        }
        let at = self.operations.fetch_add(1, Ordering::SeqCst);
        if self.death == Death::Before(at) {
            self.die().await;
        }
        at
    }

    async fn after(&self, at: usize) {
        if self.death == Death::After(at) {
            self.die().await;
        }
    }
}

impl Clock for Mortal {
    fn now(&self) -> Timestamp {
        self.inner.now()
    }
}

macro_rules! mortal {
    ($($port:ident { $(fn $name:ident($($argument:ident: $kind:ty),*) -> $output:ty;)* })*) => {$(
        #[async_trait]
        impl $port for Mortal {
            $(async fn $name(&self, $($argument: $kind),*) -> $output {
                let at = self.before().await;
                let answer = self.inner.$name($($argument),*).await;
                self.after(at).await;
                answer
            })*
        }
    )*};
}

interrupts::store_operations!(mortal);
