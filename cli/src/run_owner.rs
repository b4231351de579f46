//! Runs that this process owns: kept in the store, stopped by signals, limits and other processes.

mod abandoned;
mod accepting;
mod checkpoint;
mod given;
mod kind_routes;
mod lapsed;
mod lease_errors;
mod signal_prompts;
mod whole_run;

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use interrupt_router::RunId;
use interrupts::life::{Actor, Family, Lease, RunState, State};
use interrupts::manager::{
    InterruptManager, KeepError, ManagerSettings, OwnedRun, PausedCancellation, RunEnd, Taking,
    Times,
};
use interrupts::policy::Policy;
use interrupts::signals::{Listening, OsSignals, SignalSettings, listen};
use interrupts::store::{Filter, NewRun, Run, RunError, Store};
use interrupts::{NameError, NoNotifier, Notifier, OwnerName};
use store::notifier_at;
use tokio::runtime::Handle;
use tokio::time::Instant;

use agents::run::{RunOrder, save_orphaned};
use engine::run::{Hold, RunStore, Working};
use journal::{Allowance, ResumeRequest, Workflow};

use crate::exit::{Exit, Failure, causes};
use crate::listing;
use crate::refused::by_run;
use crate::storage::Storage;
use crate::workflows;

pub(crate) use accepting::accept_catalogue;
pub(crate) use checkpoint::{refuse_over, refuse_unread};
pub(crate) use given::{refuse_fork, refuse_said, start_of_fork};
pub(crate) use signal_prompts::{SeenSignal, SignalPrompts, words};

use abandoned::AbandonedWork;
pub(crate) use engine::hosting::{
    Control, LateInbox, gone_owner, has_process, in_words as owner_words, is_gone, is_process,
    own_name,
};
use engine::hosting::{ManagerNotifier, has_process_at};
use kind_routes::CatalogueRoutes;
pub(crate) use lease_errors::not_taken;
use whole_run::{first_node, goes_on_without, leaves_agents_out};
pub(crate) use whole_run::{is_for_whoever_holds, workflow_of};

/// How long to wait for a halted run that another process owns: usually that process carries out a stop or changes a
/// plan, and releases it.
const WHILE_IT_STANDS: Duration = Duration::from_secs(3);

/// How long to wait for a run that another process seems to execute. A run whose process died may have been taken only
/// to carry out a stop.
const WHILE_IT_WORKS: Duration = Duration::from_secs(1);

/// How often to try again meanwhile.
const PACE: Duration = Duration::from_millis(20);

/// How much longer than its own time limit a hook is waited for.
const AFTER_ITS_TIME: Duration = Duration::from_secs(2);

/// The manager of this process, over a store.
pub(crate) struct RunOwner {
    pub(crate) manager: InterruptManager,
    kind_routes: Arc<CatalogueRoutes>,
    storage: Storage,
    owner: OwnerName,
    /// The leases that this process has watched for long enough after they had run out.
    outlasted: Mutex<HashMap<RunId, Lease>>,
}

/// A run that this process owns.
pub(crate) struct LocalRun {
    pub(crate) run: Arc<OwnedRun>,
    pub(crate) inbox: Arc<LateInbox>,
    pub(crate) control: Arc<Control>,
}

impl RunOwner {
    /// A manager over a store, with a notifier of its own, and with time for the hooks of a policy.
    ///
    /// # Errors
    ///
    /// [`NameError`] if this process can be given no name.
    pub(crate) fn over(storage: Storage, policy: &Policy) -> Result<Self, NameError> {
        Self::with_times(storage, times_for(policy))
    }

    /// A manager over a store, with this much time for its runs to stop when the process shuts down, and as much again
    /// once they have to stop at once; with time for the hooks of a policy.
    ///
    /// # Errors
    ///
    /// [`NameError`] if this process can be given no name.
    pub(crate) fn with_grace(
        storage: Storage,
        policy: &Policy,
        grace: Duration,
    ) -> Result<Self, NameError> {
        let times = Times {
            grace,
            ..times_for(policy)
        };
        Self::with_times(storage, times)
    }

    /// A manager of a process that listens to its own notifier: this one listens to none, and leaves that one in its
    /// place.
    ///
    /// # Errors
    ///
    /// [`NameError`] if this process can be given no name.
    pub(crate) fn beside(storage: Storage) -> Result<Self, NameError> {
        Self::with_notifier(storage, Times::default(), Arc::new(NoNotifier))
    }

