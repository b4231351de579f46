//! The run in its store: which process owns it, in which epoch.

use std::sync::Arc;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use interrupt_router::{InterruptId, NodeId, RunId};
use interrupts::catalogue::SharedCatalogue;
use interrupts::life::{Actor, RunState};
use interrupts::manager::{Times, own_run};
use interrupts::policy::Policy;
use interrupts::store::{
    CheckpointId, Delivery, NewRun, NodeRow, Pages, Run as RunRow, RunError, Store, StoreError,
};
use interrupts::{Digest, IdempotencyKey, NoNotifier, Notifier, OwnerName};
use jiff::{SignedDuration, Timestamp};

use super::control::RunControl;
use super::kinds::Kinds;
use journal::RunSnapshot;
use journal::error::KeepError;
use journal::input;

/// How many nodes are read together.
const NODES: u32 = 1_000;

/// Who owns the run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Hold {
    /// The run itself: it is created if it is not there yet, owned while it is executed, and released at its end, so
    /// that any process may resume it.
    Own {
        /// What it is to do, as JSON, for a run that is not there yet.
        content: String,
        /// An owner that is known to be gone, and whose lease no longer counts.
        lost: Option<OwnerName>,
    },
    /// The caller that executes the run has made itself its owner, stays its owner, and releases the run afterwards.
    Kept {
        /// The epoch that began then.
        epoch: u64,
    },
}

/// Where a run is kept, and by whom.
#[derive(Clone)]
#[non_exhaustive]
pub struct RunStore {
    /// Keeps it.
    pub store: Arc<dyn Store>,
    /// The process that executes it: a name that no other one has.
    pub owner: OwnerName,
    /// Who owns it.
    pub hold: Hold,
    /// Rings if another process may have recorded a decision.
    pub notifier: Arc<dyn Notifier>,
    /// How long this process keeps what it took after its last sign of life.
    pub lease: SignedDuration,
    /// How often to poll the store if no notification comes.
    pub poll: Duration,
    /// Stops its nodes from outside; without it, only the scope that the run is executed in does.
    pub control: Option<Arc<dyn RunControl>>,
    /// New input for a run that is resumed: a message for the node that has the turn. It is recorded before the run
    /// goes on, and read once, in this process or a later one.
    pub input: Option<String>,
    /// The rules for the interrupts of its nodes: how long a question waits, and which ones are not asked.
    pub policy: Arc<Policy>,
}

impl RunStore {
    /// A run that owns itself, with the usual times: a lease of 30 seconds, a poll twice a second.
    pub fn new(store: Arc<dyn Store>, owner: OwnerName, content: impl Into<String>) -> Self {
        let content = content.into();
        Self {
            store,
            owner,
            hold: Hold::Own {
                content,
                lost: None,
            },
            notifier: Arc::new(NoNotifier),
            lease: SignedDuration::from_secs(30),
            poll: Duration::from_millis(500),
            control: None,
            input: None,
            policy: Arc::default(),
        }
    }
}

/// The run in its store, as its own parts see it.
pub struct RunRecord {
    pub run: RunId,
    pub kept: RunStore,
    /// The kinds of its agents.
    pub kinds: Kinds,
    /// What its workflow says of itself, under which the run goes on.
    catalogue: Option<SharedCatalogue>,
    epoch: OnceLock<u64>,
    /// The checkpoint that it was forked off at, if it was.
    forked_from: OnceLock<CheckpointId>,
    /// Whether an event has reached one of its nodes: without one, there are no reroutes to check.
    has_events: AtomicBool,
}

/// Whether a run begins or goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunStart {
    New,
    GoesOn,
}

impl RunRecord {
    pub fn new(run: RunId, kinds: Kinds, kept: RunStore) -> Self {
        Self {
            run,
            kept,
            kinds,
            catalogue: None,
            epoch: OnceLock::new(),
            forked_from: OnceLock::new(),
            has_events: AtomicBool::new(false),
        }
    }

    /// Sets what its workflow says of itself, under which the run goes on.
    pub fn under(self, catalogue: Option<SharedCatalogue>) -> Self {
        Self { catalogue, ..self }
    }

    /// A run that this process owns in this epoch without working on it.
    pub fn owned(run: RunId, kept: RunStore, epoch: u64) -> Self {
        let record = Self::new(run, Kinds::default(), kept);
        let _first = record.epoch.set(epoch);
        record
    }

    pub fn store(&self) -> &dyn Store {
        &*self.kept.store
    }

