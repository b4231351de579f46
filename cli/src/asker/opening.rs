//! Finding the run of a session: the one that it left open, else a new one.

use std::time::Duration;

use interrupt_router::RunId;
use interrupts::Labels;
use interrupts::life::RunState;
use interrupts::store::Run;
use serde_json::{Value, json};
use tokio::time::Instant;
use workers::{ENDS_WITH_PROCESS, NewWork, Owned, Taking, WorkError};

use super::{Asker, LEASE};
use crate::run_owner::is_gone;

/// How long to wait for a run that another process owns: the previous client may just be ending.
const WHILE_IT_ENDS: Duration = Duration::from_secs(1);

/// How often to try again meanwhile.
const PACE: Duration = Duration::from_millis(25);

impl Asker {
    /// The run that this name left open, or a new one. If several clients use one name at once, each has its own run.
    pub(super) async fn begin(&self) -> Result<Owned<'_>, WorkError> {
        let mut number = 1_u64;
        loop {
            let created = self.created(number).await;
            number += 1;
            let run = match created {
                Ok(run) => run,
                // The name belongs to a run of another kind.
                Err(WorkError::Taken { .. }) => continue,
                Err(error) => return Err(error),
            };
            if run.state.is_final() {
                continue;
            }
            match self.take_soon(run.id).await {
                Ok(owned) => return Ok(owned),
                // Another client of this name is at work, or this one has just ended.
                Err(WorkError::Owned { .. } | WorkError::Ended { .. }) => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// The nth run of this name.
    async fn created(&self, number: u64) -> Result<Run, WorkError> {
        let workflow = self.store.protocol().workflow;
        let alias = match number {
            1 => format!("{workflow}/{}", self.name),
            _ => format!("{workflow}/{}#{number}", self.name),
        };
        let title = format!("questions of {}", self.name);
        let input = if self.ends_with_process {
            json!({"goal": title, ENDS_WITH_PROCESS: true})
        } else {
            Value::from(title)
        };
        let new = NewWork {
            needs: Labels::default(),
            id: RunId::generate(),
            alias: Some(alias),
            input,
        };
        let (work, _is_new) = self.store.protocol().create(new).await?;
        Ok(work.run)
    }

    async fn take_soon(&self, run: RunId) -> Result<Owned<'_>, WorkError> {
        let begun = Instant::now();
        loop {
            match self.take(run).await {
                Err(WorkError::Owned { .. }) if begun.elapsed() < WHILE_IT_ENDS => {
                    tokio::time::sleep(PACE).await;
                }
                taken => return taken,
            }
        }
    }

    /// Takes a run, and first carries out a stop that was requested while no process owned it.
    pub(super) async fn take(&self, run: RunId) -> Result<Owned<'_>, WorkError> {
        let owned = self.take_now(run).await?;
        if owned.is_told_to_stop().await? {
            self.stop(owned).await?;
            // The run now says what the stop has made of it.
            return self.take_now(run).await;
        }
        Ok(owned)
    }

    async fn take_now(&self, run: RunId) -> Result<Owned<'_>, WorkError> {
        let protocol = self.store.protocol();
        let mut row = protocol.work(run).await?.run;
        if row.state == RunState::Paused && self.was_let_go(run).await? {
            self.lift(&row).await?;
            row = protocol.work(run).await?.run;
        }
        let owner = row.lease.map(|lease| lease.owner);
        let is_lost = |owner: &_| *owner == self.store.owner || is_gone(owner);
        let taking = Taking {
            labels: Labels::default(),
            owner: self.store.owner.clone(),
            lease: LEASE,
            lost: owner.filter(is_lost),
            names_try: false,
        };
        protocol.take(run, &taking).await
    }
}