    fn with_times(storage: Storage, times: Times) -> Result<Self, NameError> {
        let notifier = notifier_at(storage.location(), &own_name()?);
        Self::with_notifier(storage, times, notifier)
    }

    fn with_notifier(
        storage: Storage,
        times: Times,
        notifier: Arc<dyn Notifier>,
    ) -> Result<Self, NameError> {
        let owner = own_name()?;
        let kind_routes = Arc::new(CatalogueRoutes::new()?);
        let known = Arc::clone(&kind_routes) as Arc<_>;
        let mut settings = ManagerSettings::new(Arc::clone(&storage.store), owner.clone(), known);
        settings.notifier = notifier;
        settings.remains = Arc::new(AbandonedWork);
        settings.times = times;
        Ok(Self {
            manager: InterruptManager::new(settings, Handle::current()),
            kind_routes,
            storage,
            owner,
            outlasted: Mutex::default(),
        })
    }

    /// Where the changes of a run's tools are kept.
    pub(crate) fn edits_of(&self, run: RunId) -> Option<PathBuf> {
        self.storage.edits_of(run)
    }

    /// The name under which this process owns runs.
    pub(crate) const fn owner(&self) -> &OwnerName {
        &self.owner
    }

    /// Where everything is kept.
    pub(crate) fn store(&self) -> &dyn Store {
        &*self.storage.store
    }

    /// The same, as a shared reference.
    pub(crate) const fn shared_store(&self) -> &Arc<dyn Store> {
        &self.storage.store
    }

    /// Carries out the stops of a run that no process executes. Returns whether it could: not if a process executes the
    /// run, which then does so, or if the run has ended.
    ///
    /// # Errors
    ///
    /// If the store cannot be written; the requests stay.
    ///
    /// # Cancel safety
    ///
    /// Dropped, the run may be owned for some seconds more; its next owner completes its stops.
    pub(crate) async fn carry_out(&self, run: &Run) -> Result<bool, Failure> {
        let workflow = workflow_of(run);
        let (node, leaves_out) = (first_node(&workflow)?, goes_on_without(run));
        self.kind_routes.know(run.id, &workflow);
        let save = |epoch| save_orphaned(self.store(), run, epoch);
        let carried = self
            .manager
            .carry_out_saved(run.id, node, gone_owner(run), leaves_out, save)
            .await;
        could_be_taken(run, carried)
    }

    /// Ends a cancelled run that no process executes. Returns whether it could: not if a process executes the run,
    /// which then ends it, or if the run has ended.
    ///
    /// # Errors
    ///
    /// If the store cannot be written; the decision stays, and the process that resumes the run ends it.
    ///
    /// # Cancel safety
    ///
    /// As [`RunOwner::carry_out`].
    pub(crate) async fn give_up(
        &self,
        run: &Run,
        because: PausedCancellation,
    ) -> Result<bool, Failure> {
        let workflow = workflow_of(run);
        let (node, leaves_out) = (first_node(&workflow)?, goes_on_without(run));
        self.kind_routes.know(run.id, &workflow);
        let given_up = self
            .manager
            .give_up(run.id, node, gone_owner(run), leaves_out, because)
            .await;
        could_be_taken(run, given_up)
    }

    /// Releases a run in its current state, for another process to execute.
    ///
    /// # Errors
    ///
    /// If the store cannot be written; the lease runs out then.
    ///
    /// # Cancel safety
    ///
    /// Dropped, the run may be owned for some seconds more.
    async fn let_go(&self, kept: LocalRun) -> Result<(), Failure> {
        let LocalRun { run, control, .. } = kept;
        let id = run.run();
        drop(control);
        if let Ok(run) = Arc::<OwnedRun>::try_unwrap(run) {
            let settled = run.settle(RunEnd::Stopped).await;
            settled.map_err(|error| not_taken(id, &error))?;
        }
        self.forget(id);
        Ok(())
    }

