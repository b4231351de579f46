//! What the tools of an agent stand on: its run. Agents of a workflow in code launch others themselves.

use std::sync::{Arc, Weak};

use async_trait::async_trait;
use routing_core::NodeId;
use tools::Launcher;

use crate::run::LiveRun;
use crate::tools::{Ground, LaunchRound, Tooling};
use journal::error::KeepError;

/// The run that tools are used in.
struct OfRun(Weak<LiveRun>);

impl LiveRun {
    /// The tools that an agent uses from now on, where there are any: it launches no agents by them.
    pub fn tools_for(self: &Arc<Self>, node: &NodeId) -> Option<&Arc<Tooling>> {
        let tooling = self.tooling.as_ref()?;
        tooling.stand(node, Arc::new(OfRun(Arc::downgrade(self))));
        Some(tooling)
    }
}

#[async_trait]
impl Ground for OfRun {
    fn launcher(&self, _round: LaunchRound, _most_depth: u32) -> Option<Arc<dyn Launcher>> {
        None
    }

    async fn keep_nodes(&self) -> Result<(), KeepError> {
        match self.0.upgrade() {
            Some(live) => live.keep_nodes().await,
            None => Ok(()),
        }
    }
}
