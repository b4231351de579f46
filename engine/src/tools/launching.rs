//! The workflow that a node is part of, as its tools need it.

use std::sync::Arc;

use async_trait::async_trait;
use interrupt_router::model::ModelCaller;
use tools::Launcher;

use super::round::RoundState;
use journal::error::KeepError;

/// The calls of one round, for code that launches agents for some of them.
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

    /// The call waits because the run cannot be recorded. Returns the reason.
    pub fn fail(&self, call: &str, error: KeepError) -> String {
        self.state.park(call);
        self.state.fail(error).reason
    }
}

/// The workflow of a node, as far as its tools need it.
#[async_trait]
pub trait Ground: Send + Sync {
    /// Launches agents for the calls of a round; `None` if agents launch none, or the node is too deep below others
    /// that were launched.
    fn launcher(&self, round: LaunchRound, most_depth: u32) -> Option<Arc<dyn Launcher>>;

    /// Writes the changed nodes of the run to the store.
    async fn keep_nodes(&self) -> Result<(), KeepError>;
}
