//! A run that this process owns, as the code that runs it sees it.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use interrupt_router::{NodeId, RunId, StopScope};
use tokio::sync::watch;
use tokio_util::task::AbortOnDropHandle;

use super::acknowledge::StoppedRun;
use super::owned_run_state::{KeepError, OwnedRunState};
use super::resume::Word;
use super::tree::Reach;
use super::{Alive, StopHandle, StopRequest, StopRequests};
use crate::EffectId;
use crate::hooks::{HookTrigger, Ran};
use crate::life::{Actor, Evidence, Interrupt, RunState};
use crate::names::OwnerName;
use crate::store::CheckpointId;

/// How a run ends, or ends for now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RunEnd {
    /// It was told to stop, and [`OwnedRun::acknowledge_stops`] has recorded that it has.
    Stopped,
    /// It stopped to ask.
    Waiting {
        /// What for, in words.
        reason: String,
    },
    /// It reached its end.
    Completed,
    /// It cannot continue.
    Failed {
        /// Why, in words.
        reason: String,
    },
    /// It was ended on request.
    Cancelled {
        /// Why, in words.
        reason: String,
    },
}

/// Why a run must not continue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PausedCancellation {
    /// Who decided that, and what they said, in words.
    pub reason: String,
    /// The dispatch of the decision.
    pub dispatch: EffectId,
}

/// A run that this process owns: its scopes, its inbox, and the methods to report that it has stopped.
///
/// While this value lives, the run's lease is renewed, and stops requested in this process or another one reach its
/// scopes. If it is dropped without [`OwnedRun::settle`], the run is let go as if this process had died: its lease runs
/// out, and its next owner takes over what was under way.
pub struct OwnedRun {
    keeper: Arc<OwnedRunState>,
    tasks: [AbortOnDropHandle<()>; 2],
    _alive: Arc<Alive>,
}

impl OwnedRun {
    pub(super) fn new(keeper: Arc<OwnedRunState>, alive: Arc<Alive>) -> Self {
        let shared = Arc::clone(&keeper.shared);
        let spawn = |work| {
            let task = shared.tasks.spawn_on(work, &shared.runtime);
            AbortOnDropHandle::new(task)
        };
        let looking: futures_util::future::BoxFuture<'static, ()> =
            Box::pin(Arc::clone(&keeper).keep_looking());
        let owning: futures_util::future::BoxFuture<'static, ()> =
            Box::pin(Arc::clone(&keeper).keep_owning());
        Self {
            tasks: [spawn(looking), spawn(owning)],
            keeper,
            _alive: alive,
        }
    }

    /// The run.
    pub fn run(&self) -> RunId {
        self.keeper.run
    }

    /// The epoch in which this process owns it. All writes about the run carry it.
    pub fn epoch(&self) -> u64 {
        self.keeper.epoch
    }

    /// The name of this process as its owner.
    pub fn owner(&self) -> &OwnerName {
        &self.keeper.shared.settings.owner
    }

    /// The scope of the run: stopped with the process, or alone.
    pub fn scope(&self) -> StopScope {
        self.keeper.shared.registry.scope(self.run(), &Reach::Run)
    }

    /// The scope of a node, which stops with those of the nodes above it. A scope made after a stop of its
    /// node, or of one above, is already stopped.
    pub fn node_scope(&self, node: &NodeId) -> StopScope {
        self.keeper
            .shared
            .registry
            .scope(self.run(), &Reach::Node(node.clone()))
    }

    /// New scopes for the whole run. Nothing is cleared: the old ones stay as they are, and a stop that has not
    /// been acknowledged stops the new ones too.
    pub fn new_turn(&self) -> StopScope {
        self.keeper
            .shared
            .registry
            .new_turn(self.run(), &Reach::Run)
    }

    /// Asks for a stop, as [`InterruptManager::request`](super::InterruptManager::request) does.
    pub fn request(&self, request: StopRequest) -> StopHandle {
        self.requests().request(request)
    }

    /// A handle for making requests, to pass to other code.
    pub fn requests(&self) -> StopRequests {
        StopRequests {
            shared: Arc::clone(&self.keeper.shared),
        }
    }

    /// Counts up whenever something about this run or another one may have changed in the store. A caller that waits for
    /// a decision checks again when it changes, and now and then when it does not.
    pub fn pulse(&self) -> watch::Receiver<u64> {
        self.keeper.shared.pulse.subscribe()
    }

    /// Whether this process no longer owns the run. Its scopes are stopped then, and nothing more is written.
    pub fn is_lost(&self) -> bool {
        self.keeper.lost.is_cancelled()
    }

    /// Stops the scopes of the run at once if its lease has run out, as happens when a process was suspended: another one
    /// may own the run by now. Call it before something that must not be done twice.
    pub fn stops_where_lost(&self) {
        self.keeper.stops_where_lost();
    }

