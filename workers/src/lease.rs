//! Taking, renewing and releasing runs.

use interrupt_router::RunId;
use interrupts::life::{Family, Lease, RunState};
use interrupts::store::{Delivery, FollowError, Run, RunError};
use interrupts::{Digest, Labels, NameError, OwnerName};
use jiff::SignedDuration;
use journal::needs_in;

use crate::error::WorkError;
use crate::owned::Owned;
use crate::protocol::Protocol;

/// How many digits of a try's name are kept: enough to tell apart the tries of one worker.
const TRY: usize = 12;

/// Who takes a run, and for how long.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Taking {
    /// The worker, and its try if that has a name.
    pub owner: OwnerName,
    /// How long its lease lasts unless it is renewed, by the store's clock.
    pub lease: SignedDuration,
    /// An owner that is known to be gone: its lease no longer counts.
    pub lost: Option<OwnerName>,
    /// Whether the name is that of one try: a request that is sent again because its answer was lost is the same try.
    pub names_try: bool,
    /// The worker's labels, for runs that need some.
    pub labels: Labels,
}

impl Taking {
    /// Whether this very try took the run before.
    pub(crate) fn has(&self, lease: &Lease) -> bool {
        self.names_try && lease.owner == self.owner
    }

    /// Whether the worker has all that a run needs.
    pub(crate) fn covers(&self, run: &Run) -> bool {
        self.labels.cover(&needs_in(&run.content))
    }
}

impl<'a> Protocol<'a> {
    /// Who takes a run, by a name that no other worker of the workflow has. `attempt` names the try: a request that is
    /// sent again because its answer was lost gets the run that it took.
    ///
    /// # Errors
    ///
    /// [`NameError`] if the names are too long together.
    pub fn taking(
        &self,
        worker: &str,
        attempt: Option<&str>,
        lease: SignedDuration,
    ) -> Result<Taking, NameError> {
        let mut owner = format!("{}/{worker}", self.workflow);
        if let Some(attempt) = attempt {
            let digits = Digest::of(attempt.as_bytes()).to_string();
            owner.extend(['#'].into_iter().chain(digits.chars().take(TRY)));
        }
        Ok(Taking {
            owner: OwnerName::new(owner)?,
            lease,
            lost: None,
            names_try: attempt.is_some(),
            labels: Labels::default(),
        })
    }

    /// The worker of the workflow behind this owner; `None` for a server, which owns a run only for a moment, while it
    /// applies something to it.
    pub fn worker_of<'o>(&self, owner: &'o OwnerName) -> Option<&'o str> {
        let name = owner.as_str().strip_prefix(self.workflow.as_str())?;
        let name = name.strip_prefix('/')?;
        Some(match name.rsplit_once('#') {
            Some((worker, attempt)) if is_try(attempt) => worker,
            Some(_) | None => name,
        })
    }

    /// Makes a worker the owner of a run, in a new epoch.
    ///
    /// # Errors
    ///
    /// [`WorkError::Owned`] while the lease of another try lasts, [`WorkError::Paused`], [`WorkError::Ended`];
    /// [`WorkError::Field`] if the worker lacks a label that the run needs.
    ///
    /// # Cancel safety
    ///
    /// Dropped, the run may be owned in an epoch that no worker knows: repeat the same try, or wait for the lease to
    /// run out.
    pub async fn take(&self, run: RunId, taking: &Taking) -> Result<Owned<'a>, WorkError> {
        let row = self.row(run).await?;
        check_goes_on(&row)?;
        if !taking.covers(&row) {
            let needs = needs_in(&row.content);
            let reason = format!("the run needs a worker with {needs}");
            return Err(WorkError::field("/labels", reason));
        }
        let owned = self.own(run, taking).await?;
        let taken = async {
            let owner = taking.owner.clone();
            let owned = Owned::new(*self, owner, self.taken(&owned).await?);
            self.first_works(&owned).await?;
            Ok(owned)
        };
        match taken.await {
            Ok(owned) => Ok(owned),
            Err(error) => {
                // What blocks this worker need not block the next one.
                self.store.release_run(run, owned.epoch).await?;
                Err(error)
            }
        }
    }

    async fn own(&self, run: RunId, taking: &Taking) -> Result<Run, WorkError> {
        let delivery = Delivery {
            owner: taking.owner.clone(),
            lease: taking.lease,
            lost: taking.lost.clone(),
        };
        match self.store.own_run(run, delivery).await {
            Ok(owned) => Ok(owned),
            Err(RunError::Owned { lease }) if taking.has(&lease) => self.row(run).await,
            // It ended since it was read.
            Err(RunError::Illegal { from, .. }) => Err(WorkError::Ended { run, state: from }),
            Err(error) => Err(error.into()),
        }
    }

    /// After a run is taken: it goes on under the newest version of its workflow that is compatible with what has
    /// begun, and works.
    async fn taken(&self, run: &Run) -> Result<Run, WorkError> {
        check_goes_on(run)?;
        let (newest, _version) = self.newest().await?;
        let epoch = run.epoch;
        let followed = match self
            .store
            .follow_catalogue(run.id, epoch, newest, None)
            .await
        {
            Ok(followed) => followed,
            // The newest version would change what has begun: the run ends under its own.
            Err(FollowError::Changed(_)) => run.clone(),
            Err(error) => return Err(error.into()),
        };
        // The last worker got a stop and died before it stopped: the stop is delivered again.
        if followed.state == RunState::Stopping && self.is_told_to_stop(run.id).await? {
            return Ok(followed);
        }
        if followed.state == RunState::Stopping {
            let paused = RunState::Paused;
            self.store.change_run(run.id, epoch, paused, None).await?;
        }
        let running = RunState::Running;
        Ok(self.store.change_run(run.id, epoch, running, None).await?)
    }

    /// The first agent of a run works as soon as the run does. An agent that has ended stays ended: its worker died
    /// while it ended the run.
    async fn first_works(&self, owned: &Owned<'_>) -> Result<(), WorkError> {
        let Some(root) = owned.run.root.clone() else {
            return Ok(());
        };
        match owned.works(&root.node, root.kind.as_str()).await {
            Ok(_) | Err(WorkError::AgentEnded { .. }) => Ok(()),
            Err(error) => Err(error),
        }
    }

    pub(crate) async fn is_told_to_stop(&self, run: RunId) -> Result<bool, WorkError> {
        let live = self.under_way(run).await?;
        Ok(live.iter().any(|it| it.family() == Family::Stop))
    }
}