    /// Keeps the input that came with the resume, before anything goes on: in the journal it outlives this process.
    pub async fn keep_input(&self) -> Result<(), KeepError> {
        let Some(text) = self.kept.input.as_deref() else {
            return Ok(());
        };
        let (store, node) = (self.store(), NodeId::root());
        input::record(store, self.run, self.epoch()?, &node, text).await
    }

    /// Stops all of the run at once if its lease has run out, before something begins that another process may already
    /// have done: this process may have been suspended without having noticed yet.
    pub fn stops_where_lost(&self) {
        if let Some(control) = &self.kept.control {
            control.stops_where_lost();
        }
    }

    /// The epoch in which this process has the run.
    pub fn epoch(&self) -> Result<u64, KeepError> {
        self.epoch.get().copied().ok_or(KeepError::NotOpen)
    }

    /// The nodes of the run as the store last recorded them, for a caller that is about to update them.
    pub async fn told_nodes(&self) -> Result<Vec<NodeRow>, StoreError> {
        let (store, nodes) = (self.store(), Pages::of(NODES));
        nodes.values(|page| store.nodes(Some(self.run), page)).await
    }

    pub fn delivery(&self, lost: Option<OwnerName>) -> Delivery {
        Delivery {
            owner: self.kept.owner.clone(),
            lease: self.kept.lease,
            lost,
        }
    }

    /// Takes the run, and says whether it goes on, and from which checkpoint.
    pub async fn open(&self) -> Result<(RunStart, Option<CheckpointId>), KeepError> {
        let run = self.run;
        let row = match &self.kept.hold {
            Hold::Own { content, lost } => {
                let row = match self.store().run(run).await? {
                    Some(row) => row,
                    None => {
                        let new = NewRun {
                            root: None,
                            id: run,
                            alias: None,
                            content: content.clone(),
                        };
                        self.store().create_run(new).await?
                    }
                };
                check_unended(&row)?;
                self.store()
                    .own_run(run, self.delivery(lost.clone()))
                    .await?
            }
            Hold::Kept { .. } => self
                .store()
                .run(run)
                .await?
                .ok_or(KeepError::NoRun { run })?,
        };
        let epoch = match &self.kept.hold {
            Hold::Own { .. } => row.epoch,
            Hold::Kept { epoch } => *epoch,
        };
        let _first = self.epoch.set(epoch);
        self.was_forked(&row);
        let checkpoint = row.goes_on_from();
        check_unended(&row)?;
        if let Some(catalogue) = &self.catalogue {
            let catalogue = SharedCatalogue::clone(catalogue);
            let store = self.store();
            store.follow_catalogue(run, epoch, catalogue, None).await?;
        }
        self.works(&row).await?;
        // A fork is created with a journal, so its own state does not say it.
        let is_new = row.state == RunState::Created && row.forked_from.is_none();
        let standing = if is_new {
            RunStart::New
        } else {
            RunStart::GoesOn
        };
        Ok((standing, checkpoint))
    }

    /// Refuses to go on from a checkpoint that this program cannot read completely.
    pub async fn check(&self, checkpoint: CheckpointId) -> Result<(), KeepError> {
        if let Some(saved) = self.store().checkpoint(checkpoint).await? {
            RunSnapshot::of(&saved)?;
        }
        Ok(())
    }

    /// Marks the run as running.
    async fn works(&self, row: &RunRow) -> Result<(), KeepError> {
        let is_kept = matches!(self.kept.hold, Hold::Kept { .. });
        if row.state == RunState::Stopping && !is_kept {
            // Its previous owner died before the run had stopped; it has stopped now.
            self.become_state(RunState::Paused, row.reason.clone())
                .await?;
        }
        match self.become_state(RunState::Running, None).await {
            // Its owner has begun it, and a stop was requested since: its scope says so.
            Err(KeepError::Run(RunError::Illegal {
                from: RunState::Stopping,
                ..
            })) if is_kept => Ok(()),
            changed => changed,
        }
    }

    /// Takes the run without continuing it, and says where it is.
    pub async fn take(&self, lost: Option<OwnerName>) -> Result<Option<CheckpointId>, KeepError> {
        let (delivery, heartbeat) = (self.delivery(lost), Times::default().heartbeat);
        let row = own_run(self.store(), self.run, delivery, heartbeat).await?;
        let _first = self.epoch.set(row.epoch);
        self.was_forked(&row);
        Ok(row.goes_on_from())
    }

