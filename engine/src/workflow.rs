//! Your own orchestrator: its agents, where their interrupts go, and what its run does.
//!
//! A [`Workflow`] is ordinary code. Everything it does through its [`Agent`]s is recorded in the run's journal under
//! the place where it was done: an answer of a model, an effect, an interrupt and its decision, a message. A resumed
//! run executes the code again from its start, and reads each of these instead of doing it again. So the code between
//! them has to do the same each time: what may change between executions, the clock, chance, another system, belongs
//! into an [`Agent::effect`].

mod agent;
mod decided;
mod erased;
mod executing;
mod exit;
mod ground;

use std::sync::Arc;

use async_trait::async_trait;
use interrupt_router::bus::EventBus;
use interrupt_router::handler::UnifiedInterruptHandler;
use interrupt_router::{
    AgentType, Blackboard, InterruptRoutes, NodeId, RunId, SealedInterrupt, StopScope,
};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::run::{LiveRun, NodeDirectory, RunInbox};

pub use agent::{Agent, Effect};
pub use decided::{Decided, Declined, Routed};
pub use erased::ErasedWorkflow;
pub use executing::{Executed, Execution, WorkflowMistake, catalogue_of};
pub use exit::Exit;

/// An orchestrator: its agents, where their interrupts go, and what its run does.
#[async_trait]
pub trait Workflow: Sized + Send + Sync + 'static {
    /// Its name, under which its runs are kept. A run is resumed by the workflow of its name and no other.
    const NAME: &'static str;

    /// Who may raise an interrupt.
    type Kind: AgentType;

    /// The kind of the agent with which a run begins. All others are below it, and stops of the whole run name it.
    const FIRST: Self::Kind;

    /// What each of them may ask: the sealed request.
    type Request: SealedInterrupt<Kind = Self::Kind>;

    /// Where the answer to an interrupt may send a run.
    type Routing: InterruptRoutes<AgentType = <Self::Kind as AgentType>::Route>;

    /// What a run is to do. It is kept with the run.
    type Input: Serialize + DeserializeOwned + Send + Sync;

    /// What comes of a run. It is kept with the run.
    type Output: Serialize + DeserializeOwned + Send;

    /// What a run does, beginning with its first agent. It is executed from its start whenever the run goes on; see the
    /// module's text.
    ///
    /// # Errors
    ///
    /// An [`Exit`] that a method of an agent has returned is passed on with `?`: the run is waiting, or was stopped. An
    /// error of the workflow's own becomes one by [`Exit::failed`] or [`Exit::paused_by`].
    ///
    /// # Cancel safety
    ///
    /// It may be dropped at any await, and is executed again when the run goes on.
    async fn run(&self, first: Agent<Self>, input: Self::Input) -> Result<Self::Output, Exit>;
}

/// A run of a workflow, as its code sees it.
pub struct Run<W: Workflow> {
    pub(crate) shared: Arc<RunContext<W>>,
}

/// What the agents of a run share.
pub(crate) struct RunContext<W: Workflow> {
    pub(crate) live: Arc<LiveRun>,
    pub(crate) handler: UnifiedInterruptHandler<W::Request, W::Routing>,
    pub(crate) bus: Arc<EventBus<W::Kind>>,
    pub(crate) blackboard: Blackboard,
}

impl<W: Workflow> Clone for Run<W> {
    fn clone(&self) -> Self {
        Self {
            shared: Arc::clone(&self.shared),
        }
    }
}

impl<W: Workflow> Run<W> {
    /// The run's id.
    pub fn id(&self) -> RunId {
        self.shared.live.run
    }

    /// Where supervisors publish events for the run's agents.
    pub fn bus(&self) -> Arc<EventBus<W::Kind>> {
        Arc::clone(&self.shared.bus)
    }

    /// The run's agents and what each does.
    pub fn nodes(&self) -> Arc<NodeDirectory> {
        Arc::clone(&self.shared.live.nodes)
    }

    /// Delivers to the run's agents, for code that takes deliveries from the store.
    pub fn inbox(&self) -> RunInbox {
        RunInbox::of(Arc::clone(&self.shared.live))
    }

    /// The scope that stops an agent, and all below it, on request.
    pub fn scope_of(&self, agent: &NodeId) -> StopScope {
        self.shared.live.scope_of(agent)
    }
}