    /// The store's error that stopped the run, if an unrecoverable one did.
    pub fn failure(&self) -> Option<&KeepError> {
        self.keeper.failure.get()
    }

    /// Records that the run is working. A stop that has arrived by then makes it `stopping` at once.
    ///
    /// # Errors
    ///
    /// [`KeepError`].
    ///
    /// # Cancel safety
    ///
    /// Safe to repeat.
    pub async fn begin(&self) -> Result<(), KeepError> {
        self.keeper.begin().await
    }

    /// Checks the inbox now, instead of when the notifier says so: afterwards all earlier requests for the run are recorded,
    /// delivered and in force.
    ///
    /// # Errors
    ///
    /// [`KeepError`].
    ///
    /// # Cancel safety
    ///
    /// Safe to repeat.
    pub async fn look(&self) -> Result<(), KeepError> {
        self.keeper.look().await.map(|_next| ())
    }

    /// Lifts the pauses that were found when the run was taken: `by` decides them, and the questions that they held are
    /// shown again. Stops that came later stay in force. Returns the pauses. `content` goes with the decision of one of
    /// them; if none of those that are returned has it, it was not delivered.
    ///
    /// Call it before you hand out the run's scopes: they are new afterwards.
    ///
    /// # Errors
    ///
    /// [`KeepError`].
    ///
    /// # Cancel safety
    ///
    /// Safe to repeat: a pause that was decided stays so.
    pub async fn resume(
        &self,
        by: &Actor,
        content: Option<String>,
    ) -> Result<Vec<Interrupt>, KeepError> {
        self.keeper.resume((by, Word::Person), content).await
    }

    /// As [`OwnedRun::resume`], without the authority of a person. A pause that a person asks for is not lifted, and the
    /// run does not continue then.
    ///
    /// # Errors
    ///
    /// [`KeepError`]; [`Refusal::AskedByPerson`](crate::life::Refusal::AskedByPerson) if a person asks for one of
    /// them.
    ///
    /// # Cancel safety
    ///
    /// As [`OwnedRun::resume`].
    pub async fn goes_on(&self, by: &Actor) -> Result<Vec<Interrupt>, KeepError> {
        self.keeper.resume((by, Word::Machinery), None).await
    }

    /// Reports that nothing in the run runs any more, with the checkpoint from which it can continue. All its stops are
    /// acknowledged and resolved: pauses await their review and the run is paused, or a stop is applied and
    /// the run is cancelled. Returns `None` if the run was not told to stop.
    ///
    /// When this returns, "stopped" is true and recorded.
    ///
    /// # Errors
    ///
    /// [`KeepError`].
    ///
    /// # Cancel safety
    ///
    /// Safe to repeat: it continues from the current state of each stop.
    pub async fn acknowledge_stops(
        &self,
        evidence: Evidence,
        checkpoint: Option<CheckpointId>,
    ) -> Result<Option<StoppedRun>, KeepError> {
        self.keeper.stop_run(&evidence, checkpoint).await
    }

    /// Reports that a node and all below it no longer run. The stops of them alone are acknowledged and resolved; the run
    /// continues.
    ///
    /// # Errors
    ///
    /// [`KeepError`].
    ///
    /// # Cancel safety
    ///
    /// Safe to repeat.
    pub async fn acknowledge_stops_of(
        &self,
        node: &NodeId,
        evidence: Evidence,
        checkpoint: Option<CheckpointId>,
    ) -> Result<Vec<Interrupt>, KeepError> {
        let reach = Reach::Node(node.clone());
        self.keeper
            .finish_stops(&reach, &evidence, checkpoint)
            .await
    }

    /// Whether this process leaves it to others, by [`InterruptManager::drain`](super::InterruptManager::drain) or
    /// [`InterruptManager::hand_over`](super::InterruptManager::hand_over), and nothing else stops it.
    pub fn is_left(&self) -> bool {
        let is_drained = self.keeper.shared.is_drained.load(Ordering::Acquire);
        let is_handed_over = self.keeper.is_handed_over.load(Ordering::Acquire);
        (is_drained || is_handed_over) && !self.keeper.is_late()
    }

    /// Whether a stop is in force that has not taken effect yet.
    pub(super) fn is_told_to_stop(&self) -> bool {
        self.keeper.is_late()
    }

    /// Reports that nothing in the run runs, nor will: a run that was still `stopping` becomes paused.
    pub(super) async fn rests(&self) -> Result<(), KeepError> {
        self.keeper.rest_where_stopping().await
    }

    /// Reports that a node and all below it have ended. Stops of them alone that have not taken effect are withdrawn, so
    /// that their callers are told at once. Returns what was withdrawn.
    ///
    /// # Errors
    ///
    /// [`KeepError`].
    ///
    /// # Cancel safety
    ///
    /// Safe to repeat.
    pub async fn has_ended(&self, node: &NodeId) -> Result<Vec<Interrupt>, KeepError> {
        self.keeper.withdraw_stops_of(node).await
    }