fn is_try(text: &str) -> bool {
    text.len() == TRY && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn check_goes_on(run: &Run) -> Result<(), WorkError> {
    match run.state {
        RunState::Created | RunState::Running | RunState::Stopping | RunState::Waiting => Ok(()),
        RunState::Paused => Err(WorkError::Paused { run: run.id }),
        state @ (RunState::Completed | RunState::Failed | RunState::Cancelled) => {
            Err(WorkError::Ended { run: run.id, state })
        }
    }
}

impl Owned<'_> {
    /// Whether the run, or an agent of it, has a stop that is not applied yet.
    ///
    /// # Errors
    ///
    /// [`WorkError::Store`].
    ///
    /// # Cancel safety
    ///
    /// Safe: it only reads.
    pub async fn is_told_to_stop(&self) -> Result<bool, WorkError> {
        self.protocol.is_told_to_stop(self.run.id).await
    }

    /// Extends the lease; never shortens it.
    ///
    /// # Errors
    ///
    /// [`WorkError::LeaseLost`].
    ///
    /// # Cancel safety
    ///
    /// Safe to repeat.
    pub async fn renew(&self, lease: SignedDuration) -> Result<Run, WorkError> {
        let renewed = self.store().renew_run(self.run.id, self.epoch(), lease);
        Ok(renewed.await?)
    }

    /// Nothing of the run works any more: agents that stops cut off have ended, and the run is released. A server
    /// applies its stops before any worker takes it.
    ///
    /// # Errors
    ///
    /// [`WorkError::LeaseLost`]; [`WorkError`].
    ///
    /// # Cancel safety
    ///
    /// Safe to repeat, until the lease is over.
    pub async fn stopped(self) -> Result<Run, WorkError> {
        self.cut_off_all().await?;
        let is_at_work = matches!(self.run.state, RunState::Running | RunState::Waiting);
        if is_at_work && self.is_told_to_stop().await? {
            self.turn(RunState::Stopping, None).await?;
        }
        self.release(false).await
    }

    /// Releases the run, so that another worker may take it at once. A run that `waits` is taken again when one of its
    /// questions is over, or a stop or an event comes for it.
    ///
    /// # Errors
    ///
    /// [`WorkError::LeaseLost`], also if it was released before.
    ///
    /// # Cancel safety
    ///
    /// Dropped, it was released, or its lease runs out.
    pub async fn release(self, waits: bool) -> Result<Run, WorkError> {
        if waits {
            let reason = "it waits for an answer".to_owned();
            self.turn(RunState::Waiting, Some(reason)).await?;
        }
        Ok(self.store().release_run(self.run.id, self.epoch()).await?)
    }
}
