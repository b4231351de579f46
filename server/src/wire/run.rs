//! A run as callers see it.

use interrupts::store::Run;
use serde::Serialize;
use utoipa::ToSchema;

use super::names::RunStateName;
use crate::app::App;
use crate::events::goal_of;

/// A run as callers see it.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct RunView {
    /// Its id.
    pub(crate) run_id: String,
    /// Its client's own name for it, or its id.
    pub(crate) thread_id: String,
    /// Where it stands.
    #[schema(value_type = RunStateName)]
    pub(crate) status: String,
    /// Why it stands there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) reason: Option<String>,
    /// What it shall reach.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) goal: Option<String>,
    /// Whether a process executes it now.
    pub(crate) executing: bool,
    /// Whether it waits for a server: no process executes it, and whichever executes runs next goes on with it.
    pub(crate) waits_for_server: bool,
    /// The number of its last checkpoint; 0 before the first.
    pub(crate) checkpoint: u64,
    /// The checkpoint that it was forked from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) forked_from: Option<String>,
    /// When it was created.
    pub(crate) created_at: String,
    /// The interrupts that are open, where they were counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) open_interrupts: Option<Vec<String>>,
    /// Counts its changes.
    pub(crate) version: u64,
}

/// A part of the list of runs.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct RunPage {
    /// The runs.
    pub(crate) runs: Vec<RunView>,
    /// Where the next part begins; absent at the end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) next_cursor: Option<String>,
}

impl RunView {
    /// A run as it is seen now.
    pub(crate) fn of(run: &Run, app: &App) -> Self {
        Self {
            run_id: run.id.to_string(),
            thread_id: run.alias.clone().unwrap_or_else(|| run.id.to_string()),
            status: run.state.name().to_owned(),
            reason: run.reason.clone(),
            goal: goal_of(run),
            executing: app.is_executed(run),
            waits_for_server: app.waits_for_server(run),
            checkpoint: run.checkpoint,
            forked_from: run.forked_from.map(|checkpoint| checkpoint.to_string()),
            created_at: run.created_at.to_string(),
            open_interrupts: None,
            version: run.version,
        }
    }
}
