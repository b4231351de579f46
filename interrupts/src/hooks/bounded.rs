//! Runs foreign code: within a time limit, and with its panics contained.

use std::fmt::{self, Display};
use std::future::Future;
use std::time::Duration;

use tokio::runtime::Handle;
use tokio_util::task::{AbortOnDropHandle, TaskTracker};

use super::HookError;

/// How a hook or a callback ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RanHow {
    /// It did what it does.
    Done,
    /// It failed.
    Failed {
        /// Why, in words.
        error: String,
    },
    /// It panicked.
    Panicked {
        /// The panic's message.
        message: String,
    },
    /// It did not end in time, and was dropped.
    TimedOut {
        /// How long it had.
        limit: Duration,
    },
}

impl Display for RanHow {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Done => formatter.write_str("done"),
            Self::Failed { error } => write!(formatter, "failed: {error}"),
            Self::Panicked { message } => write!(formatter, "panicked: {message}"),
            Self::TimedOut { limit } => write!(formatter, "took longer than {limit:?}"),
        }
    }
}

/// A hook or a callback that ran.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ran {
    /// Its name.
    pub name: String,
    /// How it ended.
    pub how: RanHow,
}

/// Where foreign code runs, and for how long at most.
#[derive(Debug, Clone)]
pub(crate) struct Bounds {
    pub(crate) runtime: Handle,
    pub(crate) tasks: TaskTracker,
    pub(crate) limit: Duration,
}

impl Bounds {
    /// Runs a hook or a callback, and logs if it does not succeed.
    pub(crate) async fn run(
        &self,
        name: String,
        work: impl Future<Output = Result<(), HookError>> + Send + 'static,
    ) -> Ran {
        let how = match self.isolate(work).await {
            Ok(Ok(())) => RanHow::Done,
            Ok(Err(error)) => RanHow::Failed {
                error: error.to_string(),
            },
            Err(how) => how,
        };
        match &how {
            RanHow::Done => tracing::debug!(name, "ran"),
            RanHow::Failed { .. } | RanHow::Panicked { .. } | RanHow::TimedOut { .. } => {
                tracing::warn!(name, ?how, "a hook or callback did not do what it does");
            }
        }
        Ran { name, how }
    }

    /// Runs a future as a task of its own. It is dropped when its time is over, or when this is dropped. Code that
    /// blocks its thread cannot be dropped: it is left running, and reported as timed out.
    pub(crate) async fn isolate<T: Send + 'static>(
        &self,
        work: impl Future<Output = T> + Send + 'static,
    ) -> Result<T, RanHow> {
        let task = AbortOnDropHandle::new(self.tasks.spawn_on(work, &self.runtime));
        match tokio::time::timeout(self.limit, task).await {
            Ok(Ok(output)) => Ok(output),
            Ok(Err(ended)) => Err(RanHow::Panicked {
                message: message_of(ended),
            }),
            Err(_elapsed) => Err(RanHow::TimedOut { limit: self.limit }),
        }
    }
}

fn message_of(ended: tokio::task::JoinError) -> String {
    match ended.try_into_panic() {
        Ok(panic) => panic
            .downcast_ref::<&str>()
            .map(|message| (*message).to_owned())
            .or_else(|| panic.downcast_ref::<String>().cloned())
            .unwrap_or_else(|| "it panicked without a message".to_owned()),
        Err(cancelled) => cancelled.to_string(),
    }
}
