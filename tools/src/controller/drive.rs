//! A running call: from its registration to its end.

use std::fmt::{self, Debug};
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use interrupt_router::{StopMode, StopReason, StopScope, StopSource};
use tokio::sync::oneshot;
use tokio::task::JoinSet;
use tokio::time::Instant;

use super::state::CallKey;
use super::{Cleanup, ControllerInner, Fenced, Registration, Turn};
use crate::counts::count_late_result;
use crate::limit::CallLimit;
use crate::tool::Interruption;

/// Why a call had to stop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CallStop {
    /// By an interrupt.
    Interrupt(StopReason),
    /// It took longer than this.
    Limit(Duration),
}

/// How the work of a call ended.
#[derive(Debug)]
pub enum Driven<T> {
    /// It returned.
    Ended {
        /// What.
        value: T,
        /// Whether it had been asked to stop before.
        asked: Option<CallStop>,
    },
    /// It was asked to stop, did not return in time, and was dropped. A result that comes all the same is counted, and
    /// goes nowhere.
    LeftBehind {
        /// Why it was asked to stop.
        asked: CallStop,
        /// How long it was waited for.
        waited: Duration,
    },
    /// It did not begin, for an interrupt came first.
    NeverStarted {
        /// Who interrupted, and why.
        reason: StopReason,
    },
    /// It panicked.
    Panicked {
        /// Whether it had been asked to stop before.
        asked: Option<CallStop>,
    },
}

/// A call under control. It is no longer when this is dropped.
#[must_use = "the call is not under control once this is dropped"]
pub struct RunningCall {
    shared: Arc<ControllerInner>,
    key: CallKey,
    tool: String,
    /// Of its turn: interrupted with it.
    turn: StopScope,
    /// Its own, which its work looks at.
    scope: StopScope,
    limit: CallLimit,
    cleanup: Option<Cleanup>,
    asked_at: Option<Instant>,
    left_behind: bool,
}

impl Debug for RunningCall {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("RunningCall")
            .field("tool", &self.tool)
            .finish_non_exhaustive()
    }
}

impl RunningCall {
    pub(super) fn begin(
        shared: &Arc<ControllerInner>,
        turn: &Turn,
        call: Registration,
    ) -> Result<Self, Fenced> {
        // A request stops the turns under the same lock, so it comes wholly before this or wholly after it.
        let key = shared.change(|state| match turn.scope.reason() {
            Some(reason) => Err(Fenced { reason }),
            None => Ok(state.begin(call.id, call.tool.clone())),
        })?;
        let scope = match call.interruption {
            Interruption::Stops => turn.scope.child(),
            Interruption::Waits => StopScope::new(),
        };
        Ok(Self {
            shared: Arc::clone(shared),
            key,
            tool: call.tool,
            turn: turn.scope.clone(),
            scope,
            limit: call.limit,
            cleanup: call.cleanup,
            asked_at: None,
            left_behind: false,
        })
    }

    /// Stopped when the call is to end.
    pub fn scope(&self) -> &StopScope {
        &self.scope
    }

