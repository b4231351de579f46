//! What a node stands on while its tools are used: the workflow that it is part of.

use std::sync::Arc;

use async_trait::async_trait;
use routing_core::model::ModelCaller;
use tools::Launcher;

use super::round::RoundState;
use journal::error::KeepError;

/// The calls of one round, for whoever launches agents for some of them.
#[derive(Debug, Clone)]
pub struct LaunchRound {
    /// Whose model asked for the calls.
    pub caller: ModelCaller,
    /// Which round of its answer it is.
    pub round: u32,
    /// The ids of the calls, each at its index.
    pub ids: Vec<String>,
    pub(super) state: Arc<RoundState>,
}

impl LaunchRound {
    /// The call waits for an agent that goes on with the run: nothing is recorded of it meanwhile.
    pub fn park(&self, call: &str) {
        self.state.park(call);
        self.state.end();
    }

    /// The call waits, for the run cannot be recorded. What is said of it.
    pub fn fail(&self, call: &str, error: KeepError) -> String {
        self.state.park(call);
        self.state.fail(error).reason
    }
}

/// What a node stands on while its tools are used: its workflow, as far as tools need it.
#[async_trait]
pub trait Ground: Send + Sync {
    /// What launches agents for the calls of a round; `None` where agents launch none, or the node stands too deep
    /// below others that were launched.
    fn launcher(&self, round: LaunchRound, most_depth: u32) -> Option<Arc<dyn Launcher>>;

    /// Tells the store how the nodes of the run stand.
    async fn keep_nodes(&self) -> Result<(), KeepError>;
}
