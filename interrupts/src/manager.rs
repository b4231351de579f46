//! Stopping: from a key press, a limit or another process to scopes that are stopped, and a record that says so.
//!
//! An [`InterruptManager`] serves one process. [`InterruptManager::take`] owns a run and gives a [`OwnedRun`] with
//! the scopes that its nodes watch. [`InterruptManager::request`] may be called from any thread: what it reaches
//! in this process is told before it returns, the record follows at once, and of "stopped" nothing is said before
//! that is true and recorded. Requests of other processes stand in the store; the notifier, and without it slow
//! polling, brings them in.
//!
//! Owns who is told to stop, when, and in which order that is recorded. What stops, and how it finishes its step,
//! is the workflow's.

mod abandoned_effects;
mod acknowledge;
mod active_stops;
mod agents;
mod asking;
mod branching;
mod carried_out;
mod clash;
mod deliveries;
mod inbox;
mod lanes;
mod leaving;
mod limit_stops;
mod owned_run;
mod owned_run_state;
mod record;
mod recovery;
mod registry;
mod request;
mod resume;
mod retry_budget;
mod scan_schedule;
mod settings;
mod shared;
mod shutdown;
mod status;
mod sync;
mod taking_over;
mod ticket;
mod tree;
mod watching;

use std::future::{Future, ready};
use std::sync::Arc;
use std::time::Duration;

use interrupt_router::{InterruptId, NodeId, RunId, StopMode, StopReason, StopScope};
use tokio::runtime::Handle;
use tokio::sync::mpsc;

pub use abandoned_effects::{AbandonedEffects, NoAbandonedEffects};
pub use acknowledge::StoppedRun;
pub use deliveries::{Deliveries, NoDeliveries, Undeliverable};
pub use lanes::Lanes;
pub use limit_stops::LimitStops;
pub use owned_run::{OwnedRun, PausedCancellation, RunEnd};
pub use owned_run_state::KeepError;
pub use recovery::{Backoff, Course, Recoverable};
pub use request::{AgentRoutes, KindRoutes, StopCause, StopKind, StopNote, StopRequest, Target};
pub use scan_schedule::ScanSchedule;
pub use settings::{ManagerSettings, Times};
pub use shared::{StopRequests, UnkeptRun};
pub use shutdown::{RunRest, ShutdownReport};
pub use status::{ManagerStatus, OwnedRunStatus, StopStatus};
use taking_over::own_watched_run;
pub use taking_over::{own_run, time_to_outlast};
pub use ticket::{RequestError, StopHandle};
pub use tree::Reach;

use inbox::Inbox;
use owned_run_state::OwnedRunState;
use shared::{Shared, StopJob};
use ticket::RequestRecorder;

use crate::hooks::{Hook, HookError};
use crate::life::{Evidence, Lease, RunState};
use crate::names::OwnerName;
use crate::store::{CheckpointError, CheckpointId, Delivery, RunError};

/// Ends the tasks of a manager when nobody holds it or one of its runs any more.
pub(crate) struct Alive {
    shared: Arc<Shared>,
}

impl Drop for Alive {
    fn drop(&mut self) {
        self.shared.closed.cancel();
    }
}

/// How a run is taken.
#[derive(Clone)]
pub struct Taking {
    /// The run.
    pub run: RunId,
    /// The node that stands for the run: stops of the whole run name it.
    pub node: NodeId,
    /// The owner that is known to be gone, whose lease does not count any more.
    pub lost: Option<OwnerName>,
    /// The lease that was watched by the caller for [`time_to_outlast`] after it had run out, and was not renewed.
    pub outlasted: Option<Lease>,
    /// Where questions and messages for its nodes go.
    pub deliveries: Arc<dyn Deliveries>,
    /// Messages up to this position were read before: what comes later is delivered.
    pub messages_after: u64,
    /// Whether its workflow goes on without an agent that is stopped for good. Where it cannot, since its agents work
    /// one after the other on one thing, such a stop ends the run.
    pub leaves_agents_out: bool,
}

