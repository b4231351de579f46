//! Hooks: an embedder's code that runs before and after an interrupt, and around steps and uses of tools.
//!
//! Each hook runs as a task of its own, within a time limit. A hook that fails, panics or hangs is logged and reported;
//! it stops neither the other hooks nor what it was called about. A hook may ask for a stop itself.

mod bounded;

use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use futures_util::future::join_all;
use interrupt_router::{NodeId, RunId};

pub(crate) use bounded::Bounds;
pub use bounded::{Ran, RanHow};

use crate::life::Interrupt;
use crate::manager::{StopHandle, StopRequest, StopRequests};

/// Why a hook or a callback failed, in words.
pub type HookError = Box<dyn std::error::Error + Send + Sync>;

/// When a hook is called, and about what.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum HookTrigger {
    /// A stop was requested. The scopes that it reaches in this process are stopped at the same time; nothing is
    /// recorded yet.
    BeforeInterrupt {
        /// The request.
        request: StopRequest,
    },
    /// A stop has taken effect and is recorded.
    AfterInterrupt {
        /// Its interrupt.
        interrupt: Box<Interrupt>,
    },
    /// A node is about to take a step.
    BeforeStep {
        /// Its run.
        run: RunId,
        /// The node.
        node: NodeId,
        /// The step.
        step: u32,
    },
    /// A node has taken a step.
    AfterStep {
        /// Its run.
        run: RunId,
        /// The node.
        node: NodeId,
        /// The step.
        step: u32,
    },
    /// A tool is about to be used.
    BeforeTool {
        /// The run.
        run: RunId,
        /// The node that uses it.
        node: NodeId,
        /// The tool.
        tool: String,
        /// The id of the call.
        call: String,
    },
    /// A tool was used.
    AfterTool {
        /// The run.
        run: RunId,
        /// The node that used it.
        node: NodeId,
        /// The tool.
        tool: String,
        /// The id of the call.
        call: String,
        /// Its outcome, in a word.
        outcome: String,
    },
}

/// Code that runs at certain moments.
#[async_trait]
pub trait Hook: Send + Sync {
    /// The name in logs and reports.
    fn name(&self) -> &str;

    /// Called at every moment; most hooks act on one of them. `stops` lets it ask for a stop.
    ///
    /// # Errors
    ///
    /// Any failure of the hook; it is logged and reported.
    ///
    /// # Cancel safety
    ///
    /// It is dropped when its time limit is over.
    async fn on(&self, moment: &HookTrigger, stops: &HookStops) -> Result<(), HookError>;
}

/// Lets a hook ask for stops. No hook is called about a stop that a hook asked for, so hooks cannot trigger each other
/// for ever.
#[derive(Clone)]
pub struct HookStops {
    pub(crate) requests: StopRequests,
}

impl HookStops {
    /// Asks for a stop, as [`InterruptManager::request`](crate::manager::InterruptManager::request) does.
    pub fn request(&self, request: StopRequest) -> StopHandle {
        self.requests.by_hook(request)
    }
}

/// The hooks of a manager.
#[derive(Default)]
pub(crate) struct Hooks {
    hooks: Mutex<Vec<Arc<dyn Hook>>>,
}

impl Hooks {
    pub(crate) fn add(&self, hook: Arc<dyn Hook>) {
        self.hooks
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(hook);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.hooks
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .is_empty()
    }

    /// Calls all hooks at once, and returns when each has ended or its time is over.
    pub(crate) async fn call(
        &self,
        bounds: &Bounds,
        moment: HookTrigger,
        stops: &HookStops,
    ) -> Vec<Ran> {
        let hooks = self
            .hooks
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        let moment = Arc::new(moment);
        let calls = hooks.into_iter().map(|hook| {
            let name = hook.name().to_owned();
            let (moment, stops) = (Arc::clone(&moment), stops.clone());
            bounds.run(name, async move { hook.on(&moment, &stops).await })
        });
        join_all(calls).await
    }
}
