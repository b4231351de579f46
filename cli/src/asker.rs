//! A program outside that asks people through a run of its own: an MCP client, or a coding agent with its hook.
//!
//! Such a program has no orchestrator. This process is the worker of its run: it registers the workflow, owns the run
//! while it lives, raises the questions and waits for their decisions, all through the worker protocol.

mod gone;
mod opening;
mod question;
mod refusal;
mod stops;
mod store;

use std::sync::Arc;
use std::time::Duration;

use interrupt_router::RunId;
use jiff::SignedDuration;
use tokio::sync::Mutex;
use workers::{Owned, RunResult, WorkError};

use crate::exit::Failure;

pub(crate) use gone::end_of_gone;
pub(crate) use question::{ProgramQuestion, QuestionWait};
pub(crate) use refusal::by_work;
pub(crate) use store::AskerStore;

/// How long this process owns a run without renewing its lease.
const LEASE: SignedDuration = SignedDuration::from_secs(30);

/// How often a lease is renewed.
const RENEWAL: Duration = Duration::from_secs(10);

/// A program that asks people, with the run that its questions are in.
pub(crate) struct Asker {
    store: Arc<AskerStore>,
    /// The name of the program's session: the same name finds the same questions after a restart.
    name: String,
    /// Whether no later process goes on with its questions.
    ends_with_process: bool,
    held: Mutex<AskerRun>,
}

/// The run of an asker, as far as there is one.
#[derive(Debug, Clone, Copy, Default)]
struct AskerRun {
    run: Option<RunId>,
    /// The epoch in which this process has it.
    epoch: Option<u64>,
}

impl Asker {
    /// An asker that has no run yet: its first question begins one, or continues the one that its name left open.
    pub(crate) fn new(store: Arc<AskerStore>, name: String) -> Self {
        Self {
            store,
            name,
            ends_with_process: false,
            held: Mutex::new(AskerRun::default()),
        }
    }

    /// An asker whose questions are about nothing once this process has gone: they are withdrawn then.
    pub(crate) fn of_this_process(store: Arc<AskerStore>, name: String) -> Self {
        Self {
            ends_with_process: true,
            ..Self::new(store, name)
        }
    }

    /// The run, owned by this process.
    ///
    /// # Errors
    ///
    /// If a person has paused or stopped the run, another process has it, or the store fails.
    ///
    /// # Cancel safety
    ///
    /// Dropped, the run may be owned; the next call continues it.
    async fn owned(&self) -> Result<Owned<'_>, Failure> {
        let mut held = self.held.lock().await;
        if let (Some(run), Some(epoch)) = (held.run, held.epoch) {
            match self.store.protocol().owned(run, epoch).await {
                Ok(owned) => return Ok(owned),
                // The machine slept, or a person stopped the run: check its state.
                Err(WorkError::LeaseLost { .. }) => held.epoch = None,
                Err(error) => return Err(by_work(&error)),
            }
        }
        let owned = match held.run {
            Some(run) => self.take(run).await,
            None => self.begin().await,
        };
        let owned = owned.map_err(|error| by_work(&error))?;
        *held = AskerRun {
            run: Some(owned.run.id),
            epoch: Some(owned.epoch()),
        };
        Ok(owned)
    }

    /// Releases the run: completes it if nothing is left to answer; otherwise the same session can continue it.
    ///
    /// # Errors
    ///
    /// If the store fails; the lease runs out then.
    ///
    /// # Cancel safety
    ///
    /// Dropped, the lease may have to run out.
    pub(crate) async fn close(&self) -> Result<(), Failure> {
        let mut held = self.held.lock().await;
        let (Some(run), Some(epoch)) = (held.run, held.epoch.take()) else {
            return Ok(());
        };
        let closed = async {
            let owned = match self.store.protocol().owned(run, epoch).await {
                Ok(owned) => owned,
                Err(WorkError::LeaseLost { .. } | WorkError::Ended { .. }) => return Ok(()),
                Err(error) => return Err(error),
            };
            let left = self.store.protocol().unsettled(&owned.run).await?;
            if left.iter().any(|it| !question::is_withdrawn(it)) {
                owned.release(true).await?;
            } else {
                let result = RunResult::Completed(serde_json::Value::Null);
                owned.end(result, "its client has gone".to_owned()).await?;
            }
            Ok(())
        };
        closed.await.map_err(|error| by_work(&error))
    }
}