/// Stops and pauses the runs of one process. Clones are the same manager.
#[derive(Clone)]
pub struct InterruptManager {
    alive: Arc<Alive>,
}

impl InterruptManager {
    /// A manager whose tasks run on a runtime. They end when the manager and all its runs are dropped, or with
    /// [`InterruptManager::execute_shutdown`].
    pub fn new(settings: ManagerSettings, runtime: Handle) -> Self {
        let shared = Arc::new(Shared::new(settings, runtime));
        let watching = Arc::clone(&shared).watch_store();
        shared.tasks.spawn_on(watching, &shared.runtime);
        let recording = Arc::clone(&shared).record_outside();
        shared.tasks.spawn_on(recording, &shared.runtime);
        Self {
            alive: Arc::new(Alive { shared }),
        }
    }

    fn shared(&self) -> &Arc<Shared> {
        &self.alive.shared
    }

    /// What it was made with.
    pub fn settings(&self) -> &ManagerSettings {
        &self.shared().settings
    }

    /// Makes this process the owner of a run, and takes over what its last owner left: when this returns, every
    /// stop that was recorded or asked for by then is in force on its scopes.
    ///
    /// # Errors
    ///
    /// [`KeepError`]; with [`RunError::Owned`] while another owner's lease holds.
    ///
    /// # Cancel safety
    ///
    /// Dropped, the run may be owned in an epoch that nobody knows; the lease runs out.
    pub async fn take(&self, taking: Taking) -> Result<OwnedRun, KeepError> {
        let inbox = Inbox::new(taking.messages_after);
        self.take_with(taking, inbox).await
    }

    /// Carries out the stops of a run that nobody runs: a stop of a paused run ends it, and a pause of a run that
    /// waits for an answer pauses it. Questions and messages stay where they are. Returns `None` where the run was
    /// not told to stop. `lost` is an owner that is known to be gone;
    /// `leaves_agents_out` as in [`Taking`].
    ///
    /// # Errors
    ///
    /// [`KeepError`]; with [`RunError::Owned`] where somebody runs it, who will carry them out.
    ///
    /// # Cancel safety
    ///
    /// Safe to repeat once the lease has run out.
    pub async fn carry_out(
        &self,
        run: RunId,
        node: NodeId,
        lost: Option<OwnerName>,
        leaves_agents_out: bool,
    ) -> Result<Option<StoppedRun>, KeepError> {
        let nothing = |_epoch| ready(Ok(None));
        self.carry_out_saved(run, node, lost, leaves_agents_out, nothing)
            .await
    }

    /// As [`InterruptManager::carry_out`], for a run whose process may have died at work: before its stops take hold,
    /// `save` saves where it stands, in the epoch that it is given, and its stops name the checkpoint. It is not asked
    /// where the run was not told to stop.
    ///
    /// # Errors
    ///
    /// [`KeepError`], also that of `save`: the stops stand.
    ///
    /// # Cancel safety
    ///
    /// As [`InterruptManager::carry_out`].
    pub async fn carry_out_saved<Saved>(
        &self,
        run: RunId,
        node: NodeId,
        lost: Option<OwnerName>,
        leaves_agents_out: bool,
        save: impl FnOnce(u64) -> Saved,
    ) -> Result<Option<StoppedRun>, KeepError>
    where
        Saved: Future<Output = Result<Option<CheckpointId>, CheckpointError>>,
    {
        let taking = for_a_moment(run, node, lost, leaves_agents_out);
        let kept = self.take_with(taking, Inbox::for_stops()).await?;
        let checkpoint = if kept.is_told_to_stop() {
            save(kept.epoch()).await?
        } else {
            None
        };
        let stopped = kept
            .acknowledge_stops(Evidence::Cancelled, checkpoint)
            .await?;
        kept.rests().await?;
        kept.settle(RunEnd::Stopped).await?;
        Ok(stopped)
    }

