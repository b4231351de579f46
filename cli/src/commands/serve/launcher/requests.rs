//! What the server requests of the process that executes its runs.

use std::sync::atomic::Ordering;

use agents::plan_execute::{PlanChange, change_plan};
use agents::run::RunOrder;
use async_trait::async_trait;
use control::ResumeOrder;
use interrupt_router::RunId;
use interrupts::life::{Actor, RunState};
use interrupts::store::{CheckpointId, NewRun, Run, RunError};
use interrupts::{Digest, OwnerName};
use jiff::Timestamp;
use journal::ResumeRequest;
use planning::{PlanChangeRequest, PlanEditError, StoredPlan, open_escape};
use server::{
    Holder, LaunchError, LaunchOrder, LaunchRefusal, PlanOrder, PlanOrderError, RunLauncher,
};

use super::{Launcher, RunShare, Word};
use crate::commands::resume::refuse_work;
use crate::commands::serve::order::{is_asked, launched, waits_for_server};
use crate::exit::{Exit, Failure};
use crate::plan;
use crate::refused::by_run;
use crate::run_owner::{
    accept_catalogue, is_gone, refuse_fork, refuse_over, refuse_unread, start_of_fork,
};
use crate::workflows;

impl Launcher {
    async fn row(&self, run: RunId) -> Result<Run, LaunchError> {
        let found = self.0.store().run(run).await?;
        found.ok_or_else(|| LaunchError::Unavailable {
            detail: format!("there is no {run}"),
        })
    }

    /// A change of a plan with the model that it needs, which is paid from the run's budget.
    async fn wanted(&self, run: &Run, wish: PlanChangeRequest) -> Result<PlanChange, Failure> {
        let allows = self.0.defaults.limits_of(&run.content)?.spending();
        plan::wanted(self.0.store(), run, wish, allows).await
    }
}

/// The server's error for a failure.
fn refused(failure: &Failure) -> LaunchError {
    if failure.exit == Exit::Failure {
        let detail = match failure.advice() {
            Some(hint) => format!("{failure} ({hint})"),
            None => failure.to_string(),
        };
        return LaunchError::Unavailable { detail };
    }
    let refusal = if failure.exit == Exit::NotFound {
        LaunchRefusal::Unknown
    } else if failure.exit == Exit::Usage {
        LaunchRefusal::Order
    } else {
        LaunchRefusal::State
    };
    LaunchError::Refused {
        refusal,
        reason: failure.to_string(),
        hint: failure.advice().map(str::to_owned),
    }
}

/// The digest of a fork request.
fn forked(checkpoint: CheckpointId, input: Option<&str>) -> Digest {
    let said = serde_json::json!([checkpoint.to_string(), input]);
    Digest::of(said.to_string().as_bytes())
}

impl Launcher {
    /// The run that an order created before. It is recognised by the request: this server may make something else of it than
    /// another one did.
    async fn known(&self, order: &LaunchOrder) -> Result<Option<RunId>, LaunchError> {
        match self.0.store().run(order.id).await? {
            Some(run) if is_asked(&run.content, order.asked()) => Ok(Some(run.id)),
            Some(run) => Err(LaunchError::Taken { run: run.id }),
            None => Ok(None),
        }
    }
}

fn not_created(error: &RunError) -> LaunchError {
    if let RunError::Taken { run } = error {
        LaunchError::Taken { run: *run }
    } else if let RunError::Store(error) = error {
        LaunchError::Store(error.clone())
    } else {
        refused(&by_run(error))
    }
}

#[async_trait]
impl RunLauncher for Launcher {
    fn late_results(&self) -> u64 {
        self.0.counts.late_results()
    }

    fn takeovers(&self) -> u64 {
        self.0.takeovers.load(Ordering::Relaxed)
    }

    fn is_gone(&self, owner: &OwnerName) -> bool {
        is_gone(owner)
    }

    async fn start(&self, order: LaunchOrder) -> Result<RunId, LaunchError> {
        if let Some(known) = self.known(&order).await? {
            return Ok(known);
        }
        if self.0.tasks.is_closed() {
            let detail = "the server is being stopped".to_owned();
            return Err(LaunchError::Unavailable { detail });
        }
        let (run_order, content) = self.0.defaults.order(&order)?;
        if self.0.share == RunShare::Own && !journal::needs_in(&content).is_empty() {
            return Err(LaunchError::Order {
                field: "options.needs".to_owned(),
                reason: "this server executes its runs itself; with --runs-by-workers, workers that have it do"
                    .to_owned(),
            });
        }
        let root = workflows::root_of(&run_order.workflow);
        let work = self.0.prepare(run_order, &content);
        // What this machine lacks is no fault of the order.
        let work = work.map_err(|failure| {
            if failure.exit == Exit::Failure {
                return refused(&failure);
            }
            LaunchError::Order {
                field: "options".to_owned(),
                reason: failure.to_string(),
            }
        })?;
        let new = NewRun {
            root,
            id: order.id,
            alias: order.alias.clone(),
            content,
        };
        let run = match self.0.store().create_run(new).await {
            Ok(run) => run,
            Err(error) => {
                // Another server may have received the same order, was faster, and made something else of it.
                let known = self.known(&order).await?;
                return known.ok_or_else(|| not_created(&error));
            }
        };
        // The same request may have been faster.
        if run.state != RunState::Created {
            return Ok(run.id);
        }
        let begun = self.begin(run.id, work).await;
        begun.map_err(|failure| refused(&failure))?;
        Ok(run.id)
    }

