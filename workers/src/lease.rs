//! Taking runs, keeping them, and letting them go.

use interrupts::life::{Family, RunState};
use interrupts::store::{Delivery, Page, Run, RunError};
use interrupts::{NameError, OwnerName};
use jiff::{SignedDuration, Timestamp};
use routing_core::RunId;

use crate::error::WorkError;
use crate::owned::Owned;
use crate::protocol::Protocol;

/// How many runs are read together.
const PAGE: u32 = 200;

/// Who takes a run, and for how long.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Taking {
    /// The worker, by a name that no other one has.
    pub worker: OwnerName,
    /// How long its lease holds unless it is renewed, by the store's clock.
    pub lease: SignedDuration,
    /// A worker that is known to be gone: its lease does not hold any more.
    pub lost: Option<OwnerName>,
}

impl<'a> Protocol<'a> {
    /// Who takes a run: each worker has its name within its workflow, so none is taken for a process of this machine.
    ///
    /// # Errors
    ///
    /// [`NameError`] where the two names are too long together.
    pub fn taking(&self, worker: &str, lease: SignedDuration) -> Result<Taking, NameError> {
        let worker = OwnerName::new(format!("{}/{worker}", self.workflow))?;
        Ok(Taking {
            lease,
            // One that takes its run again has lost the answer of the first time, and what it had then with it.
            lost: Some(worker.clone()),
            worker,
        })
    }

    /// Whether a worker of the workflow has a run that is owned so: a server has one for a moment at most, while it lets
    /// something take hold.
    pub fn is_worker(&self, owner: &OwnerName) -> bool {
        let rest = owner.as_str().strip_prefix(self.workflow.as_str());
        rest.is_some_and(|rest| rest.starts_with('/'))
    }

    /// Makes a worker the owner of a run, in a new epoch.
    ///
    /// # Errors
    ///
    /// [`WorkError::Owned`] while another worker's lease holds, [`WorkError::Paused`], [`WorkError::Ended`];
    /// [`WorkError::Changed`] where the workflow was changed so that the run cannot go on.
    ///
    /// # Cancel safety
    ///
    /// Dropped, it may be owned in an epoch that is known to no worker; the lease runs out.
    pub async fn take(&self, run: RunId, taking: &Taking) -> Result<Owned<'a>, WorkError> {
        let row = self.row(run).await?;
        check_goes_on(&row)?;
        let delivery = Delivery {
            owner: taking.worker.clone(),
            lease: taking.lease,
            lost: taking.lost.clone(),
        };
        let owned = match self.store.own_run(run, delivery).await {
            Ok(owned) => owned,
            // It ended since it was read.
            Err(RunError::Illegal { from, .. }) => {
                return Err(WorkError::Ended { run, state: from });
            }
            Err(error) => return Err(error.into()),
        };
        let worker = taking.worker.clone();
        let taken = async {
            let owned = Owned::new(*self, worker, self.taken(&owned).await?);
            self.first_works(&owned).await?;
            Ok(owned)
        };
        match taken.await {
            Ok(owned) => Ok(owned),
            Err(error) => {
                // Whatever hinders this worker hinders no other one.
                self.store.release_run(run, owned.epoch).await?;
                Err(error)
            }
        }
    }

    /// What follows once a run is taken: it goes on under the newest version of its workflow, and works.
    async fn taken(&self, run: &Run) -> Result<Run, WorkError> {
        check_goes_on(run)?;
        let (newest, _version) = self.newest().await?;
        let epoch = run.epoch;
        let followed = self.store.follow_catalogue(run.id, epoch, newest).await?;
        // The last worker was told to stop and died before it had: the stop is told again.
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

    /// The first agent of a run works as soon as the run does. One that has ended stays so: its worker died while it
    /// ended the run.
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

    /// Takes the oldest run that can go on and no worker has; `None` where there is none.
    ///
    /// # Errors
    ///
    /// [`WorkError`].
    ///
    /// # Cancel safety
    ///
    /// As [`Protocol::take`].
    pub async fn take_next(
        &self,
        taking: &Taking,
        now: Timestamp,
    ) -> Result<Option<Owned<'a>>, WorkError> {
        let states = [RunState::Created, RunState::Running, RunState::Waiting];
        let mut after = 0;
        loop {
            let page = Page { after, limit: PAGE };
            let runs = self.store.runs(&states, page).await?;
            let Some((last, _run)) = runs.last() else {
                return Ok(None);
            };
            after = *last;
            for (_position, run) in runs {
                if !self.can_go_on(&run, now).await? {
                    continue;
                }
                match self.take(run.id, taking).await {
                    Ok(owned) => return Ok(Some(owned)),
                    // Another worker was faster, or a person stopped it.
                    Err(
                        WorkError::Owned { .. }
                        | WorkError::Paused { .. }
                        | WorkError::Ended { .. },
                    ) => {}
                    Err(error) => return Err(error),
                }
            }
        }
    }
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
    /// Whether the run, or an agent of it, was told to stop and has not.
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

    /// Makes the lease hold longer, never shorter.
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

    /// Lets the run go, so that another worker may take it at once. One that `waits` is taken again once none of its
    /// questions is open.
    ///
    /// # Errors
    ///
    /// [`WorkError::LeaseLost`].
    ///
    /// # Cancel safety
    ///
    /// Safe to repeat.
    pub async fn release(self, waits: bool) -> Result<Run, WorkError> {
        let (run, epoch) = (self.run.id, self.epoch());
        if waits {
            let reason = Some("it waits for an answer".to_owned());
            let waiting = RunState::Waiting;
            self.store().change_run(run, epoch, waiting, reason).await?;
        }
        Ok(self.store().release_run(run, epoch).await?)
    }
}