    /// Ends a run that nobody runs, because somebody has decided that it shall not go on: its agents are cancelled with
    /// it, and then the decision's dispatch is done. `lost` and `leaves_agents_out` are as in
    /// [`InterruptManager::carry_out`].
    ///
    /// # Errors
    ///
    /// [`KeepError`]; with [`RunError::Owned`] where somebody runs it, who will end it.
    ///
    /// # Cancel safety
    ///
    /// Safe to repeat once the lease has run out.
    pub async fn give_up(
        &self,
        run: RunId,
        node: NodeId,
        lost: Option<OwnerName>,
        leaves_agents_out: bool,
        because: PausedCancellation,
    ) -> Result<(), KeepError> {
        let taking = for_a_moment(run, node, lost, leaves_agents_out);
        let kept = self.take_with(taking, Inbox::for_stops()).await?;
        kept.end(because).await
    }

    async fn take_with(&self, taking: Taking, inbox: Inbox) -> Result<OwnedRun, KeepError> {
        let shared = self.shared();
        let run = taking.run;
        if !shared
            .registry
            .take(run, job_of_taken, InterruptId::generate)
        {
            return Err(KeepError::Kept { run });
        }
        if !taking.leaves_agents_out {
            shared.registry.stops_as_one(run);
        }
        let claim = Claim {
            shared: Arc::clone(shared),
            run: Some(run),
        };
        let settings = &shared.settings;
        let delivery = Delivery {
            owner: settings.owner.clone(),
            lease: settings.lease(),
            lost: taking.lost.clone(),
        };
        let owned = settings
            .backoff
            .recover(|| {
                let (store, heartbeat) = (&*settings.store, settings.times.heartbeat);
                let outlasted = taking.outlasted.as_ref();
                own_watched_run(store, run, (delivery.clone(), outlasted), heartbeat)
            })
            .await?;
        let keeper = Arc::new(OwnedRunState::new(
            Arc::clone(shared),
            run,
            owned.epoch,
            (taking.node, taking.leaves_agents_out),
            taking.deliveries,
            inbox,
        ));
        if keeper.end_where_stopped().await? {
            let (from, to) = (RunState::Cancelled, RunState::Running);
            return Err(RunError::Illegal { from, to }.into());
        }
        shared.keepers().insert(run, Arc::clone(&keeper));
        let kept = OwnedRun::new(Arc::clone(&keeper), Arc::clone(&self.alive));
        claim.keep();
        keeper.look().await?;
        Ok(kept)
    }

    /// Asks for a stop, from any thread. When this returns, the scopes that it reaches in this process are
    /// stopped; the handle tells when the request is recorded, and when the stop has taken hold.
    ///
    /// A further request for a stop that is under way joins it, and makes it harder where it is harder.
    pub fn request(&self, request: StopRequest) -> StopHandle {
        self.requests().request(request)
    }

    /// The way in for requests, to be handed on. It does not keep the manager's tasks running.
    pub fn requests(&self) -> StopRequests {
        StopRequests {
            shared: Arc::clone(self.shared()),
        }
    }

    /// Whether a target of this process was told to stop. Of a run that this process does not know it is false.
    pub fn is_interrupted(&self, target: &Target) -> bool {
        self.shared().is_interrupted(target)
    }

    /// Waits until a target of this process is told to stop, at most so long. `None` where it was not, or where
    /// this process does not know its run.
    ///
    /// # Cancel safety
    ///
    /// Safe: nothing is lost, for a stop stays asked for.
    pub async fn wait(&self, target: &Target, limit: Duration) -> Option<StopReason> {
        let scope = self.shared().scope_of(target)?;
        tokio::time::timeout(limit, scope.stopping()).await.ok()
    }

    /// Receives each run that this process does not keep, whenever something arrives for it or its state changes after
    /// this has returned. For what came before, read the store then: that misses nothing.
    ///
    /// # Cancel safety
    ///
    /// Safe: nothing was received.
    pub async fn news_of_unkept_runs(&self) -> mpsc::UnboundedReceiver<UnkeptRun> {
        self.shared().watch_unkept().await
    }

    /// Begins a new turn of the process: what was asked of everything does not concern runs that are taken from
    /// now on. Nothing is cleared; runs that are kept stay as they are.
    pub fn new_turn(&self) {
        self.shared().registry.new_process_turn(StopScope::new());
    }