    /// Takes the run, switches it to an incompatible catalogue, and releases it.
    ///
    /// # Errors
    ///
    /// [`KeepError::OtherCatalogue`] if an open question cannot be answered with it; [`KeepError::Run`] if the run is owned.
    ///
    /// # Cancel safety
    ///
    /// Dropped, it was accepted or not; the run may be owned for some seconds.
    pub async fn accept_catalogue(
        &self,
        lost: Option<OwnerName>,
        catalogue: SharedCatalogue,
        by: Actor,
    ) -> Result<(), KeepError> {
        self.take(lost).await?;
        let (store, epoch) = (self.store(), self.epoch()?);
        let followed = store
            .follow_catalogue(self.run, epoch, catalogue, Some(by))
            .await;
        self.release().await?;
        followed?;
        Ok(())
    }

    pub async fn become_state(
        &self,
        state: RunState,
        reason: Option<String>,
    ) -> Result<(), KeepError> {
        self.store()
            .change_run(self.run, self.epoch()?, state, reason)
            .await?;
        Ok(())
    }

    /// Extends the lease, if the run owns itself.
    pub async fn renew(&self) -> Result<(), KeepError> {
        if let Hold::Own { .. } = self.kept.hold {
            let epoch = self.epoch()?;
            self.store()
                .renew_run(self.run, epoch, self.kept.lease)
                .await?;
        }
        Ok(())
    }

    /// Releases the run, if it owns itself.
    pub async fn release(&self) -> Result<(), KeepError> {
        if let Hold::Own { .. } = self.kept.hold {
            self.store().release_run(self.run, self.epoch()?).await?;
        }
        Ok(())
    }

    fn was_forked(&self, row: &RunRow) {
        if let Some(from) = row.forked_from {
            let _first = self.forked_from.set(from);
        }
    }

    pub fn is_fork(&self) -> bool {
        self.forked_from.get().is_some()
    }

    pub fn has_events(&self) -> bool {
        self.has_events.load(Ordering::Acquire)
    }

    pub fn event_came(&self) {
        self.has_events.store(true, Ordering::Release);
    }

    /// The key of something that happens at a place of the run.
    pub fn key(&self, place: &str) -> Result<IdempotencyKey, KeepError> {
        let plain = format!("{}/{place}", self.run);
        // A key has a maximum length, and the ids of nodes may be long.
        Ok(IdempotencyKey::new(plain).or_else(|_too_long| {
            IdempotencyKey::new(format!("{}/{}", self.run, Digest::of(place.as_bytes())))
        })?)
    }

    /// The id of the interrupt at a place: the same whenever the run comes there again, for it is made of
    /// what was recorded.
    pub fn interrupt_at(&self, place: &str, at: Timestamp) -> InterruptId {
        InterruptId::from_uuid(self.uuid_at(place, at))
    }

    /// The id of the question about the request of an interrupt, where no model could fill that in.
    pub(crate) fn request_of(&self, interrupt: InterruptId) -> InterruptId {
        self.interrupt_at(&format!("{interrupt}/request"), created_at(interrupt))
    }

    /// The id of the run that is forked off at a place.
    pub fn branch_at(&self, place: &str, at: Timestamp) -> RunId {
        RunId::from_uuid(self.uuid_at(place, at))
    }

    fn uuid_at(&self, place: &str, at: Timestamp) -> uuid::Uuid {
        let run = self.run.uuid();
        let digest = Digest::of_parts([run.as_bytes().as_slice(), place.as_bytes()]);
        let mut random = [0; 10];
        random.copy_from_slice(&digest.bytes()[..10]);
        let milliseconds = u64::try_from(at.as_millisecond()).unwrap_or(0);
        uuid::Builder::from_unix_timestamp_millis(milliseconds, &random).into_uuid()
    }
}

fn check_unended(row: &RunRow) -> Result<(), KeepError> {
    if row.state.is_final() {
        return Err(KeepError::Ended {
            run: row.id,
            state: row.state.to_string(),
        });
    }
    Ok(())
}

/// When an id was made, as it says itself.
fn created_at(interrupt: InterruptId) -> Timestamp {
    let seconds = interrupt
        .uuid()
        .get_timestamp()
        .map_or(0, |time| time.to_unix().0);
    i64::try_from(seconds)
        .ok()
        .and_then(|seconds| Timestamp::from_second(seconds).ok())
        .unwrap_or(Timestamp::UNIX_EPOCH)
}