    /// Runs the call's work to its end. Asked to stop, the work gets the controller's limit to end by itself.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future drops the work.
    pub async fn drive<T: Send + 'static>(
        mut self,
        work: impl Future<Output = T> + Send + 'static,
    ) -> Driven<T> {
        let mut task = Task::spawn(work, &self);
        let returned = tokio::select! {
            biased; // What has ended counts as ended, even if a stop was asked for meanwhile.
            returned = task.returned() => Some(returned),
            _reason = self.scope.stopped_now() => None,
            () = self.limit.over() => None,
        };
        match returned {
            Some(returned) => returned.driven(self.interrupt().map(CallStop::Interrupt)),
            None => self.stop(&mut task).await,
        }
    }

    /// Waits for work that was asked to stop, as long as the controller's limit allows.
    async fn stop<T: Send + 'static>(&mut self, task: &mut Task<T>) -> Driven<T> {
        let asked = self.ask();
        let asked_at = Instant::now();
        self.asked_at = Some(asked_at);
        let cleanup = self.cleanup.take();
        let cleaned = async {
            if let Some(cleanup) = cleanup {
                cleanup().await;
            }
        };
        let limit = self.shared.config.limit;
        let both = async { tokio::join!(task.returned(), cleaned).0 };
        if let Ok(returned) = tokio::time::timeout(limit, both).await {
            let took_ms = milliseconds(asked_at.elapsed());
            tracing::info!(tool = %self.tool, took_ms, "a tool has stopped");
            return returned.driven(Some(asked));
        }
        self.left_behind = true;
        let waited_ms = milliseconds(limit);
        tracing::warn!(tool = %self.tool, waited_ms, "a tool did not stop in time, and is left behind");
        Driven::LeftBehind {
            asked,
            waited: limit,
        }
    }

    /// The interrupt that the call has met so far.
    fn interrupt(&self) -> Option<StopReason> {
        let met = self.turn.is_stopped_now();
        met.then(|| self.turn.reason()).flatten()
    }

    /// Gives the reason for its stop, and stops its scope if that is the time limit.
    fn ask(&self) -> CallStop {
        let stopped = self.scope.is_stopped_now();
        if let Some(reason) = stopped.then(|| self.scope.reason()).flatten() {
            return CallStop::Interrupt(reason);
        }
        let limit = self.limit.limit().unwrap_or_default();
        self.scope.stop(StopReason {
            source: StopSource::System,
            mode: StopMode::Immediate,
            message: format!("the call took longer than {limit:?}"),
            timestamp: self.shared.config.clock.now(),
        });
        CallStop::Limit(limit)
    }
}

impl Drop for RunningCall {
    fn drop(&mut self) {
        let took = self.asked_at.map(|at| at.elapsed()).unwrap_or_default();
        let (key, left_behind) = (self.key, self.left_behind);
        self.shared
            .change(|state| state.end(key, took, left_behind));
    }
}

/// What came of the task.
enum Returned<T> {
    Value(T),
    NeverStarted(StopReason),
    Panicked,
}

impl<T> Returned<T> {
    fn driven(self, asked: Option<CallStop>) -> Driven<T> {
        match self {
            Self::Value(value) => Driven::Ended { value, asked },
            Self::NeverStarted(reason) => Driven::NeverStarted { reason },
            Self::Panicked => Driven::Panicked { asked },
        }
    }
}

/// The work in a task of its own, so that one that blocks delays no other. Dropped with this.
struct Task<T> {
    result: oneshot::Receiver<Returned<T>>,
    _owner: JoinSet<()>,
}

impl<T: Send + 'static> Task<T> {
    fn spawn(work: impl Future<Output = T> + Send + 'static, call: &RunningCall) -> Self {
        let (shared, turn, tool) = (
            Arc::clone(&call.shared),
            call.turn.clone(),
            call.tool.clone(),
        );
        let (sender, result) = oneshot::channel();
        let mut owner = JoinSet::new();
        owner.spawn(async move {
            // Between the call's registration and this moment it may have been interrupted. Asked under the lock
            // that a request takes, so that the work has begun before the request or does not begin.
            let fence = shared.change(|_state| turn.reason());
            let returned = match fence {
                Some(reason) => Returned::NeverStarted(reason),
                None => Returned::Value(work.await),
            };
            let is_value = matches!(returned, Returned::Value(_));
            if sender.send(returned).is_err() && is_value {
                count_late_result(&*shared.config.counter, &tool);
                tracing::warn!(%tool, "a result came after its call was given up, and was dropped");
            }
        });
        Self {
            result,
            _owner: owner,
        }
    }

    async fn returned(&mut self) -> Returned<T> {
        (&mut self.result).await.unwrap_or(Returned::Panicked)
    }
}

fn milliseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