    /// Lets a worker continue a paused run: the run works again, and any worker can take it. A person who resumes it
    /// lifts its pauses, and the message is kept for the worker.
    ///
    /// # Errors
    ///
    /// If a process owns the run, it has ended, or the store cannot be written.
    ///
    /// # Cancel safety
    ///
    /// As [`RunOwner::carry_out`].
    pub(crate) async fn let_worker_go_on(
        &self,
        run: &Run,
        person: Option<&Actor>,
        asked: Option<&ResumeRequest>,
    ) -> Result<(), Failure> {
        let workflow = workflow_of(run);
        let kept = self.take(run.id, &workflow).await?;
        if let Some(asked) = asked {
            self.keep_request(&kept, &workflow, asked).await?;
        }
        if let Some(person) = person {
            let lifted = kept.run.resume(person, None).await;
            lifted.map_err(|error| not_taken(run.id, &error))?;
        }
        let begun = kept.run.begin().await;
        begun.map_err(|error| not_taken(run.id, &error))?;
        self.let_go(kept).await
    }

    /// Forgets a run that this process has released.
    pub(crate) fn forget(&self, run: RunId) {
        self.kind_routes.forget(run);
    }

    /// Carries out the stops that came between the last look of a run's owner and its release.
    ///
    /// # Errors
    ///
    /// If the store cannot be read or written; the requests stay.
    ///
    /// # Cancel safety
    ///
    /// As [`RunOwner::carry_out`].
    pub(crate) async fn carry_out_late(&self, run: RunId) -> Result<(), Failure> {
        let Some(run) = self.storage.store.run(run).await? else {
            return Ok(());
        };
        if run.state.is_final()
            || has_process_at(&run, self.store().now())
            || !self.is_told_to_stop(&run).await?
        {
            return Ok(());
        }
        self.carry_out(&run).await?;
        Ok(())
    }

    /// Whether a stop of a run waits for a process to carry it out.
    ///
    /// # Errors
    ///
    /// If the store cannot be read.
    ///
    /// # Cancel safety
    ///
    /// Safe: it only reads.
    pub(crate) async fn is_told_to_stop(&self, run: &Run) -> Result<bool, Failure> {
        let filter = Filter {
            run: Some(run.id),
            node: None,
            states: vec![State::Requested, State::Delivered],
        };
        let open = listing::interrupts_in(self.store(), &filter).await?;
        let mut stops = open.iter().filter(|it| it.family() == Family::Stop);
        Ok(stops.any(|stop| is_for_whoever_holds(stop, run)))
    }

    /// Listens to signals as long as the returned value is alive.
    pub(crate) fn listen(
        &self,
        signals: OsSignals,
        settings: SignalSettings,
        spoken: SignalPrompts,
    ) -> Listening {
        listen(signals, &self.manager, settings, spoken)
    }

    /// Creates a run.
    ///
    /// # Errors
    ///
    /// If the order cannot be written, or the store.
    ///
    /// # Cancel safety
    ///
    /// Dropped, the run was created or not.
    pub(crate) async fn create(&self, id: RunId, order: &RunOrder) -> anyhow::Result<Run> {
        let new = NewRun {
            root: workflows::root_of(&order.workflow),
            id,
            alias: None,
            content: order.to_content()?,
        };
        let created = self.storage.store.create_run(new).await;
        Ok(created.map_err(|error| by_run(&error))?)
    }

    /// Makes this process the owner of a run.
    ///
    /// # Errors
    ///
    /// [`Exit::Conflict`] while another process owns it, or if it has ended.
    ///
    /// # Cancel safety
    ///
    /// Dropped, the run may be owned for some seconds more.
    pub(crate) async fn take(&self, run: RunId, workflow: &Workflow) -> Result<LocalRun, Failure> {
        let taken = self.try_to_take(run, workflow).await?;
        taken.map_err(|error| not_taken(run, &error))
    }