    /// Adds a hook.
    pub fn add_hook(&self, hook: Arc<dyn Hook>) {
        self.shared().hooks.add(hook);
    }

    /// Waits until the hooks that were called about stops have ended, each within its time: before a process ends
    /// whose hooks should be heard of.
    ///
    /// # Cancel safety
    ///
    /// Safe: the hooks go on.
    pub async fn hooks_ended(&self) {
        let calls = &self.shared().hook_calls;
        calls.close();
        calls.wait().await;
        calls.reopen();
    }

    /// Adds a callback for the end of a shutdown. It has its time, and its failure, panic or hanging is its own.
    pub fn on_shutdown<F>(
        &self,
        name: impl Into<String>,
        callback: impl FnOnce() -> F + Send + 'static,
    ) where
        F: Future<Output = Result<(), HookError>> + Send + 'static,
    {
        self.shared().callbacks.add(name.into(), callback);
    }

    /// Shuts down: asks every run to pause, waits within the grace, tells those that are left to stop at once,
    /// waits once more, calls the callbacks, and ends the manager's tasks. The report says what failed.
    ///
    /// # Cancel safety
    ///
    /// Dropped, the runs stay told to stop, and callbacks that were not called are lost.
    pub async fn execute_shutdown(&self, message: &str) -> ShutdownReport {
        let report = self.shared().shut_down(message).await;
        self.shared().closed.cancel();
        report
    }

    /// Drains: every run comes to its boundary, is saved there and let go within the grace; those that are left stop at
    /// once; then the callbacks are called, and the manager's tasks end. That is no interrupt, so nobody has to decide
    /// anything and no hook is called about it: a run stays as it is, without an owner, for whoever executes runs next.
    /// What else stops a run meanwhile holds all the same.
    ///
    /// # Cancel safety
    ///
    /// Dropped, the runs stay told to stop, and callbacks that were not called are lost.
    pub async fn drain(&self, message: &str) -> ShutdownReport {
        let report = self.shared().drain(message).await;
        self.shared().closed.cancel();
        report
    }

    /// As [`InterruptManager::drain`], with nothing finished that is under way. It returns at once: whoever drains
    /// waits.
    pub fn drain_at_once(&self, message: &str) {
        self.shared().leave(StopMode::Immediate, message);
    }

    /// Leaves one run to other processes, as [`InterruptManager::drain`] leaves all, without a limit to its time: it comes
    /// to its boundary and is let go. Says whether it is kept here, and was not left before.
    pub fn hand_over(&self, run: RunId, message: &str) -> bool {
        self.shared().hand_over(run, message)
    }

    /// Runs a task of an embedder among the manager's own: it is counted in the status.
    pub(crate) fn spawn(
        &self,
        task: impl Future<Output = ()> + Send + 'static,
    ) -> tokio::task::JoinHandle<()> {
        self.shared().tasks.spawn_on(task, &self.shared().runtime)
    }

    /// What it keeps at this moment.
    pub fn status(&self) -> ManagerStatus {
        self.shared().status()
    }
}

/// Taking a run that nobody runs, and that nobody will run here.
fn for_a_moment(
    run: RunId,
    node: NodeId,
    lost: Option<OwnerName>,
    leaves_agents_out: bool,
) -> Taking {
    Taking {
        run,
        node,
        lost,
        outlasted: None,
        deliveries: Arc::new(NoDeliveries),
        messages_after: 0,
        leaves_agents_out,
    }
}

/// The job of a stop of everything, for a run that was taken after it.
fn job_of_taken(run: RunId, later: &StopJob, id: InterruptId) -> StopJob {
    StopJob {
        run,
        id,
        ticket: RequestRecorder::new(),
        ..later.clone()
    }
}

/// Lets the run go again where taking it fails.
struct Claim {
    shared: Arc<Shared>,
    run: Option<RunId>,
}

impl Claim {
    fn keep(mut self) {
        self.run = None;
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        if let Some(run) = self.run
            && self.shared.registry.leave(run)
        {
            self.shared.outside.notify_one();
        }
    }
}