    /// Reports that a node and all below it were cut off, and that the run continues without them: the stops that ask
    /// for that are acknowledged and resolved, and any other stops of them are withdrawn.
    ///
    /// # Errors
    ///
    /// [`KeepError`].
    ///
    /// # Cancel safety
    ///
    /// Safe to repeat.
    pub async fn was_cut_off(&self, node: &NodeId) -> Result<Vec<Interrupt>, KeepError> {
        let finished = self.keeper.finish_cuts(node).await?;
        self.keeper.withdraw_stops_of(node).await?;
        Ok(finished)
    }

    /// Records that the decisions about its stops have been carried out, as they are once the run continues or ends.
    /// Call it before the run is over; [`OwnedRun::settle`] does it too.
    ///
    /// # Errors
    ///
    /// [`KeepError`].
    ///
    /// # Cancel safety
    ///
    /// Safe to repeat.
    pub async fn carry_out_stops(&self) -> Result<(), KeepError> {
        self.keeper.carry_out_stops().await
    }

    /// Calls the hooks for a moment around a step or the use of a tool, each within its time limit.
    ///
    /// # Cancel safety
    ///
    /// If dropped, the hooks that still run are dropped too.
    pub async fn call_hooks(&self, moment: HookTrigger) -> Vec<Ran> {
        self.keeper.shared.call_hooks(moment).await
    }

    /// Records how the run ends, for now or for good, and then lets it go: requests made by then are recorded first, the
    /// lease is released last. A stop that was not acknowledged takes effect here, since nothing in the run runs any
    /// more; one that cuts an agent off stays for the process that continues the run.
    ///
    /// # Errors
    ///
    /// [`KeepError`]. The run is let go all the same, and its lease runs out.
    ///
    /// # Cancel safety
    ///
    /// Not cancel safe: if dropped, the run is let go as if this process had died.
    pub async fn settle(mut self, end: RunEnd) -> Result<(), KeepError> {
        let settled = self.record_end(end).await;
        if settled.is_ok() {
            self.release().await;
        }
        settled
    }

    /// Ends the run as cancelled and lets it go. The decision that cancels it is carried out last: until the run has
    /// ended, its next owner has to find it.
    pub(super) async fn end(mut self, because: PausedCancellation) -> Result<(), KeepError> {
        let keeper = &self.keeper;
        let PausedCancellation { reason, dispatch } = because;
        let ended = match keeper
            .rest(RunState::Cancelled, reason, Some(dispatch))
            .await
        {
            Ok(()) => keeper.carried_out(dispatch).await,
            Err(error) => Err(error),
        };
        self.release().await;
        ended
    }

    async fn record_end(&self, end: RunEnd) -> Result<(), KeepError> {
        let keeper = &self.keeper;
        keeper.check_owned()?;
        keeper.look().await?;
        // A run that was only taken, to stop it or to look at it, has carried nothing out.
        let ends = matches!(end, RunEnd::Completed | RunEnd::Failed { .. });
        if ends || keeper.has_begun() || keeper.is_cancelled().await? {
            keeper.carry_out_stops().await?;
        }
        match end {
            RunEnd::Stopped | RunEnd::Waiting { .. } if keeper.is_late() => {
                // The stop came after the workflow had finished, and nothing in the run runs any more.
                keeper.stop_run(&Evidence::Cancelled, None).await?;
                Ok(())
            }
            RunEnd::Stopped => Ok(()),
            RunEnd::Waiting { reason } => keeper.change_run(RunState::Waiting, Some(reason)).await,
            RunEnd::Completed => keeper.change_run(RunState::Completed, None).await,
            RunEnd::Failed { reason } => keeper.change_run(RunState::Failed, Some(reason)).await,
            RunEnd::Cancelled { reason } => {
                keeper.change_run(RunState::Cancelled, Some(reason)).await
            }
        }
    }

    async fn release(&mut self) {
        // The tasks end first, so that nothing is written once the lease is released.
        for task in &mut self.tasks {
            task.abort();
            let _ended = task.await;
        }
        let shared = &self.keeper.shared;
        let settings = &shared.settings;
        let released = self
            .keeper
            .write(|| settings.store.release_run(self.run(), self.epoch()))
            .await;
        if let Err(error) = released {
            tracing::warn!(run = %self.run(), %error, "the lease was not released; it runs out");
        }
    }
}

impl Drop for OwnedRun {
    fn drop(&mut self) {
        let shared = &self.keeper.shared;
        self.keeper.lost.cancel();
        shared.keepers().remove(&self.run());
        if shared.registry.leave(self.run()) {
            shared.outside.notify_one();
        }
        shared.beat();
    }
}