    /// Makes this process the owner of a run, waiting for another process that owns it for a moment. `told` is called
    /// once when the wait begins.
    ///
    /// # Errors
    ///
    /// [`Exit::Conflict`] if another process keeps it, or if it has ended.
    ///
    /// # Cancel safety
    ///
    /// As [`RunOwner::take`].
    pub(crate) async fn take_soon(
        &self,
        run: RunId,
        workflow: &Workflow,
        told: impl FnOnce(&OwnerName),
    ) -> Result<LocalRun, Failure> {
        let began = Instant::now();
        let mut told = Some(told);
        let lapsed = self.storage.store.run(run).await?;
        // Wait for a heartbeat of its owner, which only by the clock has lost the lease.
        if let Some(lease) = lapsed.and_then(|run| self.lapsed(&run))
            && let Some(told) = told.take()
        {
            told(&lease.owner);
        }
        loop {
            let error = match self.try_to_take(run, workflow).await? {
                Ok(kept) => return Ok(kept),
                Err(error) => error,
            };
            let KeepError::Run(RunError::Owned { lease }) = &error else {
                return Err(not_taken(run, &error));
            };
            let row = self.storage.store.run(run).await?;
            let works =
                row.is_some_and(|row| matches!(row.state, RunState::Running | RunState::Stopping));
            let patience = if works {
                WHILE_IT_WORKS
            } else {
                WHILE_IT_STANDS
            };
            if began.elapsed() >= patience {
                return Err(not_taken(run, &error));
            }
            if let Some(told) = told.take() {
                told(&lease.owner);
            }
            tokio::time::sleep(PACE).await;
        }
    }

    async fn try_to_take(
        &self,
        run: RunId,
        workflow: &Workflow,
    ) -> Result<Result<LocalRun, KeepError>, Failure> {
        // Interrupts that have waited too long end before the run looks at them.
        self.storage.sweep().await?;
        let inbox = Arc::new(match workflow {
            Workflow::Agents | Workflow::Embedded(_) => LateInbox::closed_yet(),
            Workflow::PlanExecute => LateInbox::unused(),
        });
        self.kind_routes.know(run, workflow);
        let found = self.storage.store.run(run).await?;
        let taking = Taking {
            run,
            node: first_node(workflow)?,
            lost: found.as_ref().and_then(|found| self.lost_owner(found)),
            outlasted: self.outlasted().remove(&run),
            deliveries: Arc::clone(&inbox) as Arc<_>,
            messages_after: 0,
            leaves_agents_out: found
                .as_ref()
                .map_or(leaves_agents_out(workflow), goes_on_without),
        };
        let kept = match self.manager.take(taking).await {
            Ok(kept) => Arc::new(kept),
            Err(error) => return Ok(Err(error)),
        };
        let control = Arc::new(Control::new(&kept, self.manager.clone()));
        Ok(Ok(LocalRun {
            run: kept,
            inbox,
            control,
        }))
    }

    /// Records that this process begins to work on a run, and what the run may use from now on, if that changes.
    ///
    /// # Errors
    ///
    /// If the store cannot be written.
    ///
    /// # Cancel safety
    ///
    /// Safe to repeat.
    pub(crate) async fn work_begins(
        &self,
        kept: &LocalRun,
        workflow: &Workflow,
        changed: Option<&Allowance>,
    ) -> Result<(), Failure> {
        let node = first_node(workflow)?;
        let run = kept.run.run();
        let begun = Working::begin(self.store(), run, kept.run.epoch(), &node, changed).await;
        let working = begun.map_err(|error| Failure::new(Exit::Failure, causes(&error)))?;
        kept.control.works(working);
        Ok(())
    }

    /// The store as the run's own parts use it.
    pub(crate) fn run_store(&self, kept: &LocalRun, policy: Arc<Policy>) -> RunStore {
        let mut store = RunStore::new(
            Arc::clone(&self.storage.store),
            self.owner.clone(),
            String::new(),
        );
        store.hold = Hold::Kept {
            epoch: kept.run.epoch(),
        };
        store.notifier = Arc::new(ManagerNotifier::new(kept.run.pulse()));
        store.control = Some(Arc::clone(&kept.control) as Arc<_>);
        store.policy = policy;
        store
    }
}

/// The time limits if a policy names hooks.
fn times_for(policy: &Policy) -> Times {
    Times {
        // Each hook keeps to its own time; this is for one that does not.
        hook: policy.longest_handler_limit() + AFTER_ITS_TIME,
        ..Times::default()
    }
}

/// Whether a run could be taken for something that its owner does otherwise.
fn could_be_taken<T>(run: &Run, done: Result<T, KeepError>) -> Result<bool, Failure> {
    match done {
        Ok(_done) => Ok(true),
        Err(
            KeepError::Kept { .. }
            | KeepError::Run(RunError::Owned { .. } | RunError::Illegal { .. }),
        ) => Ok(false),
        Err(error) => Err(not_taken(run.id, &error)),
    }
}
