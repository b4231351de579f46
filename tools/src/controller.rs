//! The controller of running calls: which run, which have to stop, and when all have.
//!
//! A loop asks it for a turn and starts its calls in that turn. An interrupt stops the turns that there are, for
//! good; what comes after gets a new one. Tokens are never cleared: a call that looks late still sees the stop.

mod cancellation;
mod drive;
mod section;
mod state;

use std::fmt::{self, Debug};
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use interrupt_router::{StopMode, StopReason, StopScope};
use interrupts::{Clock, SystemClock};
use tokio::sync::watch;

use crate::counts::{ToolCounter, ToolCounts, reason_label};
use crate::limit::CallLimit;
use crate::tool::{CallId, Interruption};

pub use cancellation::{Cancellation, StoppedCall};
pub use drive::{CallStop, Driven, RunningCall};
pub use section::NonInterruptible;

use state::ControllerState;

/// What is done to clean up after a call when it has to stop, beside its scope: runs at once with the tool.
pub type Cleanup = Box<dyn FnOnce() -> Pin<Box<dyn Future<Output = ()> + Send>> + Send>;

/// What a controller is made of.
#[derive(Clone)]
pub struct ControllerConfig {
    /// An immediate stop of this scope stops all calls too. No section delays that.
    pub scope: StopScope,
    /// How long a call may take to end once it was asked to. Longer than the containment's grace.
    pub limit: Duration,
    /// Gives the time of stops that were not asked for from outside.
    pub clock: Arc<dyn Clock>,
    /// Counts interrupted calls and late results.
    pub counter: Arc<dyn ToolCounter>,
}

impl Default for ControllerConfig {
    /// A scope of its own, ten seconds, and counts that no one reads.
    fn default() -> Self {
        Self {
            scope: StopScope::new(),
            limit: Duration::from_secs(10),
            clock: Arc::new(SystemClock),
            counter: Arc::new(ToolCounts::new()),
        }
    }
}

impl Debug for ControllerConfig {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("ControllerConfig")
            .field("scope", &self.scope)
            .field("limit", &self.limit)
            .finish_non_exhaustive()
    }
}

/// What came of a request to interrupt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Requested {
    /// It stops so many calls that run, and keeps all others of their turns from starting.
    Stops(usize),
    /// The same as a request that is under way or that no one has taken note of yet.
    Repeated,
    /// It waits until the section that must not be interrupted has ended.
    Deferred,
}

/// Controls the running calls of an agent, whether in a loop of its own or in a chat. Its clones are the same one.
#[derive(Clone)]
pub struct InterruptController {
    shared: Arc<ControllerInner>,
}

struct ControllerInner {
    config: ControllerConfig,
    state: Mutex<ControllerState>,
    /// How many cancellations have come to their end.
    finished: watch::Sender<u64>,
    /// How many sections run that must not be interrupted.
    sections: watch::Sender<usize>,
}

/// A turn: the calls of one step of an agent. Once it is interrupted, nothing more starts in it.
#[derive(Debug, Clone)]
pub struct Turn {
    scope: StopScope,
}

impl Turn {
    /// Stopped when the turn is interrupted.
    pub fn scope(&self) -> &StopScope {
        &self.scope
    }
}

/// A call that is about to start.
pub struct Registration {
    /// Its id; calls with equal ids are different calls.
    pub id: CallId,
    /// The tool's name.
    pub tool: String,
    /// What an interrupt does to it.
    pub interruption: Interruption,
    /// Its time limit.
    pub limit: CallLimit,
    /// What else is to be done when it has to stop.
    pub cleanup: Option<Cleanup>,
}

impl Debug for Registration {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Registration")
            .field("id", &self.id)
            .field("tool", &self.tool)
            .field("interruption", &self.interruption)
            .finish_non_exhaustive()
    }
}

/// A call did not start, for an interrupt came first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fenced {
    /// Who interrupted, and why.
    pub reason: StopReason,
}

