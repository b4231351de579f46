//! The handle of a limit's task.

use tokio::runtime::Handle;
use tokio_util::task::AbortOnDropHandle;

/// A limit that is being watched. When it is dropped or stopped, its task ends and it asks for no more stops.
#[derive(Debug)]
#[must_use = "a limit whose guard is dropped is not watched"]
pub struct LimitGuard {
    task: AbortOnDropHandle<()>,
}

impl LimitGuard {
    pub(super) fn spawn(
        runtime: &Handle,
        watch: impl Future<Output = ()> + Send + 'static,
    ) -> Self {
        Self {
            task: AbortOnDropHandle::new(runtime.spawn(watch)),
        }
    }

    /// Stops watching, and waits until the task is gone.
    ///
    /// # Cancel safety
    ///
    /// Safe: if dropped, the task still ends, but no one waits for it.
    pub async fn stop(self) {
        self.task.abort();
        // It was cancelled, or had ended by itself: either way it is gone.
        let _gone = self.task.await;
    }

    /// Whether watching has ended: the limit was reached, or watching failed for good.
    pub fn is_finished(&self) -> bool {
        self.task.is_finished()
    }
}
