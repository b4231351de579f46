//! Runs: their states and their owners.

use interrupts::life::{Lease, RunState};
use interrupts::store::{AuditSubject, Delivery, NewRun, Notification, Run, RunError};
use jiff::SignedDuration;
use routing_core::RunId;

use super::{Halt, Operation};
use crate::tables::{Failed, RunRow, Tables};

/// Creates a run.
pub(crate) struct CreateRun {
    pub(crate) new: NewRun,
}

impl Operation for CreateRun {
    type Output = Run;
    type Error = RunError;

    fn want(&self, tables: &mut Tables) {
        tables.heads.want(&());
        tables.runs.want(&self.new.id);
        if let Some(alias) = &self.new.alias {
            tables.aliases.want(alias);
        }
    }

    fn run(&self, tables: &mut Tables) -> Result<Run, Halt<RunError>> {
        let NewRun { id, alias, content } = &self.new;
        if let Some(row) = tables.runs.get(id)? {
            return if row.run.alias == *alias && row.run.content == *content {
                Ok(row.run.clone())
            } else {
                Err(Halt::Refused(RunError::Taken { run: *id }))
            };
        }
        if let Some(alias) = alias {
            if let Some(run) = tables.aliases.get(alias)? {
                return Err(Halt::Refused(RunError::Taken { run: *run }));
            }
            tables.aliases.put(alias.clone(), *id);
        }
        let mut heads = tables.heads()?;
        heads.runs += 1;
        let row = RunRow {
            position: heads.runs,
            run: Run::created(self.new.clone(), tables.now),
        };
        tables.heads.put((), heads);
        Ok(write(row, "create", tables)?)
    }
}

/// What is done to a run.
pub(crate) enum RunChange {
    Own(Delivery),
    Renew {
        epoch: u64,
        lease: SignedDuration,
    },
    Release {
        epoch: u64,
    },
    Become {
        epoch: u64,
        state: RunState,
        reason: Option<String>,
    },
}

/// Changes a run.
pub(crate) struct ChangeRun {
    pub(crate) id: RunId,
    pub(crate) change: RunChange,
}

impl Operation for ChangeRun {
    type Output = Run;
    type Error = RunError;

    fn want(&self, tables: &mut Tables) {
        tables.heads.want(&());
        tables.runs.want(&self.id);
    }

    fn run(&self, tables: &mut Tables) -> Result<Run, Halt<RunError>> {
        let Some(row) = tables.runs.get(&self.id)?.cloned() else {
            return Err(Halt::Refused(RunError::Unknown { run: self.id }));
        };
        match &self.change {
            RunChange::Own(delivery) => own(row, delivery, tables),
            RunChange::Renew { epoch, lease } => renew(row, *epoch, *lease, tables),
            RunChange::Release { epoch } => {
                check_epoch(&row.run, *epoch)?;
                if row.run.lease.is_none() {
                    return Ok(row.run);
                }
                let mut row = row;
                row.run.lease = None;
                Ok(write(row, "release", tables)?)
            }
            RunChange::Become {
                epoch,
                state,
                reason,
            } => become_state(row, *epoch, *state, reason.as_ref(), tables),
        }
    }
}

fn own(mut row: RunRow, delivery: &Delivery, tables: &mut Tables) -> Result<Run, Halt<RunError>> {
    if row.run.state.is_final() {
        return Err(Halt::Refused(RunError::Illegal {
            from: row.run.state,
            to: RunState::Running,
        }));
    }
    if let Some(lease) = &row.run.lease
        && lease.until > tables.now
        && delivery.lost.as_ref() != Some(&lease.owner)
    {
        let lease = lease.clone();
        return Err(Halt::Refused(RunError::Owned { lease }));
    }
    row.run.epoch += 1;
    row.run.lease = Some(Lease {
        owner: delivery.owner.clone(),
        until: tables.after(delivery.lease),
    });
    Ok(write(row, "own", tables)?)
}

/// A renewed lease is no history: it leaves no audit row.
fn renew(
    mut row: RunRow,
    epoch: u64,
    span: SignedDuration,
    tables: &mut Tables,
) -> Result<Run, Halt<RunError>> {
    check_epoch(&row.run, epoch)?;
    let until = tables.after(span);
    if let Some(lease) = &mut row.run.lease {
        lease.until = lease.until.max(until);
        tables.runs.put(row.run.id, row.clone());
    }
    Ok(row.run)
}

fn become_state(
    mut row: RunRow,
    epoch: u64,
    state: RunState,
    reason: Option<&String>,
    tables: &mut Tables,
) -> Result<Run, Halt<RunError>> {
    check_epoch(&row.run, epoch)?;
    if row.run.state == state {
        return Ok(row.run);
    }
    if !row.run.state.may_become(state) {
        return Err(Halt::Refused(RunError::Illegal {
            from: row.run.state,
            to: state,
        }));
    }
    row.run.state = state;
    row.run.reason = reason.cloned();
    if state.is_final() {
        row.run.lease = None;
    }
    tables.tell(Notification::Run {
        run: row.run.id,
        state,
        version: row.run.version + 1,
    })?;
    Ok(write(row, "change", tables)?)
}

fn check_epoch(run: &Run, given: u64) -> Result<(), Halt<RunError>> {
    if given == run.epoch {
        Ok(())
    } else {
        Err(Halt::Refused(RunError::Fenced {
            given,
            current: run.epoch,
        }))
    }
}

fn write(mut row: RunRow, event: &str, tables: &mut Tables) -> Result<Run, Failed> {
    if event != "create" {
        row.run.version += 1;
    }
    tables.audit(AuditSubject::Run {
        run: row.run.id,
        event: event.to_owned(),
        state: row.run.state,
        epoch: row.run.epoch,
        reason: row.run.reason.clone(),
    })?;
    let run = row.run.clone();
    tables.runs.put(run.id, row);
    Ok(run)
}
