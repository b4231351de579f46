//! Executes the calls that a model asked for at once: in parallel up to a limit, the rest queued, each to exactly one
//! message, in the order in which they were asked for.

mod one_call;
mod permitted;

use std::fmt::{self, Debug};
use std::num::NonZeroUsize;
use std::sync::Arc;

use futures_util::future::join_all;
use interrupt_router::StopReason;
use tokio::sync::Semaphore;

use crate::call_log::{CallLog, CallLogError, CallPosition, NoCallLog};
use crate::callbacks::{NoCallbacks, ToolCallbacks};
use crate::controller::{ControllerConfig, InterruptController};
use crate::counts::{ToolCounter, ToolCounts};
use crate::limit::CallLimits;
use crate::permission::{Approver, NoApprover, Permission, PermissionPolicy};
use crate::registry::ToolRegistry;
use crate::tool::{NoProgress, ProgressSink, RequestedCall};
use crate::workspace::Workspace;
use journal::tool::ToolMessage;

use one_call::OneCall;

/// How many calls run at once, where nothing else is said.
const AT_ONCE: NonZeroUsize = NonZeroUsize::MIN.saturating_add(7);

/// What an executor is made of.
#[derive(Clone)]
pub struct ExecutorConfig {
    /// The tools that there are.
    pub registry: ToolRegistry,
    /// Controls the calls.
    pub controller: InterruptController,
    /// Where the agent works.
    pub workspace: Workspace,
    /// What is allowed.
    pub policy: PermissionPolicy,
    /// Who is asked where the policy says so.
    pub approver: Arc<dyn Approver>,
    /// Observes what becomes of calls.
    pub callbacks: Arc<dyn ToolCallbacks>,
    /// The record of calls.
    pub call_log: Arc<dyn CallLog>,
    /// Receives the progress of running tools.
    pub progress: Arc<dyn ProgressSink>,
    /// Counts the calls that interrupts stopped.
    pub counter: Arc<dyn ToolCounter>,
    /// How many calls run at once; the others queue.
    pub at_once: NonZeroUsize,
    /// How long calls may take, without the time in which a person is asked.
    pub limits: CallLimits,
}

impl ExecutorConfig {
    /// Without tools, for a folder: eight calls at once, ten minutes each, a policy that asks about everything, and no
    /// one to ask.
    pub fn new(workspace: Workspace) -> Self {
        let counter = Arc::new(ToolCounts::new());
        Self {
            registry: ToolRegistry::new(),
            controller: InterruptController::new(ControllerConfig {
                counter: Arc::clone(&counter) as Arc<dyn ToolCounter>,
                ..ControllerConfig::default()
            }),
            workspace,
            policy: PermissionPolicy::always(Permission::Ask),
            approver: Arc::new(NoApprover),
            callbacks: Arc::new(NoCallbacks),
            call_log: Arc::new(NoCallLog),
            progress: Arc::new(NoProgress),
            counter,
            at_once: AT_ONCE,
            limits: CallLimits::default(),
        }
    }
}

impl Debug for ExecutorConfig {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("ExecutorConfig")
            .field("registry", &self.registry)
            .field("workspace", &self.workspace)
            .field("policy", &self.policy)
            .field("at_once", &self.at_once)
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}

/// What came of the calls that were asked for at once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TurnEnd {
    /// One message for each call, in the order of the calls.
    pub messages: Vec<ToolMessage>,
    /// The interrupt that the turn met, if any.
    pub interrupted: Option<StopReason>,
}

/// Executes calls.
#[derive(Debug, Clone)]
pub struct Executor {
    config: Arc<ExecutorConfig>,
}

impl Executor {
    /// An executor of this configuration. The policy's rules about paths apply to the workspace.
    pub fn new(mut config: ExecutorConfig) -> Self {
        config.workspace = config.workspace.under(config.policy.paths());
        Self {
            config: Arc::new(config),
        }
    }

    /// Its configuration.
    pub fn config(&self) -> &ExecutorConfig {
        &self.config
    }

    /// Executes calls, and returns when each of them has its message. After an interrupt that is when every call that
    /// ran has ended or was given up; those that never started are skipped.
    ///
    /// # Errors
    ///
    /// [`CallLogError`] where a call could not be recorded. No call runs any more then; those that ended have their
    /// record.
    ///
    /// # Cancel safety
    ///
    /// Not cancel safe: dropping the future drops all calls, and how they ended is lost. Interrupt the controller
    /// instead.
    pub async fn execute(&self, calls: Vec<RequestedCall>) -> Result<TurnEnd, CallLogError> {
        let turn = self.config.controller.begin_turn();
        let slots = Semaphore::new(self.config.at_once.get());
        let places = CallPosition::of_all(&calls);
        let all = calls.into_iter().zip(places).map(|(call, place)| {
            let one = OneCall {
                config: &self.config,
                turn: &turn,
                slots: &slots,
                place,
                call,
            };
            one.into_message()
        });
        let messages = join_all(all).await.into_iter().collect::<Result<_, _>>()?;
        Ok(TurnEnd {
            messages,
            interrupted: turn.scope().reason(),
        })
    }
}