    fn holder(&self, run: &Run, _now: Timestamp) -> Holder {
        if self.0.here().contains(&run.id) {
            Holder::Here
        } else if self.0.run_owner.is_held_elsewhere(run) {
            Holder::Elsewhere
        } else {
            Holder::Nobody
        }
    }

    fn is_taken_up(&self, run: &Run) -> bool {
        waits_for_server(run)
    }

    fn watch(&self, run: &Run) {
        if self.is_at_work(run) || self.is_resting(run) {
            self.look_when_left(run.id);
        }
    }

    async fn wake(&self, run: RunId) -> Result<(), LaunchError> {
        let row = self.row(run).await?;
        let woken = self.go_on(&row, Word::News, None).await;
        woken.map_err(|failure| refused(&failure))
    }

    async fn resume(&self, run: RunId, request: ResumeRequest) -> Result<(), LaunchError> {
        let row = self.row(run).await?;
        let resumed = self.go_on(&row, Word::Person, Some(&request)).await;
        resumed.map_err(|failure| refused(&failure))
    }

    async fn fork(
        &self,
        checkpoint: CheckpointId,
        id: RunId,
        asked: ResumeOrder,
        by: Actor,
    ) -> Result<RunId, LaunchError> {
        let (store, input) = (self.0.store(), asked.input.as_deref());
        let Some(from) = store.run(checkpoint.run).await? else {
            let run = checkpoint.run;
            return Err(not_created(&RunError::Unknown { run }));
        };
        refuse_work(&from).map_err(|it| refused(&it))?;
        let order = RunOrder::from_content(&from.content)
            .map_err(|error| LaunchError::in_state(crate::exit::causes(&error)))?;
        let work = self.0.prepare(order, &from.content);
        let work = work.map_err(|it| refused(&it))?;
        refuse_fork(work.workflow()).map_err(|it| refused(&it))?;
        let read = refuse_unread(store, work.workflow(), Some(checkpoint)).await;
        read.map_err(|it| refused(&it))?;
        let new = NewRun {
            root: None,
            id,
            alias: None,
            content: launched(&from.content, &by, forked(checkpoint, input)),
        };
        // The input is created with the run: whenever this process dies, the run never goes on without it.
        let start = start_of_fork((id, work.workflow()), input, asked.drop_pending);
        let start = start.map_err(|it| refused(&it))?;
        let is_over = refuse_over(store, work.workflow(), checkpoint, &start).await;
        is_over.map_err(|it| refused(&it))?;
        let forked = store.fork_run_with(checkpoint, new, start).await;
        let forked = forked.map_err(|error| not_created(&error))?;
        if self.0.run_owner.is_held_elsewhere(&forked) {
            return Ok(forked.id);
        }
        if forked.state == RunState::Created {
            let begun = self.begin(forked.id, work).await;
            begun.map_err(|failure| refused(&failure))?;
        } else {
            // On a repeated request it has begun already, but its owner may have gone.
            self.look_again(forked.id).await;
        }
        Ok(forked.id)
    }

    async fn accept_catalogue(&self, run: RunId, by: Actor) -> Result<(), LaunchError> {
        let row = self.row(run).await?;
        let accepted = accept_catalogue(self.0.run_owner.shared_store(), &row, by);
        accepted.await.map_err(|failure| refused(&failure))
    }

    async fn change_plan(&self, order: PlanOrder) -> Result<StoredPlan, PlanOrderError> {
        let run = order.run;
        let found = self.0.store().run(run).await;
        let row = found.map_err(PlanEditError::from)?;
        let row = row.ok_or(PlanEditError::NoRun { run })?;
        let store = self.0.run_owner.shared_store();
        let bench = plan::bench(store, &row, order.by, order.if_version);
        let bench = bench.map_err(|failure| refused(&failure))?;
        let wanted = self.wanted(&row, order.wish).await;
        let wanted = wanted.map_err(|failure| refused(&failure))?;
        let changed = change_plan(bench, wanted).await;
        // A decision may have come while this process owned the run: no process could continue it then.
        if matches!(open_escape(self.0.store(), &row).await, Ok(None)) {
            self.look_again(run).await;
        }
        Ok(changed?)
    }
}
