//! The hold on a limit's task.

use tokio::runtime::Handle;
use tokio_util::task::AbortOnDropHandle;

/// A limit that is being watched. Dropped or stopped, its task ends and the limit asks for nothing any more.
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
    /// Safe: dropped, the task ends all the same, only nobody waits for it.
    pub async fn stop(self) {
        self.task.abort();
        // It was cancelled, or had ended by itself: either way it is gone.
        let _gone = self.task.await;
    }

    /// Whether nothing is watched any more: the limit was reached, or watching failed for good.
    pub fn is_finished(&self) -> bool {
        self.task.is_finished()
    }
}
