//! The run that an agent's tools belong to. Agents of a workflow in code launch others themselves.

use std::sync::{Arc, Weak};

use async_trait::async_trait;
use tools::Launcher;

use crate::run::LiveRun;
use crate::tools::{Ground, LaunchRound};
use journal::error::KeepError;

/// The run that tools are used in.
pub(super) struct OfRun(pub(super) Weak<LiveRun>);

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