impl InterruptController {
    /// A controller of nothing yet.
    pub fn new(config: ControllerConfig) -> Self {
        let state = ControllerState::new(config.scope.child());
        Self {
            shared: Arc::new(ControllerInner {
                config,
                state: Mutex::new(state),
                finished: watch::Sender::new(0),
                sections: watch::Sender::new(0),
            }),
        }
    }

    /// Begins a turn. While a cancellation is under way it is one in which nothing starts.
    pub fn begin_turn(&self) -> Turn {
        Turn {
            scope: self.shared.change(|state| state.turns().child()),
        }
    }

    /// Lets a call start in a turn, from now on under control.
    ///
    /// # Errors
    ///
    /// [`Fenced`] where the turn was interrupted, gracefully too, or a cancellation is under way.
    pub fn register(&self, turn: &Turn, call: Registration) -> Result<RunningCall, Fenced> {
        RunningCall::begin(&self.shared, turn, call)
    }

    /// Interrupts: all running calls are asked to stop before this returns, and nothing more starts in their turns. May
    /// be called from any thread. The mode does not matter: a tool is stopped, or not at all.
    pub fn request(&self, reason: StopReason) -> Requested {
        self.shared.request(reason)
    }

    /// Interrupts, and waits until every call has ended or was given up. A call that an interrupt does not stop is
    /// waited for to its end.
    ///
    /// # Cancel safety
    ///
    /// Safe: dropped, the calls are still stopped, but not waited for.
    pub async fn cancel(&self, reason: StopReason) -> Cancellation {
        let mut finished = self.shared.finished.subscribe();
        let before = *finished.borrow_and_update();
        if self.request(reason.clone()) == Requested::Deferred {
            return Cancellation::deferred(reason);
        }
        // The sender lives in `self`. Each call ends within its limit or is given up, so this comes to an end.
        // `wait_for` returns a lock that the next count needs.
        drop(finished.wait_for(|finished| *finished > before).await);
        let last = self.shared.change(|state| state.last_cancellation());
        last.unwrap_or_else(|| Cancellation::of(reason))
    }

    /// Takes note of the interrupt since the last time, if there was one: the caller that gets it tells the agent or
    /// the person what the choices are.
    pub fn consume_interrupts(&self) -> Option<StopReason> {
        self.shared.change(ControllerState::consume)
    }

    /// Begins a section that must not be interrupted: a request waits until it has ended.
    pub fn non_interruptible(&self) -> NonInterruptible {
        NonInterruptible::begin(&self.shared)
    }

    /// Whether a request would wait for the end of such a section now.
    pub fn defers(&self) -> bool {
        self.shared.change(|state| state.sections() > 0)
    }

    /// Waits until a request would stop at once what runs.
    ///
    /// # Cancel safety
    ///
    /// Safe.
    pub async fn interruptible(&self) {
        let mut sections = self.shared.sections.subscribe();
        // The sender lives in `self`. `wait_for` returns a lock that the end of a section needs.
        drop(sections.wait_for(|sections| *sections == 0).await);
    }

    /// How many calls run.
    pub fn running(&self) -> usize {
        self.shared.change(|state| state.running())
    }
}

impl Debug for InterruptController {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("InterruptController")
            .field("running", &self.running())
            .finish_non_exhaustive()
    }
}

impl ControllerInner {
    /// Changes the state. Nothing that may block is done inside.
    fn change<T>(&self, change: impl FnOnce(&mut ControllerState) -> T) -> T {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let result = change(&mut state);
        let (finished, sections) = (state.finished(), state.sections());
        // Sent under the lock, so that no receiver sees an older number after a newer one.
        self.finished
            .send_if_modified(|known| std::mem::replace(known, finished) != finished);
        self.sections
            .send_if_modified(|known| std::mem::replace(known, sections) != sections);
        result
    }

    fn request(&self, reason: StopReason) -> Requested {
        let reason = StopReason {
            mode: StopMode::Immediate,
            ..reason
        };
        let requested = self.change(|state| state.request(reason.clone()));
        if let Requested::Stops(running) = requested {
            let source = reason_label(reason.source);
            tracing::info!(reason = %reason.message, source, running, "cancelling all running tools");
        }
        requested
    }
}
