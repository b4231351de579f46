//! Runs: their states and their owners.

use interrupt_router::reroute::{CancelCause, RerouteChange};
use interrupt_router::{InterruptId, RunId};
use interrupts::life::{Interrupt, Lease, RunState, State};
use interrupts::store::{AuditSubject, Delivery, NewRun, Notification, Run, RunError, RunHold};
use jiff::SignedDuration;

use super::change::end_with_run;
use super::undelivered::{self, Ended};
use super::{Halt, Operation, node};
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
        if let Some(root) = &self.new.root {
            tables.nodes.want(&(self.new.id, root.node.clone()));
        }
        if let Some(alias) = &self.new.alias {
            tables.aliases.want(alias);
        }
    }

    fn run(&self, tables: &mut Tables) -> Result<Run, Halt<RunError>> {
        let NewRun {
            id,
            alias,
            content,
            root,
        } = &self.new;
        if let Some(row) = tables.runs.get(id)? {
            let same = row.run.alias == *alias
                && row.run.content == *content
                && row.run.forked_from.is_none();
            return if same {
                Ok(row.run.clone())
            } else {
                Err(Halt::Refused(RunError::Taken { run: *id }))
            };
        }
        alias_of(&self.new, tables)?;
        let run = Run::created(self.new.clone(), tables.now);
        audit(&run, "create", tables)?;
        if let Some(root) = root {
            node::begin(*id, root.clone(), tables)?;
        }
        Ok(place(run, tables)?)
    }
}

/// Gives a new run its alias.
pub(super) fn alias_of(new: &NewRun, tables: &mut Tables) -> Result<(), Halt<RunError>> {
    if let Some(alias) = &new.alias {
        if let Some(run) = tables.aliases.get(alias)? {
            return Err(Halt::Refused(RunError::Taken { run: *run }));
        }
        tables.aliases.put(alias.clone(), new.id);
    }
    Ok(())
}

/// Writes a new run, after all others, and tells of it.
pub(super) fn place(run: Run, tables: &mut Tables) -> Result<Run, Failed> {
    tables.tell(Notification::Run {
        run: run.id,
        state: run.state,
        version: run.version,
        reason: None,
        open: Vec::new(),
    })?;
    let mut heads = tables.heads()?;
    heads.runs += 1;
    let row = RunRow {
        position: heads.runs,
        run: run.clone(),
    };
    tables.heads.put((), heads);
    tables.runs.put(run.id, row);
    Ok(run)
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
        if let RunChange::Become { state, .. } = self.change {
            if state.is_final() {
                tables.pending.want(&self.id);
                undelivered::want(self.id, tables);
            }
            if rests(state) {
                tables.live.want(&self.id);
            }
        }
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
            } => {
                check_epoch(&row.run, *epoch)?;
                if row.run.state == *state {
                    return Ok(row.run);
                }
                if !row.run.state.may_become(*state) {
                    return Err(Halt::Refused(RunError::Illegal {
                        from: row.run.state,
                        to: *state,
                    }));
                }
                let next = (*state, reason.clone());
                if state.is_final() {
                    return Ok(end(row, next, tables)?);
                }
                let open = match rests(*state) {
                    true => open_among(&tables.live_interrupts(self.id)?),
                    false => Vec::new(),
                };
                Ok(enter(row, next, open, tables)?)
            }
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
    let holds = &mut row.run.holds;
    holds.push(RunHold {
        epoch: row.run.epoch,
        renewals: 0,
    });
    let old = holds.len().saturating_sub(RunHold::MOST);
    holds.drain(..old);
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
        if let Some(hold) = row.run.holds.last_mut() {
            hold.renewals = hold.renewals.saturating_add(1);
        }
        tables.runs.put(row.run.id, row.clone());
    }
    Ok(row.run)
}

/// Whether no agent of a run works in this state.
const fn rests(state: RunState) -> bool {
    state.is_final() || matches!(state, RunState::Paused | RunState::Waiting)
}

/// Those among these that wait for a person: what can be decided now goes first.
pub(super) fn open_among<'a>(these: impl IntoIterator<Item = &'a Interrupt>) -> Vec<InterruptId> {
    let open = these
        .into_iter()
        .filter(|it| it.state == State::AwaitingReview);
    let (mut open, held): (Vec<_>, Vec<_>) = open.partition(|it| it.held_by.is_none());
    open.extend(held);
    open.into_iter().map(|it| it.id).collect()
}

/// Writes a run in its new state, and says so, with what is open if it pauses or waits.
pub(super) fn enter(
    row: RunRow,
    next: (RunState, Option<String>),
    open: Vec<InterruptId>,
    tables: &mut Tables,
) -> Result<Run, Failed> {
    let run = put_in(row, next, tables)?;
    tell_of(&run, open, tables)?;
    Ok(run)
}

/// Ends a run, and with it its interrupts and reroutes. The notice of its end comes last: a follower has had all others
/// by then.
fn end(row: RunRow, next: (RunState, Option<String>), tables: &mut Tables) -> Result<Run, Failed> {
    let run = put_in(row, next, tables)?;
    for interrupt in tables.live_interrupts(run.id)? {
        end_with_run(&interrupt, tables)?;
    }
    // These would wait for ever. One that an interrupt was bound to has ended with that.
    for reroute in tables.pending_reroutes(run.id)? {
        let cause = CancelCause::NodeEnded;
        tables.change_reroute(&reroute.event, RerouteChange::Cancel(cause))?;
    }
    undelivered::leave(run.id, &Ended::Run, tables)?;
    tell_of(&run, Vec::new(), tables)?;
    Ok(run)
}

fn put_in(
    mut row: RunRow,
    (state, reason): (RunState, Option<String>),
    tables: &mut Tables,
) -> Result<Run, Failed> {
    row.run.state = state;
    row.run.reason = reason;
    if state.is_final() {
        row.run.ended_at = Some(tables.now);
        row.run.lease = None;
    }
    write(row, "change", tables)
}

fn tell_of(run: &Run, open: Vec<InterruptId>, tables: &mut Tables) -> Result<(), Failed> {
    Ok(tables.tell(Notification::Run {
        run: run.id,
        state: run.state,
        version: run.version,
        reason: run.reason.clone(),
        open,
    })?)
}

pub(super) fn check_epoch(run: &Run, given: u64) -> Result<(), Halt<RunError>> {
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
    row.run.version += 1;
    audit(&row.run, event, tables)?;
    let run = row.run.clone();
    tables.runs.put(run.id, row);
    Ok(run)
}

pub(super) fn audit(run: &Run, event: &str, tables: &mut Tables) -> Result<(), Failed> {
    tables.audit(AuditSubject::Run {
        run: run.id,
        event: event.to_owned(),
        state: run.state,
        epoch: run.epoch,
        reason: run.reason.clone(),
    })
}
