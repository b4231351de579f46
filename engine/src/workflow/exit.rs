//! Why a workflow's code ends early.

use std::error::Error;
use std::fmt;

use interrupt_router::{DispatchError, StopReason};

use crate::run::{RunEnd, RunError, StepLimitReached};
use journal::error::KeepError;

/// Why a workflow's code ends early. Pass it on with `?`.
///
/// It is no [`Error`], because most exits are not errors: a run that was stopped from outside or waits for a person is
/// at rest, and goes on from there. An error of the workflow's own becomes one by [`Exit::failed`] or
/// [`Exit::paused_by`].
pub struct Exit(Box<Why>);

enum Why {
    Failed(RunError),
    Rests(RunEnd),
    Pruned(String),
}

impl Exit {
    /// Something of the workflow's own failed, and its run with it, for good.
    pub fn failed(error: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        RunError::of_workflow(error).into()
    }

    /// Something failed that may succeed when the run goes on: it is paused, and the hint says what helps.
    pub fn paused_by(error: impl Into<Box<dyn Error + Send + Sync>>, hint: &'static str) -> Self {
        Self(Box::new(Why::Failed(RunError::resumable(error, hint))))
    }

    /// The run is over, for this reason.
    pub fn stopped(reason: impl Into<String>) -> Self {
        Self::rests(RunEnd::Stopped(reason.into()))
    }

    pub(crate) fn interrupted(reason: StopReason) -> Self {
        Self::rests(RunEnd::Interrupted(reason))
    }

    pub(crate) fn waiting() -> Self {
        Self::rests(RunEnd::Waiting)
    }

    pub(crate) fn pruned(reason: String) -> Self {
        Self(Box::new(Why::Pruned(reason)))
    }

    fn rests(end: RunEnd) -> Self {
        Self(Box::new(Why::Rests(end)))
    }

    /// Why the agent was cut off, if nothing else happened: the run may go on without it and its result.
    ///
    /// # Errors
    ///
    /// The exit, if it is another one.
    pub fn into_cut_off(self) -> Result<String, Self> {
        match *self.0 {
            Why::Pruned(reason) => Ok(reason),
            why @ (Why::Failed(_) | Why::Rests(_)) => Err(Self(Box::new(why))),
        }
    }

    /// How the run ends by it.
    pub(crate) fn into_end(self) -> Result<RunEnd, RunError> {
        match *self.0 {
            Why::Failed(error) => Err(error),
            Why::Rests(end) => Ok(end),
            Why::Pruned(reason) => Ok(RunEnd::Stopped(reason)),
        }
    }
}

impl fmt::Debug for Exit {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &*self.0 {
            Why::Failed(error) => write!(formatter, "failed: {}", error.chain()),
            Why::Rests(end) => write!(formatter, "{end:?}"),
            Why::Pruned(reason) => write!(formatter, "cut off: {reason}"),
        }
    }
}

/// What can go wrong in a run itself.
macro_rules! of_a_run {
    ($($error:ty),* $(,)?) => {$(
        impl From<$error> for Exit {
            fn from(error: $error) -> Self {
                Self(Box::new(Why::Failed(error.into())))
            }
        }
    )*};
}

of_a_run!(
    RunError,
    KeepError,
    StepLimitReached,
    interrupt_router::ParseIdError,
    serde_json::Error,
);

impl From<DispatchError<Self>> for Exit {
    fn from(error: DispatchError<Self>) -> Self {
        match error {
            DispatchError::Action { source, .. } => source,
            DispatchError::Route(error) => Self::failed(error),
            nowhere @ DispatchError::NoAction { .. } => Self::failed(nowhere.to_string()),
        }
    }
}
